target_link_libraries(wg_mcp PUBLIC wg_exercises wg_report wg_advice wg_results wg_counters wg_sandbox wg_gpu wg_base nlohmann_json::nlohmann_json)
