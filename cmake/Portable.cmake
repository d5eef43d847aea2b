# -DWARPGRIND_PORTABLE=ON, for `make package`: what runs inside users' programs (libcuda.so, libcudart.so and so on) links no C++
# library of the distribution, so that it fits beside any of theirs. scripts/portable.py makes the archive from the installation.
# The compiler's flags are those of the other builds, so that ccache serves both.
set(WARPGRIND_LLVM LLVM-19)
if(NOT WARPGRIND_PORTABLE)
  return()
endif()

target_link_options(warpgrind_flags INTERFACE -static-libstdc++ -Wl,--exclude-libs,ALL)

# portable_library(TARGET FILE...): the target of pkg-config or CMake stands for these archives from now on.
function(portable_library target)
  set(archives)
  foreach(file ${ARGN})
    find_library(archive_of_${file} ${file} REQUIRED NO_CACHE)
    list(APPEND archives ${archive_of_${file}})
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}" INTERFACE_LINK_OPTIONS "" INTERFACE_LINK_DIRECTORIES "")
endfunction()
portable_library(PkgConfig::ZSTD libzstd.a)
portable_library(PkgConfig::LZ4 liblz4.a)

# Debian has fmt as a shared library only, but with its source as a header.
set(fmt ${CMAKE_BINARY_DIR}/portable/fmt)
file(MAKE_DIRECTORY ${fmt})
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O2 -fPIC -march=x86-64-v3 -fvisibility=hidden -DNDEBUG
                        -c ${CMAKE_SOURCE_DIR}/cmake/portable/fmt.cpp -o ${fmt}/fmt.o COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_AR} rcs ${fmt}/libfmt.a ${fmt}/fmt.o COMMAND_ERROR_IS_FATAL ANY)
foreach(config NONE RELEASE)
  set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_${config} ${fmt}/libfmt.a IMPORTED_SONAME_${config} "")
endforeach()
set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION ${fmt}/libfmt.a)

llvm_map_components_to_libnames(WARPGRIND_LLVM x86codegen x86asmparser x86disassembler passes orcjit)
get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
list(FILTER libraries EXCLUDE REGEX "z3|zstd|ZLIB|libz[.]|tinfo|Terminfo")
find_library(zlib libz.a REQUIRED)
find_library(tinfo libtinfo.a REQUIRED)
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries};${zlib};PkgConfig::ZSTD;${tinfo}")

add_library(warpgrind_newer_glibc SHARED cmake/portable/newer_glibc.c)
target_compile_options(warpgrind_newer_glibc PRIVATE -O2 -fvisibility=hidden -Wall -Wextra)
# Where glibc is older than 2.34, threads and dlopen() have libraries of their own.
target_link_options(warpgrind_newer_glibc PRIVATE -nostdlib -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/portable/newer_glibc.map)
target_link_libraries(warpgrind_newer_glibc PRIVATE -Wl,--no-as-needed /lib/x86_64-linux-gnu/libpthread.so.0 /lib/x86_64-linux-gnu/libdl.so.2
                                                    /lib/x86_64-linux-gnu/librt.so.1 -lc)
set_target_properties(warpgrind_newer_glibc PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/portable)
