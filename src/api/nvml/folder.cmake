# NVML. Like the driver API (driver/folder.cmake), it is part of libcudart.so.13, whose devices it reports, and a library of
# jumps.
file(GLOB nvml_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/nvml/*.cpp)
add_library(nvml_objects OBJECT ${nvml_sources})
target_link_libraries(nvml_objects PRIVATE semantics_objects)
foreach(whole cudart wg_runtime)
  target_sources(${whole} PRIVATE $<TARGET_OBJECTS:nvml_objects>)
endforeach()

set(nvml_library ${CMAKE_CURRENT_SOURCE_DIR}/api/nvml/library)
add_library(nvidia-ml SHARED ${nvml_library}/trampolines.S)
set_property(SOURCE ${nvml_library}/trampolines.S APPEND PROPERTY OBJECT_DEPENDS
             "${CMAKE_SOURCE_DIR}/include/warpgrind/nvml_functions.inc")
target_include_directories(nvidia-ml PRIVATE ${CMAKE_SOURCE_DIR}/include)
add_entries(nvidia-ml warpgrind_nvml_entries libcudart.so.13)
set_target_properties(nvidia-ml PROPERTIES VERSION 1 SOVERSION 1 INSTALL_RPATH "$ORIGIN" LINKER_LANGUAGE CXX)
target_link_options(nvidia-ml PRIVATE -Wl,--version-script=${nvml_library}/libnvidia-ml.map -Wl,--no-undefined -nodefaultlibs)
set_property(TARGET nvidia-ml APPEND PROPERTY LINK_DEPENDS ${nvml_library}/libnvidia-ml.map)
install(TARGETS nvidia-ml LIBRARY DESTINATION lib/warpgrind)
