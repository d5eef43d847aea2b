pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
find_path(WARPGRIND_BEAST_INCLUDE boost/beast/http.hpp REQUIRED)  # libboost-dev: headers alone
target_link_libraries(wg_serve PUBLIC wg_sandbox wg_gpu wg_base PRIVATE PkgConfig::SQLITE PkgConfig::HIREDIS nlohmann_json::nlohmann_json)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/page.cpp PROPERTIES
                            OBJECT_DEPENDS "${playground_files}" COMPILE_DEFINITIONS WARPGRIND_PLAYGROUND="${playground_page}")
# Boost.Beast's headers take 3 s to compile and define many names.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/http_server.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
