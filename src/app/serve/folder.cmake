pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
target_link_libraries(wg_serve PUBLIC wg_sandbox wg_gpu wg_base PRIVATE PkgConfig::HTTPLIB PkgConfig::SQLITE PkgConfig::HIREDIS nlohmann_json::nlohmann_json)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/page.cpp PROPERTIES
                            OBJECT_DEPENDS "${playground_files}" COMPILE_DEFINITIONS WARPGRIND_PLAYGROUND="${playground_page}")
