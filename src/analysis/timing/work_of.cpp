// Work of a launch from its counts, machine code, modelled caches and the location of its memory.
#include "timing/work_of.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/as_double.h"
#include "base/assert.h"
#include "timing/polls.h"
#include "timing/stores_to_l2.h"
#include "timing/uneven.h"
#include "timing/warp_path.h"

namespace warpgrind::timing {
namespace {

using events::SiteKind;
using sass::Pipe;

class Reading {
 public:
  Reading(const LaunchSeen& l, const sass::Code& code)
      : l_(l), code_(code), flow_(without_polls(code, sass::flow_of(code, *l.facts, *l.counts))) {}

  LaunchWork run(const GpuModel& model, std::vector<double>& like, WarpPath& path, ScheduledBlocks& scheduled) {
    shape();
    find_aggregated();
    instructions();
    find_path(model, like, path, scheduled);
    for (std::size_t s = 0; s < l_.facts->sites.size() && s < l_.counts->sites.size(); ++s)
      site(static_cast<std::uint32_t>(s), l_.facts->sites[s], l_.counts->sites[s]);
    for (const StoresToL2& row : stores_to_l2(code_, *l_.facts, *l_.counts, l_.caches, warps_on_sm(model)))
      stores(row.cost, row.requests, true);
    if (w_.copy_loads > 0) ring();
    if (model.l2_bytes == 0)
      transactions();
    else if (l_.caches)
      caches();
    else
      without_caches();
    compare_and_swaps(model);
    add_shared_loops();
    spills(model);
    far_memory();
    return w_;
  }

 private:
  void shape() {
    w_.blocks = as_double(std::max<std::uint64_t>(1, l_.blocks));
    w_.threads_per_block = as_double(l_.threads_per_block);
    w_.warps_per_block = as_double((l_.threads_per_block + kWarpSize - 1) / kWarpSize);
    w_.resident_blocks = std::max(1u, l_.occupancy.blocks_per_sm);
    warps_ = std::max(1.0, as_double(l_.counts->warps_launched));
  }

  // Pipes that Nsight Compute does not count.
  double* pipe_of(Pipe pipe) {
    switch (pipe) {
      case Pipe::shuffle:
        return &w_.shuffles;
      case Pipe::barrier:
        return &w_.barriers;
      case Pipe::texture:
        return &w_.textures;
      case Pipe::tensor_half:
        return &w_.tensor_half;
      case Pipe::tensor_double:
        return &w_.tensor_double;
      default:
        return nullptr;
    }
  }

  // The slow ones of a pipe's own instructions take several of its turns.
  void add_pipes(const sass::Instruction& i, double executed) {
    using sass::CountedPipe;
    const auto on = [&](CountedPipe pipe) { return executed * i.on_pipe[static_cast<std::size_t>(pipe)]; };
    const bool floating = i.pipe == Pipe::fma || i.pipe == Pipe::fp64 || i.pipe == Pipe::xu;
    w_.register_reads += executed * i.register_reads;
    w_.alu += on(CountedPipe::alu) * (i.pipe == Pipe::alu ? i.work : 1);
    w_.fma += on(CountedPipe::fma);
    if (!floating) w_.integer_fma += on(CountedPipe::fma) * (i.pipe == Pipe::imad ? i.work : 1);
    if (i.pipe == Pipe::half) w_.fma += executed * i.issue * i.work;
    w_.fp64 += on(CountedPipe::fp64) * (i.pipe == Pipe::fp64 ? i.work : 1);
    w_.special += on(CountedPipe::xu) * (i.pipe == Pipe::xu ? i.work : 1);
  }

  double warps_on_sm(const GpuModel& model) const {
    return std::min(w_.resident_blocks, std::ceil(w_.blocks / std::max(1u, model.sm_count))) * w_.warps_per_block;
  }

  void find_aggregated() {
    aggregated_.resize(l_.facts->sites.size());
    for (const sass::Block& block : code_.blocks)
      for (const sass::Instruction& i : block.instructions)
        if (i.aggregated && i.site < aggregated_.size()) aggregated_[i.site] = true;
  }

