target_link_libraries(wg_flow PUBLIC wg_ptx wg_gpu wg_base)
