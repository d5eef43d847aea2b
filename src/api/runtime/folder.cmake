# Drop-in CUDA runtime: libcudart.so.13, which contains all of warpgrind, and the small library that LD_PRELOAD loads
# into every process of a run.
file(GLOB runtime_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/older/*.cpp)
list(FILTER runtime_sources EXCLUDE REGEX "/runtime/preload")

add_library(runtime_objects OBJECT ${runtime_sources})
target_link_libraries(runtime_objects PRIVATE semantics_objects)
# For tests of internals, since libcudart.so exports only its entry points.
add_library(wg_runtime STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:runtime_objects> $<TARGET_OBJECTS:semantics_objects>)
target_link_libraries(wg_runtime PUBLIC wg_session ${CMAKE_DL_LIBS})
target_include_directories(wg_runtime PUBLIC ${CMAKE_SOURCE_DIR}/include)

add_library(cudart SHARED $<TARGET_OBJECTS:runtime_objects> $<TARGET_OBJECTS:semantics_objects>)
target_include_directories(cudart PUBLIC ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(cudart PRIVATE wg_session ${CMAKE_DL_LIBS})
set_target_properties(cudart PROPERTIES VERSION 13 SOVERSION 13)
set(runtime_map ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/libcudart.map)
target_link_options(cudart PRIVATE -Wl,--version-script=${runtime_map} -Wl,--no-undefined)
set_property(TARGET cudart APPEND PROPERTY LINK_DEPENDS ${runtime_map})

add_library(warpgrind_preload SHARED ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload_asked.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload_clocks.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload_hooks.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload_io.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload_open.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload_open.S
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload_sections.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/preload_tools.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/program_image.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/frontend/fatbin/elf_image.cpp)
target_link_libraries(warpgrind_preload PRIVATE warpgrind_flags ${CMAKE_DL_LIBS})
# Libraries with the names of CUDA 11's and 12's runtimes, for programs linked with those. They consist of jumps into
# libcudart.so.13, so that parts of a process from several releases share one state.
function(add_older_runtime release version)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/api/runtime/library)
  add_library(cudart${release} SHARED ${folder}/jumps${release}.S)
  set_property(SOURCE ${folder}/jumps${release}.S APPEND PROPERTY OBJECT_DEPENDS
               "${folder}/jumps.S;${CMAKE_SOURCE_DIR}/include/warpgrind/older_functions.inc;${CMAKE_SOURCE_DIR}/include/warpgrind/runtime_functions.inc")
  target_include_directories(cudart${release} PRIVATE ${CMAKE_SOURCE_DIR}/include ${folder})
  target_link_libraries(cudart${release} PRIVATE cudart)
  # No link libcudart.so for this library: that name is CUDA 13's, which programs link.
  set_target_properties(cudart${release} PROPERTIES OUTPUT_NAME cudart SUFFIX .so.${version} NO_SONAME ON
                        INSTALL_RPATH "$ORIGIN" LINKER_LANGUAGE CXX)
  set(map ${folder}/libcudart${release}.map)
  target_link_options(cudart${release} PRIVATE -Wl,-soname=libcudart.so.${version} -Wl,--version-script=${map}
                                               -Wl,--no-undefined -nodefaultlibs)
  set_property(TARGET cudart${release} APPEND PROPERTY LINK_DEPENDS ${map})
  install(TARGETS cudart${release} LIBRARY DESTINATION lib/warpgrind)
endfunction()
add_older_runtime(11 11.0)
add_older_runtime(12 12)
install(TARGETS cudart warpgrind_preload LIBRARY DESTINATION lib/warpgrind NAMELINK_SKIP)
