target_link_libraries(wg_device PUBLIC wg_jit wg_machine wg_events wg_flow wg_ptx wg_gpu wg_base)
target_compile_options(wg_device PRIVATE -mpopcnt)
add_dependencies(wg_device warpgrind_jit)  # opened when it is needed
