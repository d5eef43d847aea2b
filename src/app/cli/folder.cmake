# CLI11 reports wrong arguments by an exception, which ends in main(). Only these sources include it, and may unwind.
set(unwinding_sources ${CMAKE_CURRENT_LIST_DIR}/main.cpp ${CMAKE_CURRENT_LIST_DIR}/command_line.cpp
                      ${CMAKE_CURRENT_LIST_DIR}/run_options.cpp ${CMAKE_CURRENT_LIST_DIR}/debug_options.cpp
                      ${CMAKE_CURRENT_LIST_DIR}/mcp_options.cpp ${CMAKE_CURRENT_LIST_DIR}/compile_options.cpp)
file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
list(REMOVE_ITEM cli_sources ${unwinding_sources})

add_library(wg_cli STATIC ${cli_sources})
target_compile_definitions(wg_cli PUBLIC WARPGRIND_VERSION="${PROJECT_VERSION}")
target_compile_options(wg_cli PRIVATE -fno-exceptions)
target_link_libraries(wg_cli PUBLIC warpgrind_flags wg_debug wg_serve wg_mcp wg_exercises wg_sandbox wg_session wg_lab wg_correlate wg_report wg_advice wg_results wg_device wg_jit wg_toolchain wg_fatbin
                                    wg_ptx wg_gpu wg_base)

add_executable(warpgrind ${unwinding_sources})
target_link_libraries(warpgrind PRIVATE wg_cli CLI11::CLI11)
