target_link_libraries(wg_device PUBLIC wg_jit wg_sass wg_events wg_flow wg_ptx wg_gpu wg_base)
# Machine code knows places of classes of execution/ by their offsets.
target_compile_options(wg_device PRIVATE -Wno-invalid-offsetof)
add_dependencies(wg_device warpgrind_jit)  # opened when it is needed
