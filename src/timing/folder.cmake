target_link_libraries(wg_timing PUBLIC wg_events wg_gpu wg_base)
