target_link_libraries(wg_ptx PUBLIC wg_base)
