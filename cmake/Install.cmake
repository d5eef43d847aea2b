# PREFIX/bin/warpgrind; its libraries go to PREFIX/lib/warpgrind (src/api/runtime/folder.cmake).
if(TARGET warpgrind)
  install(TARGETS warpgrind RUNTIME DESTINATION bin)
endif()
