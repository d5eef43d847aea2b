# Static: in the box there is the system and nothing of this build.
add_executable(hostile sandbox/hostile.cpp)
target_compile_features(hostile PRIVATE cxx_std_20)
target_link_options(hostile PRIVATE -static)
set_target_properties(hostile PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/sandbox)
add_dependencies(${target} hostile)
