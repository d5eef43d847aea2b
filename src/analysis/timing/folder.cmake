target_link_libraries(wg_timing PUBLIC wg_sass wg_events wg_gpu wg_base)

# `make accuracy`: scores for docs/accuracy.md, and timing/intervals.inc, from stored measurements.
add_executable(warpgrind-accuracy
  ${CMAKE_CURRENT_SOURCE_DIR}/analysis/timing/tools/accuracy.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/analysis/timing/tools/accuracy_report.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/analysis/timing/tools/score.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/analysis/timing/tools/stored_rows.cpp)
target_link_libraries(warpgrind-accuracy PRIVATE wg_timing)
