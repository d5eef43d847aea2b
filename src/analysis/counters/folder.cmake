target_link_libraries(wg_counters PUBLIC wg_sass wg_events wg_gpu wg_base)

# docs/counters.md comes from the table: build/bin/warpgrind-docs counters > docs/counters.md
add_executable(warpgrind-docs ${CMAKE_CURRENT_SOURCE_DIR}/analysis/counters/tools/docs.cpp)
target_link_libraries(warpgrind-docs PRIVATE wg_counters)
