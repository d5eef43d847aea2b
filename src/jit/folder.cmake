target_include_directories(wg_jit SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
target_compile_options(wg_jit PRIVATE -fno-rtti)
target_link_libraries(wg_jit PUBLIC wg_flow wg_ptx wg_gpu wg_base PRIVATE LLVM-19)

# A digest of the sources that decide the code, for the key of the disk cache (jit/compile/kernel_archive.cpp).
file(GLOB_RECURSE code_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/jit/*.h ${CMAKE_CURRENT_SOURCE_DIR}/jit/*.cpp
     ${CMAKE_CURRENT_SOURCE_DIR}/flow/*.h ${CMAKE_CURRENT_SOURCE_DIR}/flow/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/ptx/*
     ${CMAKE_CURRENT_SOURCE_DIR}/gpu/*.h ${CMAKE_CURRENT_SOURCE_DIR}/events/*.h)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/jit/code_hash.h
  COMMAND ${CMAKE_COMMAND} -D SOURCES=${CMAKE_CURRENT_SOURCE_DIR} -D OUT=${CMAKE_BINARY_DIR}/generated/jit/code_hash.h
          -P ${CMAKE_SOURCE_DIR}/cmake/CodeHash.cmake
  DEPENDS ${code_sources} ${CMAKE_SOURCE_DIR}/cmake/CodeHash.cmake
  COMMENT "digest of the code generation" VERBATIM)
add_custom_target(code_hash DEPENDS ${CMAKE_BINARY_DIR}/generated/jit/code_hash.h)
add_dependencies(wg_jit code_hash)
