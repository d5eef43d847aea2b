# The part of the JIT that every process links, without LLVM: the path to a kernel's code (disk cache, loader), and the C++
# functions that machine code calls. engine/codegen makes the code. It is a library that is opened when a kernel must be
# compiled (jit/compile/backend.h), because loading LLVM takes 15 ms.
target_compile_options(wg_jit PRIVATE -fno-rtti)
target_link_libraries(wg_jit PUBLIC wg_flow wg_ptx wg_gpu wg_base ${CMAKE_DL_LIBS} PRIVATE PkgConfig::ZSTD)

# Digest of the code-generation sources, for the key of the disk cache (jit/compile/kernel_archive.cpp).
include(${CMAKE_SOURCE_DIR}/cmake/CodeSources.cmake)
list(TRANSFORM code_patterns PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
file(GLOB_RECURSE code_sources CONFIGURE_DEPENDS ${code_patterns})
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/jit/code_hash.h
  COMMAND ${CMAKE_COMMAND} -D SOURCES=${CMAKE_CURRENT_SOURCE_DIR} -D OUT=${CMAKE_BINARY_DIR}/generated/jit/code_hash.h
          -P ${CMAKE_SOURCE_DIR}/cmake/CodeHash.cmake
  DEPENDS ${code_sources} ${CMAKE_SOURCE_DIR}/cmake/CodeHash.cmake ${CMAKE_SOURCE_DIR}/cmake/CodeSources.cmake
  COMMENT "digest of the code generation" VERBATIM)
add_custom_target(code_hash DEPENDS ${CMAKE_BINARY_DIR}/generated/jit/code_hash.h)
add_dependencies(wg_jit code_hash)
