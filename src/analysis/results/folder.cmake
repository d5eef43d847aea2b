target_link_libraries(wg_results PUBLIC wg_counters wg_timing wg_events wg_gpu wg_base PRIVATE nlohmann_json::nlohmann_json)
