target_link_libraries(wg_report PUBLIC wg_results wg_gpu wg_base)
