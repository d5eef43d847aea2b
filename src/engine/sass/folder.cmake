target_link_libraries(wg_sass PUBLIC wg_flow wg_events wg_ptx wg_gpu wg_base)
