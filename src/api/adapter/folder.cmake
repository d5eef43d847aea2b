target_link_libraries(wg_adapter PUBLIC wg_debugger wg_dap wg_device wg_base)