  bool expects_bytes(const sass::Instruction& i) const {
    if (i.site >= l_.facts->sites.size() || l_.facts->sites[i.site].kind != SiteKind::mbarrier) return false;
    return l_.facts->sites[i.site].text.find("expect_tx") != std::string::npos;
  }

  void slow_paths() {
    constexpr double kRegisters = 2;  // operands of an instruction, as sass/register_reads.cpp assumes
    for (const sass::Flow::SlowPath& s : flow_.slow_paths) {
      w_.instructions += as_double(s.counts.instructions) / warps_;
      w_.register_reads += kRegisters * as_double(s.counts.instructions) / warps_;
      w_.alu += as_double(s.counts.alu) / warps_;
      w_.fma += as_double(s.counts.fma) / warps_;
      w_.fp64 += as_double(s.counts.fp64) / warps_;
      w_.special += as_double(s.counts.special) / warps_;
    }
  }

  void instructions() {
    slow_paths();
    for (std::size_t b = 0; b < code_.blocks.size(); ++b) {
      WG_ASSERT(b < flow_.warps.size());
      const double times = flow_.warps[b] / warps_;
      if (times <= 0) continue;
      const double copies = sass::copies_of(code_, flow_, b);
      for (const sass::Instruction& i : code_.blocks[b].instructions) {
        const double executed = flow_.times(b, i) / warps_, issued = executed * i.issue;
        w_.instructions += issued;
        // `issue` of a texture instruction includes the moves before it, which do not occupy the texture units.
        if (expects_bytes(i)) expected_ += flow_.times(b, i);
        add_pipes(i, executed);
        if (double* pipe = pipe_of(i.pipe)) *pipe += (i.pipe == Pipe::texture ? executed : issued) * i.work;
        w_.static_instructions += i.issue * (i.of_loop ? 1 : copies);
      }
    }
  }

  // Part of a site's loads that wait for L2.
  double waiting_part(std::uint32_t site) const {
    if (!l_.caches || site >= l_.caches->sites.size()) return 1;
    const events::SiteCaches& c = l_.caches->sites[site];
    return c.requests > 0 ? std::min(1.0, c.waiting_requests / c.requests) : 1;
  }

  // Passes of a site's loads through L1, for one request.
  double passes(std::uint32_t site) const {
    if (!l_.caches || site >= l_.caches->sites.size()) return 1;
    const events::SiteCaches& c = l_.caches->sites[site];
    return c.requests > 0 ? c.l1_passes / c.requests : 1;
  }

  // A floating-point atomic on shared memory is a loop around cas: a round for each lane on the same word. Warps whose
  // lanes all want one word contend for it, and tries fail. Then each success takes `turn` cycles, one after the other.
  // Measured on an H200: 16,384 float additions of a block to one word took 483 us (lab/results/h200/kinds.csv,
  // shared_float_atomics). A float sum of 256 threads takes a warp 742 instructions and 346 wavefronts: 93 tries
  // (expdist of HeCBench). A double sum of 128 threads: 604 instructions, 385 wavefronts, 88 tries (aop).
  struct LoopCosts {
    double turn, fails, instructions, wavefronts;  // fails: by each other warp; the last two: of a try
  };
  static constexpr LoopCosts kOfFloats = {58, 0.27, 8, 3.7}, kOfDoubles = {75, 0.58, 6.8, 4.4};
  struct SharedLoop {
    double rounds = 0;      // of a warp alone; 0: no such loop
    bool one_word = false;  // of all lanes
    const LoopCosts* costs = &kOfFloats;
  };
  SharedLoop shared_loop(std::uint32_t site) const {
    constexpr double kSame = 0.95;
    if (site >= l_.counts->sites.size()) return {};
    const events::Site& s = l_.facts->sites[site];
    const events::SiteCounts& c = l_.counts->sites[site];
    const bool atomic = s.kind == SiteKind::atomic || s.kind == SiteKind::reduction;
    if (!atomic || s.shared_atomic != SharedAtomic::loop || c.shared_requests == 0) return {};
    const double requests = as_double(c.shared_requests), wavefronts = as_double(c.shared.wavefronts) / requests;
    const bool wide = s.bytes() > 4;
    // A round takes two wavefronts for each half of the warp that is left. The first half of wide lanes ends first.
    const double rounds = std::max(1.0, wide ? (wavefronts - 1) / 3 : wavefronts / 2);
    return {rounds, rounds > kSame * as_double(c.shared_lanes) / requests, wide ? &kOfDoubles : &kOfFloats};
  }
  double loop_rounds(const GpuModel& model, std::uint32_t site) const {
    const SharedLoop loop = shared_loop(site);
    const double of_all = loop.costs->turn * w_.warps_per_block / std::max(1.0, model.timing.shared_cas_latency_cycles);
    return loop.one_word ? loop.rounds * std::max(1.0, of_all) : loop.rounds;
  }

