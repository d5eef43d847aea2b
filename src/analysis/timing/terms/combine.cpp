// Combination of a kernel's terms into its time. The warps of an SM share its units and its part of the memory's
// bandwidth: they wait for each other (timing/queues.h). A warp alone takes its path. Very many warps take the time of
// the unit with the most work.
//
// Barriers make a block's warps walk in step. Then the blocks are the customers, and few blocks overlap less than many
// warps: a copy of 128 MiB through shared memory takes 72 us on an H200 in blocks of 256 threads, and 95 us in blocks
// of 1024.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "timing/queues.h"
#include "timing/terms/terms.h"
#include "timing/uneven.h"

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

// A launch's blocks are distributed while others run: almost the longer of the two.
constexpr double kBlocksNorm = 6;
// Queues expect warps that come at any time. They began together, and what one of them brings to L1 lets others go on
// at once, so they need the same unit at the same time, and then all another one: at least the norm of these times.
constexpr double kInPhases = 3;

struct Units {
  double sm = 0;      // of a scheduler: its issue slots, its pipes
  double mio = 0;     // of an SM: shared memory, L1, ...
  double memory = 0;  // of the GPU, or of an SM's way to it
};

// Instructions of all pipes share the issue slots. Passes through L1 and shared memory share a unit. A request waits
// for its translations before it takes its turn at L2, so these two add up (strided loads from 32 pages on an H200).
Units units(const Terms& t, const Setting& s) {
  Units u;
  u.sm = norm({t[Limit::issue], t[Limit::integer], t[Limit::fp32], t[Limit::fp64], t[Limit::special_functions],
               t[Limit::tensor]},
              s.fitted.pipes);
  u.mio = std::max({t[Limit::shared_throughput] + t[Limit::l1_throughput], t[Limit::texture],
                    t[Limit::constant_throughput], t[Limit::barriers]});
  u.memory =
      s.fitted.traffic *
      norm({t[Limit::dram_bandwidth], std::max(t[Limit::l2_bandwidth], t[Limit::atomics]) + t[Limit::translation],
            t[Limit::l2_port], t[Limit::partial_writes], t[Limit::host_link], t[Limit::peer_link]},
           s.fitted.requests);
  return u;
}

// What a load waits longer because L2's slices and the channels of DRAM are busy for a part of the time: their queues.
// On an H200 it is about 50 cycles x busy / (1 - busy) at L2: 32 dependent loads of each of 4 to 32 warps of all SMs
// took 188 to 540 ns a load, and 175 ns on idle slices.
double queues_of_memory(const Terms& t, const Setting& s, const LoadsOfPath& loads, double time) {
  constexpr double kBusiest = 0.98;
  const auto queue = [&](double service) {
    const double busy = std::min(kBusiest, service / time);
    return busy / (1 - busy);
  };
  return s.cycles(loads.rounds * s.placed.waves) *
         (s.fitted.dram_queue * loads.fresh * queue(t[Limit::dram_bandwidth]) +
          s.fitted.l2_queue * queue(t[Limit::l2_bandwidth] + t[Limit::translation]));
}

// Warps that keep the units of an SM busy: the time of one alone over that of the units for it.
double warps_at_once(const Terms& t, const Setting& s, const Units& u) {
  const double schedulers = std::max(1u, s.model.schedulers_per_sm);
  const double of_warp = std::max({u.sm / (schedulers * s.placed.warps_per_scheduler), u.mio / s.placed.warps_per_sm,
                                   u.memory / s.placed.warps_per_sm});
  return of_warp > 0 ? t[Limit::latency] / s.placed.waves / of_warp : 1;
}

double warps_in_queues(const Terms& t, const Setting& s, const Units& u, const LoadsOfPath& loads, double path) {
  const double warps = std::max(1.0, s.placed.resident * s.work.warps_per_block);
  const double schedulers = std::max(1u, s.model.schedulers_per_sm);
  const Station stations[] = {
      {u.sm, std::max(1.0, warps / schedulers)}, {u.mio, warps}, {u.memory, warps * s.placed.busy_sms}};
  return time_in_queues(path, stations, [&](double time) { return queues_of_memory(t, s, loads, time); });
}

