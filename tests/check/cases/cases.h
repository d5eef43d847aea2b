// Common parts of the programs in this folder. Each program holds the cases of one area; its argument is the id of the
// case to run. The `//!` comments state the expected findings, at the lines that the findings name (grammar: README.md
// here), so that they move with the code. A case has exactly one error: otherwise it frees all it allocates, and writes
// all it reads.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace cases {

struct Case {
  Case(const char* id, const char* what, void (*run)()) : id(id), what(what), run(run), next(first) { first = this; }

  const char* id;
  const char* what;
  void (*run)();
  Case* next;
  inline static Case* first = nullptr;
};

// n elements of device memory, all zero. Not for cases about the line of the allocation, which would be here.
template <class T>
T* zeros(size_t n) {
  T* data = nullptr;
  cudaMalloc(&data, n * sizeof(T));
  cudaMemset(data, 0, n * sizeof(T));
  return data;
}

}  // namespace cases

// CASE(ID, "what the program does") { host code of the case }. A kernel has the name of the case; a case without
// kernels has it beside the brace.
#define CASE(id, what)                         \
  static void id();                            \
  static cases::Case case_##id(#id, what, id); \
  static void id()

// Address of shared memory as PTX takes it in the .shared state space.
static __device__ __forceinline__ unsigned shared_address(const void* data) {
  return static_cast<unsigned>(__cvta_generic_to_shared(data));
}

int main(int argc, char** argv) {
  for (const cases::Case* c = cases::Case::first; c && argc > 1; c = c->next) {
    if (std::strcmp(c->id, argv[1])) continue;
    c->run();
    return 0;
  }
  std::fprintf(stderr, "usage: %s ID\n", argv[0]);
  for (const cases::Case* c = cases::Case::first; c; c = c->next) std::fprintf(stderr, "  %s  %s\n", c->id, c->what);
  return 2;
}
