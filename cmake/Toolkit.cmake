# What CUDA programs are compiled and linked with, laid out as NVIDIA's toolkit, so that makefiles and CMake find it:
#   bin/nvcc, bin/ptxas   warpgrind under other names   include/   our headers
#   lib64/       what programs are linked with: libcudart.so, libcudart_static.a (a linker script that names it),
#                libcudadevrt.a (empty), libcublas.so and its like
# Each .so is a stub with the names alone (the linker would read LLVM behind libcudart.so: 0.5 s). What another linker links with
# it names the real one by its whole path, so that the program starts from anywhere: CMake takes this folder for one of the
# system's, and sets no run path. lib64/nvcc has them with the plain name, for `warpgrind nvcc`, which sets a run path: such
# programs also run under another build of warpgrind.
# In a build this folder is BUILD/toolkit, in an installation PREFIX/lib/warpgrind.
set(toolkit ${CMAKE_BINARY_DIR}/toolkit)
file(MAKE_DIRECTORY ${toolkit}/bin ${toolkit}/lib64/nvcc)
file(CREATE_LINK ../../bin/warpgrind ${toolkit}/bin/nvcc SYMBOLIC)
file(CREATE_LINK ../../bin/warpgrind ${toolkit}/bin/ptxas SYMBOLIC)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/include ${toolkit}/include SYMBOLIC)
# By its whole path: CMake links it without -L.
file(WRITE ${toolkit}/lib64/libcudart_static.a "INPUT(${toolkit}/lib64/libcudart.so)\n")
file(WRITE ${toolkit}/lib64/libcudadevrt.a "!<arch>\n")
set(link_stub ${CMAKE_SOURCE_DIR}/scripts/link_stub.sh)
set(stubs ${toolkit}/lib64/libcudart.so ${toolkit}/lib64/nvcc/libcudart.so)
add_custom_command(
  OUTPUT ${stubs}
  COMMAND sh ${link_stub} ${CMAKE_NM} ${CMAKE_C_COMPILER} $<TARGET_FILE:cudart> $<TARGET_SONAME_FILE:cudart>
          ${toolkit}/lib64/libcudart.so
  COMMAND sh ${link_stub} ${CMAKE_NM} ${CMAKE_C_COMPILER} $<TARGET_FILE:cudart> $<TARGET_SONAME_FILE_NAME:cudart>
          ${toolkit}/lib64/nvcc/libcudart.so
  DEPENDS cudart ${link_stub}
  COMMENT "libcudart.so to link with" VERBATIM)
# The driver API (src/api/driver), and libraries that run on the host (src/api/libraries).
set(gpu_libraries)
foreach(library cuda nvidia-ml nvJitLink cublasLt cublas cufft curand cusparse cusolver nccl)
  if(TARGET ${library})
    get_target_property(version ${library} SOVERSION)
    set(file lib${library}.so.${version})
    add_custom_command(
      OUTPUT ${toolkit}/lib64/lib${library}.so
      COMMAND sh ${link_stub} ${CMAKE_NM} ${CMAKE_C_COMPILER} $<TARGET_FILE:${library}> $<TARGET_SONAME_FILE:${library}>
              ${toolkit}/lib64/lib${library}.so
      DEPENDS ${library} ${link_stub}
      COMMENT "lib${library}.so to link with" VERBATIM)
    list(APPEND stubs ${toolkit}/lib64/lib${library}.so)
    file(CREATE_LINK ../../lib/${file} ${toolkit}/lib64/${file} SYMBOLIC)
    file(CREATE_LINK ../${file} ${toolkit}/lib64/nvcc/lib${library}.so SYMBOLIC)
    list(APPEND gpu_libraries ${library}:${version})
  endif()
endforeach()
# Where CMake looks for those of the driver.
file(MAKE_DIRECTORY ${toolkit}/lib64/stubs)
foreach(library cuda nvidia-ml)
  file(CREATE_LINK ../lib${library}.so ${toolkit}/lib64/stubs/lib${library}.so SYMBOLIC)
endforeach()
# NVRTC, which has a folder of its own among the libraries.
add_custom_command(
  OUTPUT ${toolkit}/lib64/libnvrtc.so
  COMMAND sh ${link_stub} ${CMAKE_NM} ${CMAKE_C_COMPILER} $<TARGET_FILE:nvrtc> $<TARGET_FILE:nvrtc> ${toolkit}/lib64/libnvrtc.so
  DEPENDS nvrtc ${link_stub}
  COMMENT "libnvrtc.so to link with" VERBATIM)
