// Release of the NVRTC that a library stands in for. libnvrtc.so.13 and libnvrtc.so.12 are the same code and differ
// only in these values.
#pragma once

#include <span>

namespace warpgrind::nvrtc {

struct Release {
  int major, minor, build;
  std::span<const int> architectures;  // of nvrtcGetSupportedArchs, ascending: compute capability times 10
  int default_architecture;
};
const Release& release();

}  // namespace warpgrind::nvrtc
