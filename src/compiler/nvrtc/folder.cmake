# NVIDIA's run-time compiler with clang behind it: libnvrtc.so.13 and libnvrtc.so.12, by which names clients open it, from
# the same sources. In a folder of their own: `warpgrind run` puts it behind NVIDIA's where there is one
# (src/app/cli/nvrtc_choice.h).
file(GLOB nvrtc_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/compiler/nvrtc/*.cpp)
set(nvrtc_by_release ${CMAKE_CURRENT_SOURCE_DIR}/compiler/nvrtc/nvrtc.cpp ${CMAKE_CURRENT_SOURCE_DIR}/compiler/nvrtc/release.cpp)
list(REMOVE_ITEM nvrtc_sources ${nvrtc_by_release})
add_library(nvrtc_objects OBJECT ${nvrtc_sources})  # what does not depend on the release
target_link_libraries(nvrtc_objects PRIVATE wg_toolchain wg_fatbin wg_gpu wg_base warpgrind_flags nlohmann_json::nlohmann_json)
target_include_directories(nvrtc_objects PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_compile_options(nvrtc_objects PRIVATE -fno-exceptions)

function(add_nvrtc target major)
  add_library(${target} SHARED ${nvrtc_by_release} $<TARGET_OBJECTS:nvrtc_objects>)
  target_link_libraries(${target} PRIVATE wg_toolchain wg_fatbin wg_gpu wg_base)
  target_link_libraries(${target} PRIVATE warpgrind_flags nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE -fno-exceptions)
  target_compile_definitions(${target} PRIVATE WARPGRIND_NVRTC_MAJOR=${major})
  # Two libraries of one name: the suffix is the version.
  set_target_properties(${target} PROPERTIES OUTPUT_NAME nvrtc SUFFIX .so.${major}
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/nvrtc)
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/compiler/nvrtc/libnvrtc${major}.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  install(TARGETS ${target} LIBRARY DESTINATION lib/warpgrind/nvrtc)
endfunction()

add_nvrtc(nvrtc12 12)
add_nvrtc(nvrtc 13)
# Clients that open no version.
file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/nvrtc)
file(CREATE_LINK libnvrtc.so.13 ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/nvrtc/libnvrtc.so SYMBOLIC)
install(CODE "file(CREATE_LINK libnvrtc.so.13 \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/warpgrind/nvrtc/libnvrtc.so SYMBOLIC)")
