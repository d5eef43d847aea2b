// How the terms of a kernel add up. Parts that run beside each other hide each other the better the more warps there
// are: a norm (a^p + b^p)^(1/p), whose exponent grows from nearly a sum with one warp a scheduler to what was measured
// with many (latency against bandwidth on an H200: 1.7 for DRAM, 2.4 for L2).
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// One part alone is its own norm: most parts of most kernels are 0, and powers took a twentieth of an empty launch.
double norm(std::initializer_list<double> parts, double p) {
  if (std::count(parts.begin(), parts.end(), 0.0) + 1 >= std::ssize(parts)) return std::max(parts);
  double sum = 0;
  for (const double x : parts)
    if (x != 0) sum += std::pow(x, p);
  return std::pow(sum, 1 / p);
}

// DRAM and L2 work on the same requests one after the other, mostly hidden. The front end that hands out blocks runs
// beside everything: almost the longer of the two.
constexpr double kMemoryNorm = 4, kBlocksNorm = 6;

}  // namespace

double combine(const Terms& t, const Setting& s) {
  // An instruction of any pipe also takes an issue slot, and a pass through L1 or shared memory the same unit: inside
  // such a group the longest counts.
  const double sm = std::max({t[Limit::issue], t[Limit::integer], t[Limit::fp32], t[Limit::fp64],
                              t[Limit::special_functions], t[Limit::tensor]});
  const double mio = std::max({t[Limit::shared_throughput] + t[Limit::l1_throughput], t[Limit::texture],
                               t[Limit::constant_throughput], t[Limit::barriers]});
  const double memory = norm({t[Limit::dram_bandwidth], t[Limit::l2_bandwidth], t[Limit::l2_port],
                              t[Limit::partial_writes], t[Limit::atomics], t[Limit::host_link], t[Limit::peer_link]},
                             kMemoryNorm);
  const double many = std::log(s.placed.resident_warps) / std::log(16.0);  // 0: one warp a scheduler, 1: sixteen
  const double overlap = s.fitted.overlap_one + (s.fitted.overlap_many - s.fitted.overlap_one) * many;
  const double sharing = 1 + (s.fitted.sharing - 1) * std::min(1.0, 0.25 + many);
  const double throughput = norm({sm, mio, memory}, sharing);
  const double core = norm({throughput, t[Limit::latency]}, overlap);
  return norm({core, t[Limit::block_launch]}, kBlocksNorm) + t[Limit::instruction_fetch] +
         t[Limit::migration];  // while pages move, all warps wait for them
}

}  // namespace warpgrind::timing
