target_link_libraries(wg_dap PUBLIC wg_base nlohmann_json::nlohmann_json)
