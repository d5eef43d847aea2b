target_link_libraries(wg_machine PUBLIC wg_flow wg_events wg_ptx wg_gpu wg_base)
