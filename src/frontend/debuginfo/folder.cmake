target_link_libraries(wg_debuginfo PUBLIC wg_ptx wg_gpu wg_base)
