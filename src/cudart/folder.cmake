# The drop-in CUDA runtime: libcudart.so.13, all of warpgrind inside, and the small library that LD_PRELOAD brings into
# every process of a run.
file(GLOB cudart_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cudart/*.cpp)
list(FILTER cudart_sources EXCLUDE REGEX "/cudart/preload")

add_library(cudart_objects OBJECT ${cudart_sources})
target_link_libraries(cudart_objects PRIVATE host_objects)
# For tests that look inside, as libcudart.so shows its entry points alone.
add_library(wg_cudart STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:cudart_objects> $<TARGET_OBJECTS:host_objects>)
target_link_libraries(wg_cudart PUBLIC wg_session LLVM-19 ${CMAKE_DL_LIBS})
target_include_directories(wg_cudart PUBLIC ${CMAKE_SOURCE_DIR}/include)

add_library(cudart SHARED $<TARGET_OBJECTS:cudart_objects> $<TARGET_OBJECTS:host_objects>)
target_include_directories(cudart PUBLIC ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(cudart PRIVATE wg_session LLVM-19 ${CMAKE_DL_LIBS})
set_target_properties(cudart PROPERTIES VERSION 13 SOVERSION 13)
set(cudart_map ${CMAKE_CURRENT_SOURCE_DIR}/cudart/libcudart.map)
target_link_options(cudart PRIVATE -Wl,--version-script=${cudart_map} -Wl,--no-undefined)
set_property(TARGET cudart APPEND PROPERTY LINK_DEPENDS ${cudart_map})

add_library(warpgrind_preload SHARED ${CMAKE_CURRENT_SOURCE_DIR}/cudart/preload.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/cudart/preload_clocks.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/cudart/preload_hooks.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/cudart/preload_io.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/cudart/program_image.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/fatbin/elf_image.cpp)
target_link_libraries(warpgrind_preload PRIVATE warpgrind_flags ${CMAKE_DL_LIBS})
install(TARGETS cudart warpgrind_preload LIBRARY DESTINATION lib/warpgrind NAMELINK_SKIP)
