# The JIT in two parts. The first is linked into every process and does not need LLVM: the path to a kernel's code (disk
# cache, loader), and the C++ functions that machine code calls. The second generates code: a library that is opened
# when something must be compiled (jit/compile/backend.h).
get_target_property(jit_sources wg_jit SOURCES)
set(jit_llvm_sources ${jit_sources})
list(FILTER jit_llvm_sources INCLUDE REGEX "/jit/(kernel|families)/|/compile/(generator|llvm_backend|nan_sinking|optimise|promotion|slow_notice)[.]|/host_code_reader[.]")
list(FILTER jit_llvm_sources EXCLUDE REGEX "/kernel/(layout|parameters_on_stack)[.]")
list(REMOVE_ITEM jit_sources ${jit_llvm_sources})
set_target_properties(wg_jit PROPERTIES SOURCES "${jit_sources}")
target_compile_options(wg_jit PRIVATE -fno-rtti)
target_link_libraries(wg_jit PUBLIC wg_flow wg_ptx wg_gpu wg_base ${CMAKE_DL_LIBS})

add_library(warpgrind_jit SHARED ${jit_llvm_sources})
target_include_directories(warpgrind_jit SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_compile_options(warpgrind_jit PRIVATE -fno-exceptions -fno-rtti)
target_link_libraries(warpgrind_jit PRIVATE warpgrind_flags wg_jit wg_flow wg_ptx wg_gpu wg_base LLVM-19)
set_target_properties(warpgrind_jit PROPERTIES DEFINE_SYMBOL "")
target_link_options(warpgrind_jit PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined)
install(TARGETS warpgrind_jit LIBRARY DESTINATION lib/warpgrind)

# Digest of the code-generation sources, for the key of the disk cache (jit/compile/kernel_archive.cpp).
file(GLOB_RECURSE code_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/engine/jit/*.h ${CMAKE_CURRENT_SOURCE_DIR}/engine/jit/*.cpp
     ${CMAKE_CURRENT_SOURCE_DIR}/frontend/flow/*.h ${CMAKE_CURRENT_SOURCE_DIR}/frontend/flow/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/frontend/ptx/*
     ${CMAKE_CURRENT_SOURCE_DIR}/common/gpu/*.h ${CMAKE_CURRENT_SOURCE_DIR}/engine/events/*.h)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/jit/code_hash.h
  COMMAND ${CMAKE_COMMAND} -D SOURCES=${CMAKE_CURRENT_SOURCE_DIR} -D OUT=${CMAKE_BINARY_DIR}/generated/jit/code_hash.h
          -P ${CMAKE_SOURCE_DIR}/cmake/CodeHash.cmake
  DEPENDS ${code_sources} ${CMAKE_SOURCE_DIR}/cmake/CodeHash.cmake
  COMMENT "digest of the code generation" VERBATIM)
add_custom_target(code_hash DEPENDS ${CMAKE_BINARY_DIR}/generated/jit/code_hash.h)
add_dependencies(wg_jit code_hash)
add_dependencies(warpgrind_jit code_hash)
