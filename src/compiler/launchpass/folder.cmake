# lib/warpgrind/launch_pass.so (build/lib/launch_pass.so): a pass that clang loads for launches in device code. Its LLVM is
# clang's own, so nothing is linked; built without sanitizers, which clang knows nothing of.
add_library(launch_pass MODULE compiler/launchpass/launch_pass.cpp compiler/launchpass/vector_copies.cpp
            compiler/launchpass/run_time_variables.cpp compiler/launchpass/inlined_places.cpp)
set_target_properties(launch_pass PROPERTIES PREFIX "")
target_include_directories(launch_pass PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/compiler)
target_include_directories(launch_pass SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_compile_options(launch_pass PRIVATE -Wall -Wextra -Werror -fvisibility=hidden -fno-exceptions -fno-rtti)
install(TARGETS launch_pass DESTINATION lib/warpgrind)
