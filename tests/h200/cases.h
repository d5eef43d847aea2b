// For programs of small cases that are measured on a GPU: errors end the program, and each case is launched twice, with
// its label printed in the order of the launches.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

#define CHECK(call)                                                                 \
  do {                                                                              \
    const cudaError_t e = (call);                                                   \
    if (e != cudaSuccess) std::printf("%s\n", cudaGetErrorString(e)), std::exit(1); \
  } while (0)

template <class Launch>
void twice(const std::string& label, const Launch& launch) {
  for (int i = 0; i < 2; ++i) {
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::printf("%s\n", label.c_str());
  }
}

// "load 16 1 4"
inline std::string label(std::string kind, std::initializer_list<std::size_t> numbers) {
  for (const std::size_t n : numbers) kind += " " + std::to_string(n);
  return kind;
}
