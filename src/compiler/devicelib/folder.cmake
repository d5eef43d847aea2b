# lib/warpgrind/libdevice.bc (build/lib/libdevice.bc): NVIDIA's libdevice interface as LLVM bitcode for NVPTX, which clang links
# into the device half of a program: OCML of Debian's rocm-device-libs, retargeted, below our own files.
find_program(WARPGRIND_CLANG clang++-19 PATHS /usr/lib/llvm-19/bin)
if(NOT WARPGRIND_CLANG)
  message(FATAL_ERROR "clang++-19 is missing: scripts/setup.sh installs Debian's package clang-19")
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB ocml_places /usr/lib/*/amdgcn/bitcode/ocml.bc /usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode/ocml.bc)
if(NOT WARPGRIND_OCML)
  if(NOT ocml_places)
    message(FATAL_ERROR "ocml.bc is missing: scripts/setup.sh installs Debian's package rocm-device-libs")
  endif()
  list(GET ocml_places 0 first)
  set(WARPGRIND_OCML ${first} CACHE FILEPATH "OCML, the device math library of ROCm")
endif()

set(devicelib ${CMAKE_CURRENT_SOURCE_DIR}/compiler/devicelib)
set(work ${CMAKE_BINARY_DIR}/devicelib)
file(MAKE_DIRECTORY ${work})
file(GLOB devicelib_headers CONFIGURE_DEPENDS ${devicelib}/*.h)
set(devicelib_flags --target=nvptx64-nvidia-cuda -std=c++20 -O2 -nostdinc -fno-exceptions -fno-math-errno
    -ffp-contract=off -fvisibility=hidden -Wall -Wextra -Werror -I${CMAKE_CURRENT_SOURCE_DIR}/compiler -emit-llvm -c)

set(parts)
foreach(name amdgcn_operations amended arithmetic conversion elementary exponential fast integer simd special)
  add_custom_command(OUTPUT ${work}/${name}.bc
    COMMAND ${WARPGRIND_CLANG} ${devicelib_flags} ${devicelib}/${name}.cpp -o ${work}/${name}.bc
    DEPENDS ${devicelib}/${name}.cpp ${devicelib_headers} COMMENT "devicelib ${name}" VERBATIM)
  list(APPEND parts ${work}/${name}.bc)
endforeach()
add_custom_command(OUTPUT ${work}/reflect.bc
  COMMAND ${WARPGRIND_CLANG} ${devicelib_flags} -Xclang -disable-llvm-passes ${devicelib}/reflect.cpp -o ${work}/reflect.bc
  DEPENDS ${devicelib}/reflect.cpp COMMENT "devicelib reflect" VERBATIM)
add_custom_command(OUTPUT ${work}/ocml.ll
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-dis ${WARPGRIND_OCML} -o ${work}/ocml.amdgcn.ll
  COMMAND ${Python3_EXECUTABLE} ${devicelib}/retarget.py ${work}/ocml.amdgcn.ll ${work}/ocml.ll
  DEPENDS ${WARPGRIND_OCML} ${devicelib}/retarget.py COMMENT "devicelib ocml" VERBATIM)
# Optimised before reflect.bc comes in: an optimiser for NVPTX would answer its question for good.
set(interface -internalize-public-api-list=__nv_*)
add_custom_command(OUTPUT ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libdevice.bc
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-link --suppress-warnings ${parts} ${work}/ocml.ll -o ${work}/linked.bc
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/opt -passes=internalize,globaldce,default<O2> ${interface} -S ${work}/linked.bc -o ${work}/optimised.ll
  COMMAND ${Python3_EXECUTABLE} ${devicelib}/uncontract.py ${work}/optimised.ll ${work}/uncontracted.ll
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-link --suppress-warnings ${work}/uncontracted.ll ${work}/reflect.bc -o ${work}/whole.bc
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/opt -passes=internalize,globaldce ${interface} ${work}/whole.bc
          -o ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libdevice.bc
  DEPENDS ${parts} ${work}/ocml.ll ${work}/reflect.bc ${devicelib}/uncontract.py COMMENT "libdevice.bc" VERBATIM)
add_custom_target(libdevice ALL DEPENDS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libdevice.bc)
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libdevice.bc DESTINATION lib/warpgrind)
# OCML's licence (NCSA) wants to go with its code.
install(FILES /usr/share/doc/rocm-device-libs/copyright DESTINATION lib/warpgrind RENAME libdevice.copyright OPTIONAL)
