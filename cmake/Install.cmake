# PREFIX/bin/warpgrind; its libraries go to PREFIX/lib/warpgrind (src/cudart/folder.cmake).
if(TARGET warpgrind)
  install(TARGETS warpgrind RUNTIME DESTINATION bin)
endif()
# What `warpgrind run app.cu` compiles with on a machine without nvcc.
install(PROGRAMS scripts/cuda_clang.py DESTINATION lib/warpgrind)
install(FILES lab/harness/clang/cuda_mini.h lab/harness/clang/cuda_runtime.h DESTINATION lib/warpgrind/clang)