// The same where the warps of a block walk in step.
double blocks_in_queues(const Terms& t, const Setting& s, const Units& u, const LoadsOfPath& loads, double path) {
  const double warps = std::max(1.0, s.work.warps_per_block), blocks = s.placed.resident;
  const double schedulers = std::max(1u, s.model.schedulers_per_sm);
  const Station inside[] = {
      {u.sm / blocks, std::max(1.0, warps / schedulers)}, {u.mio / blocks, warps}, {u.memory / blocks, warps}};
  const double block = time_in_queues(path, inside);
  if (blocks <= 1) return block;
  const Station between[] = {{u.sm, blocks}, {u.mio, blocks}, {u.memory, blocks}};
  return time_in_queues(block, between, [&](double time) { return queues_of_memory(t, s, loads, time); });
}

// A grid of one wave whose blocks have one barrier works in two phases: all blocks wait for memory, and then all use
// shared memory. So shared memory overlaps only with the part of the path behind the loads. Measured on an H200: a tile
// that is read with 8-way bank conflicts takes 10.3 us and without them 7.3 us; their wavefronts take 3.5 us.
double two_phases(const Terms& t, const Setting& s) {
  constexpr double kOneBarrier = 1.5, kOneWave = 1.01;
  const LaunchWork& w = s.work;
  if (w.copy_loads > 0 || w.barriers <= 0 || w.barriers >= kOneBarrier || s.placed.waves >= kOneWave) return 0;
  const double behind_loads = std::min(t[Limit::latency], s.cycles(w.path_0));
  return norm({t[Limit::shared_throughput], behind_loads}, kInPhases) + t[Limit::latency] - behind_loads;
}

// An SM that holds one block of a ring does one thing after another: it waits for the first copy, multiplies, and
// stores its sums. The rungs of hgemm of 1024 on an H200: 2 us more than those that store by tensor copies.
double one_ring_after_another(const Terms& t, const Setting& s) {
  if (s.work.copy_turns <= 0 || s.placed.resident > 1 || t[Limit::tensor] <= 0) return 0;
  const double stores = s.cycles(s.work.l1_store_passes * s.model.timing.l1_pass_cycles * s.placed.share);
  return t[Limit::tensor] + stores + s.cycles(first_copy_cycles(s)) * s.placed.waves;
}

// Blocks are distributed while others run. The last one begins when all are distributed: 1,056 blocks take an H200
// 0.55 us longer than 132, whatever they do (tests/h200/short_launches.cu). Empty ones have to wait until the last wave
// of the others runs. An exchange of 2^26 numbers of which 3 of 4 blocks are empty takes 308 us on an H200: 150 us for
// its traffic, and 0.7 ns for each empty block.
double with_distribution(double core, const Terms& t, const Setting& s) {
  const double blocks = std::max(1.0, s.work.blocks), working = blocks - s.work.empty_blocks;
  const double waves = std::max(1.0, working / std::max(1.0, s.placed.resident * s.placed.busy_sms));
  const double all = t[Limit::block_launch], empty = all * s.work.empty_blocks / blocks;
  const double behind_first = all * std::max(0.0, 1 - s.model.sm_count / blocks);  // each SM has a first one
  return std::max({norm({core, all}, kBlocksNorm), behind_first + t[Limit::latency] / s.placed.waves,
                   norm({core, all - empty}, kBlocksNorm) + empty - core / waves});
}

}  // namespace

double combine(const Terms& t, const Setting& s) {
  const Units u = units(t, s);
  const LoadsOfPath loads = loads_of_path(s);
  // The tensor memory accelerator copies while warps wait for it.
  const double path = std::max(t[Limit::latency], t[Limit::copies]);
  double core = std::max(warps_in_queues(t, s, u, loads, path), norm({u.sm, u.mio, u.memory, path}, kInPhases));
  if (s.work.barriers > 0 && s.work.copy_loads == 0) core = std::max(core, blocks_in_queues(t, s, u, loads, path));
  core = std::max({core, two_phases(t, s), one_ring_after_another(t, s)}) * unevenness(s.work, warps_at_once(t, s, u));
  return with_distribution(core, t, s) + t[Limit::instruction_fetch] +
         t[Limit::migration];  // all warps wait while pages migrate
}

}  // namespace warpgrind::timing
