target_link_libraries(wg_observers PUBLIC wg_results wg_events wg_ptx wg_gpu wg_base)