  // What such loops execute, beyond the one instruction and two wavefronts a round that are counted.
  void add_shared_loops() {
    for (std::uint32_t s = 0; s < l_.facts->sites.size() && s < l_.counts->sites.size(); ++s) {
      const SharedLoop loop = shared_loop(s);
      if (loop.rounds <= 0) continue;
      const events::SiteCounts& c = l_.counts->sites[s];
      const double requests = as_double(c.shared_requests);
      const double tries = loop.rounds * (loop.one_word ? 1 + loop.costs->fails * (w_.warps_per_block - 1) : 1);
      w_.instructions += requests * tries * loop.costs->instructions / warps_;
      w_.shared_wavefronts += std::max(0.0, requests * tries * loop.costs->wavefronts - as_double(c.shared.wavefronts));
    }
  }

  // Launches of a kernel mostly have the same block counts; then the cached path is valid.
  void find_path(const GpuModel& model, std::vector<double>& like, WarpPath& p, ScheduledBlocks& scheduled) {
    std::vector<double> now;
    for (const double warps : flow_.warps) now.push_back(warps / warps_);
    for (std::uint32_t s = 0; s < l_.facts->sites.size(); ++s) {
      now.push_back(waiting_part(s));
      now.push_back(passes(s));
      now.push_back(loop_rounds(model, s));
    }
    now.push_back(w_.warps_per_block);
    if (now != like) {
      like = std::move(now);
      const std::uint32_t registers = l_.occupancy.registers_allocated_per_thread;
      p = warp_path(model, code_, flow_, {warps_, w_.warps_per_block, registers == 0 ? 32.0 : registers},
                    {[this](std::uint32_t s) { return waiting_part(s); }, [this](std::uint32_t s) { return passes(s); },
                     [this, &model](std::uint32_t s) { return loop_rounds(model, s); }},
                    scheduled);
    }
    w_.path_0 = p.cycles[0], w_.path_40 = p.cycles[1], w_.path_290 = p.cycles[2];
    w_.path_700 = p.cycles[3], w_.path_1000 = p.cycles[4];
    const events::BlockWork* const known = l_.counts->work.get();
    if (known) add_unevenness(w_, *known, model.sm_count);
    if (known && known->of_warps) return;
    w_.slowest_290 = p.slowest[2] + (known ? 0 : p.last[2]);
    w_.slowest_700 = p.slowest[3] + (known ? 0 : p.last[3]);
    if (known || !p.in_each_block) return;
    // All waves last so long, not only the last one.
    double* const cycles[] = {&w_.path_0, &w_.path_40, &w_.path_290, &w_.path_700, &w_.path_1000};
    for (std::size_t k = 0; k < p.slowest.size(); ++k) *cycles[k] += p.slowest[k];
    w_.slowest_290 -= p.slowest[2], w_.slowest_700 -= p.slowest[3];
  }