list(APPEND stubs ${toolkit}/lib64/libnvrtc.so)
file(CREATE_LINK ../../lib/nvrtc/libnvrtc.so.13 ${toolkit}/lib64/libnvrtc.so.13 SYMBOLIC)
file(CREATE_LINK ../libnvrtc.so.13 ${toolkit}/lib64/nvcc/libnvrtc.so SYMBOLIC)
# libNVVM and the device library, where clients of libNVVM look for them: Numba, with CUDA_HOME naming this folder.
file(MAKE_DIRECTORY ${toolkit}/nvvm/lib64 ${toolkit}/nvvm/libdevice)
file(CREATE_LINK ../../../lib/nvvm/libnvvm.so.4 ${toolkit}/nvvm/lib64/libnvvm.so.4 SYMBOLIC)
file(CREATE_LINK libnvvm.so.4 ${toolkit}/nvvm/lib64/libnvvm.so SYMBOLIC)
file(CREATE_LINK ../../../lib/libdevice.bc ${toolkit}/nvvm/libdevice/libdevice.10.bc SYMBOLIC)
# The driver as it was before CUDA 13 (src/api/driver/folder.cmake).
file(CREATE_LINK ../lib/driver12 ${toolkit}/driver12 SYMBOLIC)
add_custom_target(toolkit ALL DEPENDS ${stubs} warpgrind warpgrind_preload libdevice launch_pass nvvm cuda12)

install(CODE "
  set(to \${CMAKE_INSTALL_PREFIX}/lib/warpgrind)
  file(MAKE_DIRECTORY \$ENV{DESTDIR}\${to}/bin)
  file(CREATE_LINK ../../../bin/warpgrind \$ENV{DESTDIR}\${to}/bin/nvcc SYMBOLIC)
  file(CREATE_LINK ../../../bin/warpgrind \$ENV{DESTDIR}\${to}/bin/ptxas SYMBOLIC)")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include DESTINATION lib/warpgrind)
install(CODE "
  file(MAKE_DIRECTORY \$ENV{DESTDIR}\${to}/nvvm/lib64 \$ENV{DESTDIR}\${to}/nvvm/libdevice)
  file(CREATE_LINK ../libnvvm.so.4 \$ENV{DESTDIR}\${to}/nvvm/lib64/libnvvm.so.4 SYMBOLIC)
  file(CREATE_LINK libnvvm.so.4 \$ENV{DESTDIR}\${to}/nvvm/lib64/libnvvm.so SYMBOLIC)
  file(CREATE_LINK ../../libdevice.bc \$ENV{DESTDIR}\${to}/nvvm/libdevice/libdevice.10.bc SYMBOLIC)")
install(DIRECTORY ${toolkit}/lib64 DESTINATION lib/warpgrind
        PATTERN "lib64/libcuda.so*" EXCLUDE PATTERN "nvcc/libcuda.so*" EXCLUDE PATTERN "lib64/libnvidia-ml.so*" EXCLUDE
        PATTERN "nvcc/libnvidia-ml.so*" EXCLUDE PATTERN "libcublas*.so*" EXCLUDE PATTERN "libcufft.so*" EXCLUDE PATTERN "libcurand.so*" EXCLUDE
        PATTERN "libcusparse.so*" EXCLUDE PATTERN "libcusolver.so*" EXCLUDE PATTERN "libnccl.so*" EXCLUDE
        PATTERN "libnvrtc.so*" EXCLUDE PATTERN "libnvJitLink.so*" EXCLUDE)
install(CODE "
  set(from \$ENV{DESTDIR}\${to})
  foreach(library ${gpu_libraries})
    string(REPLACE \":\" \";\" library \"\${library}\")
    list(GET library 0 name)
    list(GET library 1 version)
    set(file lib\${name}.so.\${version})
    execute_process(COMMAND sh ${link_stub} ${CMAKE_NM} ${CMAKE_C_COMPILER} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/\${file} \${to}/\${file}
                            \${from}/lib64/lib\${name}.so COMMAND_ERROR_IS_FATAL ANY)
    file(CREATE_LINK ../\${file} \${from}/lib64/\${file} SYMBOLIC)
    file(CREATE_LINK ../\${file} \${from}/lib64/nvcc/lib\${name}.so SYMBOLIC)
  endforeach()
  execute_process(COMMAND sh ${link_stub} ${CMAKE_NM} ${CMAKE_C_COMPILER} $<TARGET_FILE:nvrtc> \${to}/nvrtc/libnvrtc.so.13
                          \${from}/lib64/libnvrtc.so COMMAND_ERROR_IS_FATAL ANY)
  file(CREATE_LINK ../nvrtc/libnvrtc.so.13 \${from}/lib64/libnvrtc.so.13 SYMBOLIC)
  file(CREATE_LINK ../libnvrtc.so.13 \${from}/lib64/nvcc/libnvrtc.so SYMBOLIC)
  execute_process(COMMAND sh ${link_stub} ${CMAKE_NM} ${CMAKE_C_COMPILER} $<TARGET_FILE:cudart> \${to}/libcudart.so.13
                          \${from}/lib64/libcudart.so COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE \${from}/lib64/libcudart_static.a \"INPUT(\${to}/lib64/libcudart.so)\\n\")")
