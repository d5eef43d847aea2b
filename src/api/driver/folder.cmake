# The driver API. Its functions are part of libcudart.so.13, so that both APIs share one state. libcuda.so.1 is a small
# library of jumps to them, with every symbol that programs link or look up.
file(GLOB driver_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/driver/*.cpp)
add_library(driver_objects OBJECT ${driver_sources})
target_link_libraries(driver_objects PRIVATE wg_session)
target_include_directories(driver_objects PUBLIC ${CMAKE_SOURCE_DIR}/include)
target_compile_options(driver_objects PRIVATE -fno-exceptions -fno-optimize-sibling-calls
                                            $<$<CXX_COMPILER_ID:GNU>:-fno-reorder-blocks-and-partition>)
foreach(whole cudart wg_runtime)
  target_sources(${whole} PRIVATE $<TARGET_OBJECTS:driver_objects>)
endforeach()

# add_entries(TARGET ENTRIES RUNTIME): adds base/beside.c to a library of jumps, which links only the C library.
function(add_entries target entries runtime)
  # Each target needs its own copy, since the targets of a folder share the compile definitions of a source.
  set(source ${CMAKE_CURRENT_BINARY_DIR}/beside_${target}.c)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/common/base/beside.c ${source} COPYONLY)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS
                              "WARPGRIND_ENTRIES=${entries};WARPGRIND_RUNTIME=\"${runtime}\"")
  add_dependencies(${target} cudart)
  target_link_libraries(${target} PRIVATE -l:libc.so.6)
endfunction()

set(driver_library ${CMAKE_CURRENT_SOURCE_DIR}/api/driver/library)
add_library(cuda SHARED ${driver_library}/trampolines.S)
set_property(SOURCE ${driver_library}/trampolines.S APPEND PROPERTY OBJECT_DEPENDS
             "${CMAKE_SOURCE_DIR}/include/warpgrind/driver_functions.inc;${CMAKE_SOURCE_DIR}/include/warpgrind/driver_rows.h")
target_include_directories(cuda PRIVATE ${CMAKE_SOURCE_DIR}/include)
add_entries(cuda warpgrind_driver_entries libcudart.so.13)
set_target_properties(cuda PROPERTIES VERSION 1 SOVERSION 1 INSTALL_RPATH "$ORIGIN" LINKER_LANGUAGE CXX)
target_link_options(cuda PRIVATE -Wl,--version-script=${driver_library}/libcuda.map -Wl,--no-undefined -nodefaultlibs)
set_property(TARGET cuda APPEND PROPERTY LINK_DEPENDS ${driver_library}/libcuda.map)
install(TARGETS cuda LIBRARY DESTINATION lib/warpgrind)

# The same library without the symbols added in CUDA 13. Some clients (Numba up to 0.56) take every symbol NAME_v2 for
# NAME with another number of bits, and would call functions of 13.0 that have other parameters. They find the driver's
# file by the environment variable NUMBA_CUDA_DRIVER.
add_library(cuda12 SHARED ${driver_library}/driver12.S)
set_property(SOURCE ${driver_library}/driver12.S APPEND PROPERTY OBJECT_DEPENDS
             "${driver_library}/trampolines.S;${CMAKE_SOURCE_DIR}/include/warpgrind/driver_functions.inc;${CMAKE_SOURCE_DIR}/include/warpgrind/driver_rows.h")
target_include_directories(cuda12 PRIVATE ${CMAKE_SOURCE_DIR}/include ${driver_library})
add_entries(cuda12 warpgrind_driver_entries ../libcudart.so.13)
set_target_properties(cuda12 PROPERTIES OUTPUT_NAME cuda VERSION 1 SOVERSION 1 INSTALL_RPATH "$ORIGIN/.." LINKER_LANGUAGE CXX
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/driver12)
target_link_options(cuda12 PRIVATE -Wl,--version-script=${driver_library}/libcuda.map -Wl,--no-undefined -nodefaultlibs)
set_property(TARGET cuda12 APPEND PROPERTY LINK_DEPENDS ${driver_library}/libcuda.map)
install(TARGETS cuda12 LIBRARY DESTINATION lib/warpgrind/driver12 NAMELINK_SKIP)
