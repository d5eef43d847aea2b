# PREFIX/bin/warpgrind and, where it looks for it, PREFIX/lib/warpgrind/libcudart.so.13.
include(GNUInstallDirs)
if(TARGET warpgrind)
  install(TARGETS warpgrind RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET cudart)
  install(FILES $<TARGET_FILE:cudart> DESTINATION lib/warpgrind RENAME libcudart.so.13)
endif()
# What `warpgrind run app.cu` compiles with on a machine without nvcc.
install(PROGRAMS scripts/cuda_clang.py DESTINATION lib/warpgrind)
install(FILES lab/harness/clang/cuda_mini.h lab/harness/clang/cuda_runtime.h DESTINATION lib/warpgrind/clang)
