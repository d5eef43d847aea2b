target_link_libraries(wg_advice PUBLIC wg_results wg_timing wg_gpu wg_base)

# docs/rules.md comes from the table: build/bin/warpgrind-advice-docs > docs/rules.md
add_executable(warpgrind-advice-docs ${CMAKE_CURRENT_SOURCE_DIR}/analysis/advice/tools/docs.cpp)
target_link_libraries(warpgrind-advice-docs PRIVATE wg_advice)
