target_link_libraries(wg_report PUBLIC wg_advice wg_results wg_counters wg_gpu wg_base PRIVATE nlohmann_json::nlohmann_json)
