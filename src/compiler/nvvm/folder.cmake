# libnvvm.so.4 with clang behind it, in a folder of its own: clients look for it in nvvm/lib64 of the toolkit that
# CUDA_HOME names, which is also where cmake/Toolkit.cmake puts it.
file(GLOB nvvm_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/compiler/nvvm/*.cpp)
add_library(nvvm SHARED ${nvvm_sources})
target_link_libraries(nvvm PRIVATE wg_toolchain wg_fatbin wg_gpu wg_base)
target_link_libraries(nvvm PRIVATE warpgrind_flags nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
target_include_directories(nvvm PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_compile_options(nvvm PRIVATE -fno-exceptions)
set_target_properties(nvvm PROPERTIES VERSION 4 SOVERSION 4 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/nvvm)
set(nvvm_map ${CMAKE_CURRENT_SOURCE_DIR}/compiler/nvvm/libnvvm.map)
target_link_options(nvvm PRIVATE -Wl,--version-script=${nvvm_map} -Wl,--no-undefined)
set_property(TARGET nvvm APPEND PROPERTY LINK_DEPENDS ${nvvm_map})
install(TARGETS nvvm LIBRARY DESTINATION lib/warpgrind/nvvm NAMELINK_SKIP)