  void site(std::uint32_t number, const events::Site& site, const events::SiteCounts& c) {
    w_.shared_wavefronts += as_double(c.shared.wavefronts);
    if (site.space == StateSpace::constant) {
      w_.constant_requests += as_double(c.global_requests);
      w_.constant_wavefronts += as_double(c.global.wavefronts);
      return;
    }
    if (site.kind == SiteKind::atomic || site.kind == SiteKind::reduction) return atomics(site, c, aggregated_[number]);
    if (site.kind == SiteKind::bulk_copy) copies(number, site, c);
    if (site.kind == SiteKind::store || (site.kind == SiteKind::bulk_copy && site.space == StateSpace::global)) {
      store_moved_ += as_double(c.global.bytes_moved) + kSectorBytes * as_double(c.local.sectors);
      stores(c.local, c.local_requests, false);
      return;
    }
    load_moved_ += as_double(c.global.bytes_moved) + kSectorBytes * as_double(c.local.sectors);
    load_sectors_ += as_double(c.global.sectors) + as_double(c.local.sectors);
    load_lines_ += as_double(c.global.lines) + as_double(c.local.lines);
    load_asked_ += as_double(c.global.bytes_asked) + as_double(c.local.bytes_asked);
    load_requests_ += as_double(c.global_requests) + as_double(c.local_requests);
  }

  void copies(std::uint32_t number, const events::Site& site, const events::SiteCounts& c) {
    const double n = as_double(c.global_requests), rows = as_double(c.global.lines);
    const double bytes = as_double(c.shared.bytes_asked);
    if (site.space == StateSpace::global) {
      reduces_ |= site.text.find("reduce") != std::string::npos;
      w_.copy_stores += n, w_.copy_store_rows += rows, w_.copy_store_bytes += bytes;
      return;
    }
    w_.copy_loads += n, w_.copy_load_rows += rows, w_.copy_load_bytes += bytes;
    new_copies_ += n * waiting_part(number);
    places_ += as_double(c.copy_places);
  }

  // Copies that fill the same place wait for each other. Copies of one phase of an mbarrier (A and B of a product) fill
  // their places together; each phase begins by one lane's expect_tx.
  void ring() {
    w_.copy_new = new_copies_ / w_.copy_loads;
    if (places_ <= 0) return;
    const double phases = expected_ > 0 ? std::min(expected_, w_.copy_loads) : w_.copy_loads;
    w_.copy_turns = std::max(1.0, w_.copy_loads / places_);
    w_.copy_places = std::max(1.0, phases / w_.blocks / w_.copy_turns);
  }

  // aggregated: one lane adds for its warp.
  void atomics(const events::Site& site, const events::SiteCounts& c, bool aggregated) {
    const double requests = as_double(c.global_requests);
    const double sectors = aggregated ? requests : as_double(c.global.sectors);
    w_.atomic_sectors += sectors;
    w_.atomic_requests += requests;
    w_.atomic_lanes += aggregated ? requests : as_double(c.global_lanes);
    if (!site.no_return) returned_ += sectors;
    w_.atomic_returns = w_.atomic_sectors > 0 ? returned_ / w_.atomic_sectors : 0;
  }

  bool in_loop(std::uint32_t block) const {
    std::vector<std::uint32_t> left = {block};
    std::vector<bool> seen(code_.blocks.size());
    while (!left.empty()) {
      const std::uint32_t from = left.back();
      left.pop_back();
      for (const sass::Edge& e : code_.blocks[from].successors) {
        if (e.to == block) return true;
        if (e.to == sass::Edge::kLeaves || seen[e.to]) continue;
        seen[e.to] = true;
        left.push_back(e.to);
      }
    }
    return false;
  }

  // Loops that try a compare-and-swap until it succeeds. Lanes and warps that want words of the same sector succeed one
  // after the other.
  void compare_and_swaps(const GpuModel& model) {
    if (w_.atomic_distinct_sectors <= 0) return;
    double requests = 0, lanes = 0, lines = 0;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      for (const sass::Instruction& i : code_.blocks[b].instructions) {
        if (!i.atomic || i.pipe != Pipe::atomic_global || i.site >= l_.counts->sites.size()) continue;
        if (l_.facts->sites[i.site].text.find(".cas") == std::string::npos || !in_loop(b)) continue;
        const events::SiteCounts& c = l_.counts->sites[i.site];
        requests += as_double(c.global_requests);
        lanes += as_double(c.global_lanes);
        lines += as_double(c.global.lines);
      }
    if (requests <= 0) return;
    // A warp whose `width` lanes want d words takes width / d rounds, each with the lanes that are left: (width + d) /
    // 2 of them on average.
    const double width = std::min(w_.threads_per_block, as_double(kWarpSize));
    const double words = std::clamp(2 * lanes / requests - width, 1.0, width);
    constexpr double kSectorsOfLine = 4;
    const double of_warp = std::min({words, kSectorsOfLine * lines / requests, w_.atomic_distinct_sectors});
    const double share = of_warp / w_.atomic_distinct_sectors;
    const double at_once = std::min(w_.blocks, std::max(1u, model.sm_count) * w_.resident_blocks) * w_.warps_per_block;
    w_.cas_turns = requests * share;
    w_.cas_warps = at_once * share;
  }

