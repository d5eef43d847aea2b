target_link_libraries(wg_counters PUBLIC wg_events wg_gpu wg_base)
