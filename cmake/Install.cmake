# PREFIX/bin/warpgrind; its libraries go to PREFIX/lib/warpgrind (src/api/cudart/folder.cmake).
if(TARGET warpgrind)
  install(TARGETS warpgrind RUNTIME DESTINATION bin)
endif()
