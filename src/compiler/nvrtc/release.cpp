#include "nvrtc/release.h"

namespace warpgrind::nvrtc {

// 13: values of NVIDIA's libnvrtc.so.13.0.88. 12: from the release notes of CUDA 12.9 and its NVRTC documentation.
const Release& release() {
#if WARPGRIND_NVRTC_MAJOR == 12
  static constexpr int kArchitectures[] = {50, 52, 53, 60, 61,  62,  70,  72,  75, 80,
                                           86, 87, 89, 90, 100, 101, 103, 120, 121};
  static constexpr Release kRelease = {12, 9, 86, kArchitectures, 52};
#else
  static constexpr int kArchitectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  static constexpr Release kRelease = {13, 0, 88, kArchitectures, 75};
#endif
  return kRelease;
}

}  // namespace warpgrind::nvrtc
