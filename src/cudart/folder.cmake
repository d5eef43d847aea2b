# The drop-in CUDA runtime: libcudart.so.13, all of warpgrind inside, and the small library that LD_PRELOAD brings into
# every process of a run.
file(GLOB cudart_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cudart/*.cpp)
list(FILTER cudart_sources EXCLUDE REGEX "/cudart/preload")

add_library(cudart SHARED ${cudart_sources})
target_link_libraries(cudart PRIVATE wg_session LLVM-19 ${CMAKE_DL_LIBS})
# No exceptions: programs in C cannot be unwound through. Which call failed is read from the stack (unasked.cpp): entry
# points must stand there, as one piece.
target_compile_options(cudart PRIVATE -fno-exceptions -fno-optimize-sibling-calls
                                      $<$<CXX_COMPILER_ID:GNU>:-fno-reorder-blocks-and-partition>)
set_target_properties(cudart PROPERTIES VERSION 13 SOVERSION 13)
set(cudart_map ${CMAKE_CURRENT_SOURCE_DIR}/cudart/libcudart.map)
target_link_options(cudart PRIVATE -Wl,--version-script=${cudart_map} -Wl,--no-undefined)
set_property(TARGET cudart APPEND PROPERTY LINK_DEPENDS ${cudart_map})

add_library(warpgrind_preload SHARED ${CMAKE_CURRENT_SOURCE_DIR}/cudart/preload.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/cudart/preload_hooks.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/cudart/program_image.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/fatbin/elf_image.cpp)
target_link_libraries(warpgrind_preload PRIVATE warpgrind_flags ${CMAKE_DL_LIBS})
install(TARGETS cudart warpgrind_preload LIBRARY DESTINATION lib/warpgrind NAMELINK_SKIP)