  // A row of adjacent elements may begin inside a sector; L2 merges such ends with those of the next row. All other
  // stores that do not fill their sectors are partial writes (also local memory of a divergent warp).
  void stores(const AccessCost& c, std::uint64_t requests, bool global) {
    if (requests == 0 || c.sectors == 0) return;
    const double sectors = as_double(c.sectors), lines = as_double(c.lines), n = as_double(requests),
                 asked = as_double(c.bytes_asked) / kSectorBytes;
    w_.l2_write_lines += lines;
    if (global && lines / n <= 2.01 && sectors / n <= 5.01) {
      w_.l2_write_sectors += std::min(sectors, asked + 1);
      return;
    }
    w_.l2_write_sectors += sectors;
    // If a fifth of the bytes is missing, nearly all sectors are written in part.
    w_.partial_write_sectors += sectors * std::min(1.0, 5 * std::max(0.0, 1 - asked / sectors));
  }

  void caches() {
    const events::CacheCounts& c = *l_.caches;
    w_.l1_load_passes = std::max(0.0, c.load_passes - passes_of_async_copies(c));
    w_.l1_store_passes = c.store_passes;
    w_.constant_span = c.constant_bytes;
    w_.l2_read_sectors = c.l2_read_sectors;
    w_.l2_read_lines = c.l2_read_lines;
    w_.translation_misses = c.translation_misses;
    w_.atomic_distinct_sectors = c.atomic_sectors;
    w_.atomic_hot_sector = c.atomics_of_floats;
    w_.atomic_hot_unit = c.atomics_in_unit;
    put(kRead, c.read);
    put(kWritten, c.written);
    add(kRead, whole(c.local_dram_read));
    add(kWritten, whole(c.local_dram_written));
    reductions(c.atomic_sectors);
    w_.partly_written_sectors = c.partly_written_sectors;
  }

  // cp.async writes to shared memory in the pass that brings its data, and those wavefronts are counted.
  double passes_of_async_copies(const events::CacheCounts& c) const {
    double passes = 0;
    for (std::size_t s = 0; s < c.sites.size() && s < l_.facts->sites.size(); ++s)
      if (l_.facts->sites[s].kind == SiteKind::async_copy) passes += c.sites[s].l1_passes;
    return passes;
  }

  // Bulk and tensor reductions read and write all of a sector.
  void reductions(double sectors) {
    if (!reduces_ || w_.atomic_sectors > 0) return;
    const double read[] = {sectors, sectors / 2, sectors / 4, sectors / 8, sectors / 16};
    for (std::size_t k = 0; k < std::size(read); ++k) w_.*kRead[k] += read[k], w_.*kWritten[k] += read[k];
  }

