# NVIDIA's linker for run time, over PTX: libnvJitLink.so.13, beside libcudart.so.13, so that it comes before NVIDIA's, whose
# machine code does not run here.
file(GLOB jitlink_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/compiler/jitlink/*.cpp)
add_library(nvJitLink SHARED ${jitlink_sources})
target_link_libraries(nvJitLink PRIVATE warpgrind_flags wg_ptx wg_fatbin wg_gpu wg_base)
target_include_directories(nvJitLink PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_compile_options(nvJitLink PRIVATE -fno-exceptions)
set_target_properties(nvJitLink PROPERTIES VERSION 13 SOVERSION 13 INSTALL_RPATH "$ORIGIN")
set(jitlink_map ${CMAKE_CURRENT_SOURCE_DIR}/compiler/jitlink/libnvJitLink.map)
target_link_options(nvJitLink PRIVATE -Wl,--version-script=${jitlink_map} -Wl,--no-undefined)
set_property(TARGET nvJitLink APPEND PROPERTY LINK_DEPENDS ${jitlink_map})
install(TARGETS nvJitLink LIBRARY DESTINATION lib/warpgrind NAMELINK_SKIP)
