# The drop-in CUDA runtime: libcudart.so.13, all of warpgrind inside, and the small library that LD_PRELOAD brings into
# every process of a run. Functions of the real library that are not written here become stubs that say so.
file(GLOB cudart_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cudart/*.cpp)
list(REMOVE_ITEM cudart_sources ${CMAKE_CURRENT_SOURCE_DIR}/cudart/preload.cpp)

set(cudart_stubs ${CMAKE_BINARY_DIR}/generated/cudart/stubs.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cudart/exports.txt)
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/cudart/exports.txt cudart_exports)
set(text "// Made from src/cudart/exports.txt. Weak: the real definition wins where there is one.\n")
string(APPEND text "#include \"cudart/runtime.h\"\nextern \"C\" {\n")
foreach(name ${cudart_exports})
  string(APPEND text "__attribute__((weak, visibility(\"default\"))) int ${name}() {\n"
                     "  return warpgrind::cudart::unsupported_call(\"${name}\");\n}\n")
endforeach()
string(APPEND text "}\n")
file(CONFIGURE OUTPUT ${cudart_stubs} CONTENT "${text}" @ONLY)

add_library(cudart SHARED ${cudart_sources} ${cudart_stubs})
target_link_libraries(cudart PRIVATE wg_session LLVM-19 ${CMAKE_DL_LIBS})
set_target_properties(cudart PROPERTIES VERSION 13 SOVERSION 13)
set(cudart_map ${CMAKE_CURRENT_SOURCE_DIR}/cudart/libcudart.map)
target_link_options(cudart PRIVATE -Wl,--version-script=${cudart_map} -Wl,--no-undefined)
set_property(TARGET cudart APPEND PROPERTY LINK_DEPENDS ${cudart_map})

add_library(warpgrind_preload SHARED ${CMAKE_CURRENT_SOURCE_DIR}/cudart/preload.cpp
                                     ${CMAKE_CURRENT_SOURCE_DIR}/cudart/program_image.cpp)
target_link_libraries(warpgrind_preload PRIVATE warpgrind_flags ${CMAKE_DL_LIBS})
install(TARGETS cudart warpgrind_preload LIBRARY DESTINATION lib/warpgrind NAMELINK_SKIP)
