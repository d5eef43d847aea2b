target_link_libraries(wg_debug PUBLIC wg_hostdebug wg_dap wg_base nlohmann_json::nlohmann_json)
# Editing of command lines; without it the terminal's own must do.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBEDIT IMPORTED_TARGET libedit)
if(LIBEDIT_FOUND)
  target_link_libraries(wg_debug PRIVATE PkgConfig::LIBEDIT)
  target_compile_definitions(wg_debug PRIVATE WARPGRIND_LIBEDIT)
endif()
