target_link_libraries(wg_correlate PUBLIC wg_results wg_gpu wg_base PRIVATE nlohmann_json::nlohmann_json)
