# take_turns(TEST...): labels each turn_0 or turn_1, by its name without the compiler's. A CI run (.ci/run) runs those
# of one label with the toolkit and under ThreadSanitizer, those of the other without the toolkit and under AddressSanitizer: at most
# twice, not four times. A test that belongs to one step runs every second time. A commit's hash says which is which.
function(take_turns)
  foreach(test ${ARGN})
    string(REGEX REPLACE "[.](nvcc|clang)$" "" name ${test})
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 1 digit)
    math(EXPR turn "0x${digit} % 2")
    set_property(TEST ${test} APPEND PROPERTY LABELS turn_${turn})
  endforeach()
endfunction()
