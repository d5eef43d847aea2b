// Contents of one GPU's L2 between launches: the memory that the last kernels accessed, and the amount of dirty data. A
// launch finds there only what earlier ones touched, not the rest of their allocations: programs keep many arrays in
// one allocation, and read a small part of a large array before all of it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "gpu/gpu_model.h"
#include "timing/terms/terms.h"

namespace warpgrind::timing {

class L2Contents {
 public:
  explicit L2Contents(const GpuModel& model) : model_(model) {}
  struct Span {
    std::uint64_t begin = 0, end = 0;  // addresses
    double bytes = 0;                  // touched between them
  };
  using Spans = std::vector<Span>;

  // State before a launch that touches these spans. kernel: any pointer that identifies its code.
  L2State before(const Spans& spans, const void* kernel = nullptr) const;
  // The launch has run. bytes: touched in all these spans together. allocated: bytes of new lines, which evicted
  // others.
  void after_launch(const Spans& spans, double bytes, double allocated, const void* kernel = nullptr);
  // A fill on the device has written `bytes` at the address.
  void after_write(std::uint64_t address, double bytes) {
    after_write({address, address + static_cast<std::uint64_t>(bytes), bytes});
  }
  // A copy within the device has read and written. Both sides stay in L2. Copies from and to the host leave nothing
  // there (lab/results/h200/after_copies.csv).
  void after_copy(const Span& from, const Span& to);
  // The cache now holds only clean lines of a buffer that no later launch reads.
  void after_flush();

 private:
  struct Region {
    std::uint64_t end = 0;
    double used = 0;     // `touched_` before its last use
    double density = 0;  // part of its bytes that was touched, 0 to 1
  };
  void after_write(const Span& span);
  void touch(const Span& span);
  void forget();

  const GpuModel& model_;
  double touched_ = 0;  // bytes, since the start
  double dirty_ = 0;
  std::map<const void*, double> code_;       // by kernel: `touched_` before its last launch
  std::map<std::uint64_t, Region> regions_;  // by first address; disjoint
};

}  // namespace warpgrind::timing
