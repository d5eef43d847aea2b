# The JIT's library exports none of its classes: the test has the verifier itself.
target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/engine/codegen/kernel/verifier.cpp)
target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_compile_options(${target} PRIVATE -fno-rtti)
target_link_libraries(${target} PRIVATE LLVM-19)