  // Spilled registers (sass/spills.h): local memory through L1, which writes through to L2. On an H200, 128-byte stores
  // of 19 kernels took 4.5 to 13 cycles of an SM; l2_write_gbps gives 7.1. A part of each load's latency is on the
  // warp's path: with it, a kernel of 2,658 such loads a warp is 4 to 6 times slower than without spills (8 on an
  // H100).
  void spills(const GpuModel& model) {
    if (l_.spills == nullptr || !l_.spills->any()) return;
    constexpr double kSectorsOfWord = 4;
    const sass::Spills::OfBlock n = sass::count_spills(*l_.spills, code_, flow_).all;
    w_.instructions += (n.loads + n.stores) / warps_;
    constexpr double kOnPath = 0.8;
    const double waits = kOnPath * n.loads / warps_ * model.timing.l1_latency_cycles;
    for (double* path : {&w_.path_0, &w_.path_40, &w_.path_290, &w_.path_700, &w_.path_1000}) *path += waits;
    w_.l1_load_passes += n.load_words;
    w_.l1_store_passes += n.store_words;
    const double misses =
        spilled_load_misses(model, w_, as_double(l_.spills->bytes), as_double(l_.occupancy.shared_config));
    w_.l2_read_sectors += kSectorsOfWord * n.load_words * misses;
    w_.l2_read_lines += n.load_words * misses;
    w_.l2_write_sectors += kSectorsOfWord * n.store_words;
    w_.l2_write_lines += n.store_words;
  }

  // Compute capability 1.x has no caches for global memory: every transaction goes to DRAM as a whole.
  void transactions() {
    w_.l1_load_passes = std::max(load_lines_, load_requests_);
    w_.l1_store_passes = w_.l2_write_lines;
    w_.partial_write_sectors = 0;
    w_.l2_read_sectors = load_moved_ / kSectorBytes;
    w_.l2_write_sectors = store_moved_ / kSectorBytes;
    w_.l2_read_lines = w_.l2_read_sectors / 4;
    w_.l2_write_lines = w_.l2_write_sectors / 4;
    if (l_.caches) w_.constant_span = l_.caches->constant_bytes;
    put(kRead, whole(w_.l2_read_sectors));
    put(kWritten, whole(w_.l2_write_sectors));
  }

  // Members of LaunchWork for the distinct memory that is read, or written.
  using Distinct = std::array<double LaunchWork::*, 5>;
  static constexpr Distinct kRead = {&LaunchWork::read_sectors, &LaunchWork::read_pieces, &LaunchWork::read_lines,
                                     &LaunchWork::read_pairs, &LaunchWork::read_fours};
  static constexpr Distinct kWritten = {&LaunchWork::write_sectors, &LaunchWork::write_pieces, &LaunchWork::write_lines,
                                        &LaunchWork::write_pairs, &LaunchWork::write_fours};
  void put(const Distinct& members, const events::DistinctStretches& s) {
    const double figures[] = {s.sectors, s.pieces, s.lines, s.pairs, s.quads};
    for (std::size_t k = 0; k < members.size(); ++k) w_.*members[k] = figures[k];
  }
  void add(const Distinct& members, const events::DistinctStretches& s) {
    const double figures[] = {s.sectors, s.pieces, s.lines, s.pairs, s.quads};
    for (std::size_t k = 0; k < members.size(); ++k) w_.*members[k] += figures[k];
  }
  // Counts for this many contiguous sectors.
  static events::DistinctStretches whole(double sectors) {
    return {sectors, sectors / 2, sectors / 4, sectors / 8, sectors / 16};
  }

  // Every load goes to L2, and reads beyond the footprint hit there.
  void without_caches() {
    w_.l1_load_passes = std::max(load_lines_, load_requests_);
    w_.l1_store_passes = w_.l2_write_lines;
    w_.l2_read_sectors = load_sectors_;
    w_.l2_read_lines = load_lines_;
    const bool rows =
        load_requests_ > 0 && load_lines_ / load_requests_ <= 2.01 && load_sectors_ / load_requests_ <= 5.01;
    if (rows) w_.l2_read_sectors = std::min(load_sectors_, load_asked_ / kSectorBytes);
    const double all = as_double(l_.footprint.device) / kSectorBytes;
    double read = w_.l2_read_sectors, written = w_.l2_write_sectors;
    if (all > 0) {
      written = std::min(written, all);
      read = std::min(read, std::max(all - written, 0.25 * all));
    }
    put(kRead, whole(read));
    put(kWritten, whole(written));
  }

  // Shares of the traffic below L1 that goes to other memory, 0 to 1.
  struct FarShares {
    double host_read = 0, host_write = 0, peer_read = 0, peer_write = 0;
  };

