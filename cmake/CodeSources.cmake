# Sources that decide what code a kernel becomes, as patterns below src/: for the digest (CodeHash.cmake) and what it depends on.
set(code_patterns
  engine/jit/*.h engine/jit/*.cpp engine/codegen/*.h engine/codegen/*.cpp engine/events/*.h
  frontend/flow/*.h frontend/flow/*.cpp frontend/ptx/* common/gpu/*.h common/base/library_headers.cpp)
