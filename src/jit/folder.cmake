target_include_directories(wg_jit SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
target_compile_options(wg_jit PRIVATE -fno-rtti)
target_link_libraries(wg_jit PUBLIC wg_flow wg_ptx wg_gpu wg_base PRIVATE LLVM-19)
