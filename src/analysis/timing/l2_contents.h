// Contents of one GPU's L2 between launches: the allocations that the last kernels accessed, and the amount of dirty
// data.
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

  // State before a launch that touches these allocations. kernel: any pointer that identifies its code.
  L2State before(const Stretches& allocations, const void* kernel = nullptr) const;
  // The launch has run. bytes: touched in all these allocations together. allocated: bytes of new lines, which evicted
  // others.
  void after_launch(const Stretches& allocations, double bytes, double allocated, const void* kernel = nullptr);
  // A fill or copy on the device has written `bytes` at the address.
  void after_write(std::uint64_t address, double bytes);
  // The cache now holds only clean lines of a buffer that no later launch reads.
  void after_flush();

 private:
  const GpuModel& model_;
  double touched_ = 0;  // bytes, since the start
  double dirty_ = 0;
  std::map<const void*, double> code_;    // by kernel: `touched_` before its last launch
  std::map<std::uint64_t, double> last_;  // by first address: `touched_` before its last use
};

}  // namespace warpgrind::timing
