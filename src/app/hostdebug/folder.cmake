target_link_libraries(wg_hostdebug PUBLIC wg_dap wg_base nlohmann_json::nlohmann_json)
