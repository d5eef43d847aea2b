# Writes OUT: a digest of all sources that decide what code a kernel becomes (SOURCES: the folder src/). It is part of the key
# of the disk cache. A script (-P), run by the build when one of them changed.
include(${CMAKE_CURRENT_LIST_DIR}/CodeSources.cmake)
list(TRANSFORM code_patterns PREPEND ${SOURCES}/)
file(GLOB_RECURSE files ${code_patterns})
list(SORT files)
set(digests "")
foreach(file ${files})
  file(SHA256 ${file} digest)
  file(RELATIVE_PATH name ${SOURCES} ${file})
  string(APPEND digests "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${digests}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\nnamespace warpgrind::jit {\ninline constexpr char kCodeHash[] = \"${digest}\";\n}\n")
