// What one GPU's L2 holds from launch to launch: which allocations its last kernels went through, and what of it has
// still to be written back.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gpu/gpu_model.h"
#include "timing/terms/terms.h"

namespace warpgrind::timing {

class L2Contents {
 public:
  explicit L2Contents(const GpuModel& model) : model_(model) {}
  using Stretches = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // first address, bytes

  // As a launch finds it that touches these allocations. kernel: whatever tells its code from that of others.
  L2State before(const Stretches& allocations, const void* kernel = nullptr) const;
  // It has run: of them together it touched `bytes`; lines for `allocated` bytes took the place of others.
  void after_launch(const Stretches& allocations, double bytes, double allocated, const void* kernel = nullptr);
  // A fill or copy on the device has written `bytes` there.
  void after_write(std::uint64_t address, double bytes);
  // The cache now holds only clean lines of a buffer that no later launch reads.
  void after_flush();

 private:
  const GpuModel& model_;
  double touched_ = 0;  // bytes, since the beginning
  double dirty_ = 0;
  std::map<const void*, double> code_;    // by kernel: likewise
  std::map<std::uint64_t, double> last_;  // by first address: `touched_` before it was gone through the last time
};

}  // namespace warpgrind::timing
