// Which NVRTC a library is: libnvrtc.so.13 and libnvrtc.so.12 are the same code, and differ in what is here.
#pragma once

#include <vector>

namespace warpgrind::nvrtc {

struct Release {
  int major, minor, build;
  std::vector<int> architectures;  // of nvrtcGetSupportedArchs, ascending: compute capability times 10
  int default_architecture;
};
const Release& release();

}  // namespace warpgrind::nvrtc
