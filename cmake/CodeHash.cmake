# Writes OUT: a digest of all sources that decide what code a kernel becomes (SOURCES: the folder src/). It is part of the key
# of the disk cache. A script (-P), run by the build when one of them changed.
file(GLOB_RECURSE files ${SOURCES}/engine/jit/*.h ${SOURCES}/engine/jit/*.cpp ${SOURCES}/engine/codegen/*.h ${SOURCES}/engine/codegen/*.cpp ${SOURCES}/frontend/flow/*.h ${SOURCES}/frontend/flow/*.cpp ${SOURCES}/frontend/ptx/*
     ${SOURCES}/common/gpu/*.h ${SOURCES}/engine/events/*.h)
list(SORT files)
set(digests "")
foreach(file ${files})
  file(SHA256 ${file} digest)
  file(RELATIVE_PATH name ${SOURCES} ${file})
  string(APPEND digests "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${digests}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\nnamespace warpgrind::jit {\ninline constexpr char kCodeHash[] = \"${digest}\";\n}\n")
