target_link_libraries(wg_report PUBLIC wg_advice wg_results wg_counters wg_gpu wg_base PRIVATE nlohmann_json::nlohmann_json)
target_include_directories(wg_report PRIVATE ${CMAKE_SOURCE_DIR}/include)  # the table of CUDA errors

# The page of the HTML report: web/ bundled by esbuild, at build time, into one file that html.cpp takes in.
option(WARPGRIND_REPORT_PAGE "bundle the page of the HTML report (needs node and npm)" ON)
find_program(WARPGRIND_NODE node)
find_program(WARPGRIND_NPM npm)
set(report_page ${CMAKE_BINARY_DIR}/web/page.html)
set(playground_page ${CMAKE_BINARY_DIR}/web/playground)  # of `warpgrind serve`
# What web/build.mjs makes of it: each file, and the same compressed.
function(playground_files_of page out)
  set(files)
  foreach(end .js -echarts.js .css -licences.txt)
    list(APPEND files ${page}${end} ${page}${end}.gz)
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()
playground_files_of(${playground_page} playground_files)
if(WARPGRIND_REPORT_PAGE AND WARPGRIND_NODE AND WARPGRIND_NPM)
  file(GLOB_RECURSE report_page_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/*.ts ${CMAKE_SOURCE_DIR}/web/src/*.css)
  add_custom_command(
    OUTPUT ${report_page} ${playground_files}
    COMMAND ${CMAKE_COMMAND} -DWEB=${CMAKE_SOURCE_DIR}/web -DWORK=${CMAKE_BINARY_DIR}/web -DOUT=${report_page} -DPLAYGROUND=${playground_page}
            "-DFILES=${playground_files}" -DNPM=${WARPGRIND_NPM} -DNODE=${WARPGRIND_NODE} -P ${CMAKE_SOURCE_DIR}/cmake/ReportPage.cmake
    DEPENDS ${report_page_sources} ${CMAKE_SOURCE_DIR}/web/build.mjs ${CMAKE_SOURCE_DIR}/web/package-lock.json
            ${CMAKE_SOURCE_DIR}/cmake/ReportPage.cmake
    COMMENT "page of the HTML report" VERBATIM)
else()
  message(STATUS "no node and npm: `warpgrind run --report` will not be there")
  set(report_page ${CMAKE_BINARY_DIR}/web/no_page.html)  # a name of its own: the page is made once node is there
  set(playground_page ${CMAKE_BINARY_DIR}/web/no_playground)
  playground_files_of(${playground_page} playground_files)
  foreach(file ${report_page} ${playground_files})
    file(WRITE ${file} "")
  endforeach()
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/analysis/report/html.cpp PROPERTIES
                            OBJECT_DEPENDS ${report_page} COMPILE_DEFINITIONS WARPGRIND_PAGE="${report_page}")
