target_link_libraries(wg_debugger PUBLIC wg_dap wg_debuginfo wg_device wg_jit wg_events wg_flow wg_ptx wg_gpu wg_base)
