// How many GPUs a topic of several GPUs uses, and their access to each other's memory.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "harness/program.h"

namespace lab {

// The option --devices of 1 to `most`: returns the requested number of GPUs, or ends the program if there are fewer.
// Without a request: up to the option's default.
inline int device_count(const Program& program, int argc, char** argv, int most) {
  int have = 0;
  CHECK_CUDA(cudaGetDeviceCount(&have));
  const int wanted = static_cast<int>(program.line().option_number("devices", 1, most));
  const bool asked = std::find(argv, argv + argc, std::string("--devices")) != argv + argc;
  if (asked && wanted > have)
    program.line().fail("--devices " + std::to_string(wanted) + ": there " + (have == 1 ? "is" : "are") + " only " +
                        std::to_string(have) + "; `warpgrind run --devices " + std::to_string(wanted) +
                        "` gives as many virtual ones");
  return std::min(wanted, have);
}

// Returns whether the first `devices` GPUs can all access each other's memory, and enables that access.
inline bool enable_peers(int devices) {
  for (int d = 0; d < devices; ++d)
    for (int other = 0; other < devices; ++other) {
      int can = 1;
      if (d != other) CHECK_CUDA(cudaDeviceCanAccessPeer(&can, d, other));
      if (!can) return false;
    }
  for (int d = 0; d < devices; ++d) {
    CHECK_CUDA(cudaSetDevice(d));
    for (int other = 0; other < devices; ++other)
      if (d != other) CHECK_CUDA(cudaDeviceEnablePeerAccess(other, 0));
  }
  CHECK_CUDA(cudaSetDevice(0));
  return true;
}

// Returns 1, 2, 4, ... and `most` itself.
inline std::vector<int> device_counts(int most) {
  std::vector<int> counts;
  for (int n = 1; n < most; n *= 2) counts.push_back(n);
  counts.push_back(most);
  return counts;
}

}  // namespace lab
