target_link_libraries(wg_debug PUBLIC wg_hostdebug wg_dap wg_base nlohmann_json::nlohmann_json)
