# take_turns(TEST...): CI does not run every test in every step of every run (.ci/run). A test's name without the compiler's gives it a
# label: turn_0 or turn_1, for the tests of tests/long.txt long_0 to long_3. A CI run executes the tests of one turn with the toolkit and
# under ThreadSanitizer, those of the other without the toolkit and under AddressSanitizer; of the long ones, a quarter in each of these
# steps. A commit's hash says which.
set(long_tests_file ${CMAKE_CURRENT_LIST_DIR}/long.txt)
set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${long_tests_file})

# All tests of the folder so far. Only after their other labels are set.
macro(folder_takes_turns)
  get_property(tests DIRECTORY PROPERTY TESTS)
  take_turns(${tests})
endmacro()

function(take_turns)
  file(STRINGS ${long_tests_file} long_tests REGEX "^[^#]")
  foreach(test ${ARGN})
    string(REGEX REPLACE "[.](nvcc|clang)$" "" name ${test})
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 1 digit)
    if(name IN_LIST long_tests)
      math(EXPR quarter "0x${digit} % 4")
      set_property(TEST ${test} APPEND PROPERTY LABELS long_${quarter})
    else()
      math(EXPR turn "0x${digit} % 2")
      set_property(TEST ${test} APPEND PROPERTY LABELS turn_${turn})
    endif()
  endforeach()
endfunction()
