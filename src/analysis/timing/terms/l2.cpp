// L2 terms: bytes and lines read, and bytes written, for the whole GPU and through the ports of the busy SMs. Also
// writes of a part of a sector, which L2 must merge, and the translation of addresses on the way to L2.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {

void add_l2_terms(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const TimingConstants& c = s.model.timing;
  if (s.model.l2_bytes == 0) return;
  const double read = w.l2_read_sectors * kSectorBytes, written = w.l2_write_sectors * kSectorBytes;
  // Copies have their own way (terms/copies.cpp).
  const double copied = w.copy_load_bytes + w.copy_store_bytes;
  t[Limit::l2_bandwidth] =
      std::max(read / c.l2_read_gbps, w.l2_read_lines / c.l2_lines_per_ns) + written / c.l2_write_gbps;
  // Each SM translates its own requests.
  t[Limit::translation] = s.cycles(w.translation_misses / s.placed.busy_sms * c.translation_miss_cycles);
  // A sector that is written in part takes a packet of its own: 2 cycles on an H200, where two SMs alone wrote a word
  // of 786,000 sectors in 402 us (minisweep's init_face of HeCBench).
  constexpr double kPartCycles = 2;
  const double whole = read + written - copied - w.partial_write_sectors * kSectorBytes;
  t[Limit::l2_port] = s.cycles(
      (std::max(0.0, whole) / c.l2_sm_bytes_per_cycle + w.partial_write_sectors * kPartCycles) / s.placed.busy_sms);
  // Sectors of one line that are written together have one rate, single sectors another.
  const double of_a_line = w.l2_write_lines > 0 ? w.l2_write_sectors / w.l2_write_lines : 4;
  const double spread = w.write_lines > 0 ? w.write_sectors / w.write_lines : 4;
  const double together = std::clamp(std::min(of_a_line, spread) - 1, 0.0, 1.0);
  const double rate = c.lone_partial_write_sectors_per_ns +
                      (c.partial_write_sectors_per_ns - c.lone_partial_write_sectors_per_ns) * together;
  t[Limit::partial_writes] = w.partial_write_sectors / rate;
}

}  // namespace warpgrind::timing
