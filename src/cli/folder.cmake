file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
add_executable(warpgrind ${cli_sources})
target_compile_definitions(warpgrind PRIVATE WARPGRIND_VERSION="${PROJECT_VERSION}")
target_link_libraries(warpgrind PRIVATE warpgrind_flags CLI11::CLI11 wg_serve wg_exercises wg_sandbox wg_session wg_lab wg_correlate wg_report wg_advice wg_results wg_device wg_jit wg_toolchain wg_fatbin
                                        wg_ptx wg_gpu wg_base)
# CLI11 says by an exception what is wrong with the arguments; it ends in main(). command_line.cpp includes it, too.
list(FILTER cli_sources EXCLUDE REGEX "/(main|command_line).cpp$")
set_source_files_properties(${cli_sources} PROPERTIES COMPILE_OPTIONS -fno-exceptions)
