// Combination of a kernel's terms into its time. Concurrent parts overlap better with more warps. The model is a norm
// (a^p + b^p)^(1/p). With one warp per scheduler p is near 1 (a sum). With many it grows to the measured value (latency
// against bandwidth on an H200: 1.7 for DRAM, 2.4 for L2).
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// Shortcut: the norm of a single nonzero part is that part. Most parts of most kernels are 0, and pow() took a
// twentieth of an empty launch.
double norm(std::initializer_list<double> parts, double p) {
  if (std::count(parts.begin(), parts.end(), 0.0) + 1 >= std::ssize(parts)) return std::max(parts);
  double sum = 0;
  for (const double x : parts)
    if (x != 0) sum += std::pow(x, p);
  return std::pow(sum, 1 / p);
}

// DRAM and L2 handle the same requests one after the other, mostly overlapped. The front end that distributes blocks
// runs concurrently with everything, so the result is almost the longer of the two.
constexpr double kMemoryNorm = 4, kBlocksNorm = 6;
// Exponents of kernels whose traffic is bulk and tensor copies, which go on beside waiting warps and products (rows of
// an H200).
constexpr double kBesideCopies = 2, kCopiesShare = 4;

// Part of the traffic with L2 that bulk and tensor copies make, 0 to 1; 1 from half of it on.
double part_of_copies(const LaunchWork& w) {
  const double copied = w.copy_load_bytes + w.copy_store_bytes;
  return std::min(1.0, 2 * copied / std::max(1.0, (w.l2_read_sectors + w.l2_write_sectors) * kSectorBytes));
}

// A grid of one wave whose blocks have one barrier works in two phases: all blocks wait for memory, and then all use
// shared memory. So shared memory overlaps only with the part of the path behind the loads. Measured on an H200: a tile
// that is read with 8-way bank conflicts takes 10.3 us and without them 7.3 us; their wavefronts take 3.5 us.
bool has_two_phases(const Setting& s) {
  constexpr double kOneBarrier = 1.5, kOneWave = 1.01;
  return s.work.copy_loads == 0 && s.work.barriers > 0 && s.work.barriers < kOneBarrier && s.placed.waves < kOneWave;
}
double two_phases(const Terms& t, const Setting& s, double overlap) {
  const double behind_loads = std::min(t[Limit::latency], s.cycles(s.work.path_0));
  return norm({t[Limit::shared_throughput], behind_loads}, overlap) + t[Limit::latency] - behind_loads;
}

// An SM that holds one block of a ring does one thing after another: it waits for the first copy, multiplies, and
// stores its sums. The rungs of hgemm of 1024 on an H200: 2 us more than those that store by tensor copies.
double one_ring_after_another(const Terms& t, const Setting& s) {
  if (s.work.copy_turns <= 0 || s.placed.resident > 1 || t[Limit::tensor] <= 0) return 0;
  const double stores = s.cycles(s.work.l1_store_passes * s.model.timing.l1_pass_cycles * s.placed.share);
  return t[Limit::tensor] + stores + s.cycles(first_copy_cycles(s)) * s.placed.waves;
}

}  // namespace

double combine(const Terms& t, const Setting& s) {
  // Within a group the longest term counts: instructions of all pipes share the issue slots, and passes through L1 and
  // shared memory share a unit.
  const double sm = std::max({t[Limit::issue], t[Limit::integer], t[Limit::fp32], t[Limit::fp64],
                              t[Limit::special_functions], t[Limit::tensor]});
  const double mio = std::max({t[Limit::shared_throughput] + t[Limit::l1_throughput], t[Limit::texture],
                               t[Limit::constant_throughput], t[Limit::barriers]});
  // A request waits for its translations before it takes its turn at L2, so these two add up (strided loads from 32
  // pages on an H200).
  const double memory =
      norm({t[Limit::dram_bandwidth], t[Limit::l2_bandwidth] + t[Limit::translation], t[Limit::l2_port],
            t[Limit::partial_writes], t[Limit::atomics], t[Limit::host_link], t[Limit::peer_link]},
           kMemoryNorm);
  const double many = std::log(s.placed.resident_warps) / std::log(16.0);  // 0: one warp per scheduler, 1: sixteen
  const auto with_copies = [&](double alone, double exponent) {
    return std::max(alone, alone + (exponent - alone) * part_of_copies(s.work));
  };
  const double overlap = with_copies(s.fitted.overlap_one + (s.fitted.overlap_many - s.fitted.overlap_one) * many,
                                     kBesideCopies * (1 + many));
  const double sharing = with_copies(1 + (s.fitted.sharing - 1) * std::min(1.0, 0.25 + many), kCopiesShare);
  const double throughput = norm({sm, mio, memory}, sharing);
  // The unit copies while warps wait for it: almost the longer of the two.
  const double waits = norm({t[Limit::latency], t[Limit::copies]}, kBlocksNorm);
  double core = norm({throughput, waits}, overlap);
  if (has_two_phases(s)) core = std::max(core, two_phases(t, s, overlap));
  core = std::max(core, one_ring_after_another(t, s));
  return norm({core, t[Limit::block_launch]}, kBlocksNorm) + t[Limit::instruction_fetch] +
         t[Limit::migration];  // all warps wait while pages migrate
}

}  // namespace warpgrind::timing
