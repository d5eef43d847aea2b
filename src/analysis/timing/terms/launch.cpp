// Fixed costs of a launch: its way to the GPU, the first fetch of its code, and the rate at which blocks are
// distributed to the SMs.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {

// An H200 takes 1.50 us for a kernel that accesses no memory (tests/h200/short_launches.cu), and 1.76 us for one
// that stores a number.
double first_access_ns(const Setting& s) {
  const LaunchWork& w = s.work;
  const double accesses = w.l2_read_sectors + w.l2_write_sectors + w.atomic_sectors + w.host_read_bytes +
                          w.host_write_bytes + w.peer_bytes + w.migrated_bytes;
  return accesses > 0 ? s.fitted.first_access_ns : 0;
}

void add_launch_terms(Terms& t, const Setting& s) {
  const TimingConstants& c = s.model.timing;
  constexpr double kLargeBlock = 512;  // threads; larger blocks start more slowly (two fit on an SM)
  t[Limit::block_launch] = s.work.blocks * (s.work.threads_per_block > kLargeBlock ? c.block_ns_1024 : c.block_ns);
  // Code from DRAM takes fetch_ns per instruction, code in L2 cold_instruction_ns (measured with straight-line code).
  const double fetch = s.fitted.fetch_ns + (c.cold_instruction_ns - s.fitted.fetch_ns) * s.l2.code;
  t[Limit::instruction_fetch] = s.work.static_instructions * std::max(0.0, fetch);
  t[Limit::launch] = c.empty_kernel_ns + s.fitted.start_ns + first_access_ns(s);
}

}  // namespace warpgrind::timing
