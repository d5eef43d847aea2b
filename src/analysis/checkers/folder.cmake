target_link_libraries(wg_checkers PUBLIC wg_results wg_events wg_jit wg_flow wg_ptx wg_gpu wg_base)
