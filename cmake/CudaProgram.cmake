# add_cuda_program(NAME SOURCE [OBJECT] [FAST_HOST] [COMPILER nvcc|clang] [CUDART static|shared] [OUTPUT DIR] [INCLUDES DIR...] [ARCHITECTURES ARCH...] [FLAGS FLAG...] [LIBRARIES FLAG...] [OBJECTS NAME...] [DEPENDS FILE...])
#
# Builds an ordinary CUDA program. CMake's own CUDA language is not used: it needs a toolkit at configure time, and these programs
# are also built without one, by clang-19 (`warpgrind nvcc`). Programs for a compiler that is not installed are skipped. The target is
# called program_NAME.
#   COMPILER       default: nvcc if it is installed, else clang
#   ARCHITECTURES  for example 90a 90, instead of 90
#   FAST_HOST      -O3 for host code too, where that is measured. Kernels do not depend on it; without it a build takes 3/4 of the time
#   OBJECT         builds an object, for the OBJECTS of programs in the same folder with the same compiler
#
# add_cuda_program_twice(NAME SOURCE ...): also builds NAME_clang by clang, if nvcc is installed and WARPGRIND_BOTH_COMPILERS is on.
# It is off by default: compiling and running everything twice is a quarter of `make test`, and a machine without nvcc (in CI,
# scripts/without_toolkit.sh) builds all by clang. BUILD/compilers.txt lists the compiler of NAME, and of NAME_clang if built.
#
# WARPGRIND_PROGRAMS=FOLDER: uses the programs of another build folder (links, made when CMake runs). Sanitizers do not concern
# them: the sanitized code is our library, which runs inside them.
set(WARPGRIND_PROGRAMS "" CACHE PATH "A build folder to take the CUDA programs from")
if(EXISTS "${WARPGRIND_PROGRAMS}/CMakeCache.txt")
  load_cache(${WARPGRIND_PROGRAMS} READ_WITH_PREFIX "" WARPGRIND_NVCC WARPGRIND_BOTH_COMPILERS)
endif()
find_program(WARPGRIND_NVCC nvcc PATHS /usr/local/cuda/bin)
find_program(WARPGRIND_CLANG clang++-19 PATHS /usr/lib/llvm-19/bin)
option(WARPGRIND_BOTH_COMPILERS "Build the CUDA programs of lab and tests by clang too where nvcc is installed" OFF)
set(programs_built_by clang)
if(WARPGRIND_NVCC)
  set(programs_built_by nvcc)
endif()
set(compilers ${programs_built_by})
if(WARPGRIND_NVCC AND WARPGRIND_BOTH_COMPILERS)
  list(APPEND compilers clang)
endif()
list(JOIN compilers " " line)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/compilers.txt CONTENT "@line@\n" @ONLY)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(add_cuda_program name source)
  cmake_parse_arguments(arg "FAST_HOST;OBJECT" "COMPILER;CUDART;OUTPUT" "INCLUDES;ARCHITECTURES;FLAGS;LIBRARIES;OBJECTS;DEPENDS" ${ARGN})
  if(NOT arg_COMPILER)
    set(arg_COMPILER ${programs_built_by})
  endif()
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  if(NOT arg_CUDART)
    set(arg_CUDART static)
  endif()
  get_filename_component(source ${source} ABSOLUTE)
  set(program ${arg_OUTPUT}/${name})
  set(object_end .o)
  if(NOT arg_COMPILER STREQUAL programs_built_by)
    set(object_end _clang.o)
  endif()
  set(objects ${arg_OBJECTS})
  list(TRANSFORM objects PREPEND ${arg_OUTPUT}/)
  list(TRANSFORM objects APPEND ${object_end})
  if(arg_OBJECT)
    set(program ${program}.o)
    list(APPEND arg_FLAGS -c)
  endif()
  if(EXISTS "${WARPGRIND_PROGRAMS}/CMakeCache.txt")
    file(RELATIVE_PATH place ${CMAKE_BINARY_DIR} ${program})
    if(EXISTS ${WARPGRIND_PROGRAMS}/${place})
      file(MAKE_DIRECTORY ${arg_OUTPUT})
      file(CREATE_LINK ${WARPGRIND_PROGRAMS}/${place} ${program} SYMBOLIC)
      add_custom_target(program_${name})
    endif()
    return()
  endif()
  set(arch_flags -arch=sm_90)
  if(arg_ARCHITECTURES)
    set(arch_flags "")
  endif()
  foreach(arch ${arg_ARCHITECTURES})
    list(APPEND arch_flags -gencode arch=compute_${arch},code=[sm_${arch},compute_${arch}])
  endforeach()
  set(host_level -O1)
  if(arg_FAST_HOST)
    set(host_level -O3)
  endif()
  set(include_flags ${arg_INCLUDES})
  list(TRANSFORM include_flags PREPEND "-I")
  get_filename_component(folder ${source} DIRECTORY)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/lab/harness/*.h
       ${folder}/*.h ${folder}/*.cuh)

  if(arg_COMPILER STREQUAL nvcc AND WARPGRIND_NVCC)
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${arg_OUTPUT}
      COMMAND ${WARPGRIND_NVCC} ${host_level} -std=c++20 ${arch_flags} -lineinfo -cudart ${arg_CUDART} ${include_flags} ${arg_FLAGS}
              ${source} ${objects} ${arg_LIBRARIES} -o ${program}
      DEPENDS ${source} ${objects} ${headers} ${arg_DEPENDS}
      COMMENT "nvcc ${name}" VERBATIM)
  elseif(arg_COMPILER STREQUAL clang AND WARPGRIND_CLANG AND TARGET toolkit)
    # The rule that the compiler writes names every header, ours too.
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${arg_OUTPUT}
      COMMAND $<TARGET_FILE:warpgrind> nvcc ${host_level} -std=c++20 ${arch_flags} -lineinfo ${include_flags} ${arg_FLAGS} -MD -MF
              ${program}.d -MT ${program} ${source} ${objects} ${arg_LIBRARIES} -o ${program}
      DEPFILE ${program}.d
      DEPENDS ${source} ${objects} ${arg_DEPENDS} toolkit ${CMAKE_BINARY_DIR}/toolkit/lib64/libcudart.so
              ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libdevice.bc $<TARGET_FILE:launch_pass>
      COMMENT "clang ${name}" VERBATIM)
  else()
    return()
  endif()
  add_custom_target(program_${name} ALL DEPENDS ${program})
endfunction()

function(add_cuda_program_twice name)
  add_cuda_program(${name} ${ARGN})
  if(WARPGRIND_NVCC AND WARPGRIND_BOTH_COMPILERS)
    add_cuda_program(${name}_clang ${ARGN} COMPILER clang)
  endif()
endfunction()