  // From the memory of each site. If that is unknown, the traffic is assumed proportional to the allocations' sizes.
  FarShares far_shares() const {
    FarShares f;
    if (!l_.far) {
      if (l_.footprint.host > 0)
        f.host_read = f.host_write = as_double(l_.footprint.host) / as_double(l_.footprint.total());
      return f;
    }
    double read = 0, written = 0;
    for (std::size_t s = 0; s < l_.facts->sites.size() && s < l_.counts->sites.size(); ++s) {
      const events::Site& site = l_.facts->sites[s];
      const events::SiteCounts& c = l_.counts->sites[s];
      if (site.space == StateSpace::constant) continue;
      const bool store = site.kind == SiteKind::store;
      double sectors = as_double(c.global.sectors);
      if (!store && l_.caches && s < l_.caches->sites.size())
        sectors = std::max(0.0, sectors - l_.caches->sites[s].l1_hit_sectors);
      (store ? written : read) += sectors + (store ? as_double(c.local.sectors) : 0);
      const events::FarAccesses far = s < l_.far->size() ? (*l_.far)[s] : events::FarAccesses{};
      (store ? f.host_write : f.host_read) += far.host * sectors;
      (store ? f.peer_write : f.peer_read) += far.peer * sectors;
    }
    for (double* share : {&f.host_read, &f.peer_read}) *share = read > 0 ? *share / read : 0;
    for (double* share : {&f.host_write, &f.peer_write}) *share = written > 0 ? *share / written : 0;
    return f;
  }

  // L2 does not cache memory behind a link: every access that misses L1 crosses the link.
  void far_memory() {
    w_.migrated_bytes = l_.migrated_bytes;
    const FarShares f = far_shares();
    const double read = w_.l2_read_sectors * kSectorBytes, written = w_.l2_write_sectors * kSectorBytes;
    w_.host_read_bytes = read * f.host_read;
    w_.host_write_bytes = written * f.host_write;
    w_.peer_bytes = read * f.peer_read + written * f.peer_write;
    w_.far_loads = std::min(1.0, f.host_read + f.peer_read);
    const double read_here = 1 - w_.far_loads, written_here = 1 - std::min(1.0, f.host_write + f.peer_write);
    for (const auto member : kRead) w_.*member *= read_here;
    for (const auto member : kWritten) w_.*member *= written_here;
    for (double* member : {&w_.l2_read_sectors, &w_.l2_read_lines}) *member *= read_here;
    for (double* member :
         {&w_.l2_write_sectors, &w_.l2_write_lines, &w_.partial_write_sectors, &w_.partly_written_sectors})
      *member *= written_here;
  }

  const LaunchSeen& l_;
  const sass::Code& code_;
  sass::Flow flow_;
  LaunchWork w_;
  double warps_ = 1;
  double load_sectors_ = 0, load_lines_ = 0, load_asked_ = 0, load_requests_ = 0, returned_ = 0;
  bool reduces_ = false;
  std::vector<bool> aggregated_;                       // by site
  double new_copies_ = 0, places_ = 0, expected_ = 0;  // of loading copies; warps that expected their bytes
  double load_moved_ = 0, store_moved_ = 0;            // bytes of transactions
};

}  // namespace

double spilled_load_misses(const GpuModel& model, const LaunchWork& work, double bytes, double shared_bytes) {
  const double on_sm = std::min(work.resident_blocks, std::ceil(work.blocks / std::max(1u, model.sm_count)));
  const double slots = on_sm * work.threads_per_block * bytes;
  const double shared = model.shared_carveouts.empty() ? 0 : shared_bytes;
  const double l1 = std::max(0.0, as_double(model.l1_bytes) - shared);
  return slots > 0 ? std::max(0.0, 1 - l1 / slots) : 0;
}

LaunchWork WorkReader::read(const LaunchSeen& launch) {
  static const sass::Code kNone;
  if (gone_.again()) kernels_.clear();
  Kernel& kernel = kernels_[launch.facts];
  return Reading(launch, launch.code ? *launch.code : kNone).run(model_, kernel.like, kernel.path, kernel.scheduled);
}

}  // namespace warpgrind::timing
