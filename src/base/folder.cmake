# LLVM's digest.
target_include_directories(wg_base SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_link_libraries(wg_base PRIVATE LLVM-19)
