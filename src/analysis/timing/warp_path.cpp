// Walk of a warp through its machine code, block by block.
#include "timing/warp_path.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/assert.h"
#include "base/wrapping.h"
#include "timing/schedule.h"

namespace warpgrind::timing {

// A block of a loop is unrolled as ptxas does: the rounds follow each other, and the loop's counter, comparison and
// branch appear only once.
struct ScheduledBlocks::Block {
  unsigned rounds = 0;  // 0: not scheduled yet
  sass::Block unrolled;
  std::optional<Dependences> dependences;  // of `unrolled`
  // For these costs; empty: only executed blocks are ordered, because long ones take time.
  std::vector<std::uint32_t> order;
  Costs costs;
  // Cycles of the block alone in this order, by latency, for these costs. Kernels that are launched again and again
  // differ in few blocks.
  struct Alone {
    Costs costs;
    double cycles = 0;
  };
  std::array<Alone, kPathLatencies.size()> alone;
};

ScheduledBlocks::ScheduledBlocks() = default;
ScheduledBlocks::~ScheduledBlocks() = default;

ScheduledBlocks::Block& ScheduledBlocks::block(std::size_t number) {
  if (number >= blocks_.size()) blocks_.resize(number + 1);
  if (!blocks_[number]) blocks_[number] = std::make_unique<Block>();
  return *blocks_[number];
}

namespace {

using sass::Instruction;
using sass::Pipe;

// Most instructions of a walk. Rounds of a loop beyond it take the average time of the walked ones.
constexpr std::size_t kMostInstructions = 4000;
// Part of the warps that a walk follows at least.
constexpr double kFewest = 0.02;
constexpr long kMostLoopRounds = 8;  // largest unroll factor
// Least cycles of an atomic with a result: it always goes to L2.
constexpr double kLeastAtomic = 300;
// Registers of a thread that hold no value of the model: the stack pointer, addresses, and what ptxas cannot use.
constexpr double kOwnWords = 10;
// A fence beyond the block holds its warp: 16 of them took 2.0 us on an H200, and 16 stores with a fence each 3.1 us.
constexpr double kFence = 250;

class Walk {
 public:
  Walk(const GpuModel& model, const sass::Code& code, const sass::Flow& flow, const PathShape& shape,
       const SiteFacts& sites, ScheduledBlocks& kept)
      : model_(model),
        code_(code),
        flow_(flow),
        warps_(shape.warps),
        warps_per_block_(shape.warps_per_block),
        sites_(sites) {
    const TimingConstants& c = model.timing;
    const double words = std::max(0.0, shape.registers - kOwnWords);
    costs_.barrier = c.barrier_cycles + c.barrier_cycles_per_warp * warps_per_block_;
    costs_.doublings = std::log2(std::max(1.0, warps_per_block_));
    costs_.branch = 2 * c.integer_latency_cycles;  // its stall count (5) and the fetch at the target
    costs_.predicate = predicate_cycles(model);
    find_pipes();
    find_slow_paths();
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
      ScheduledBlocks::Block& block = kept.block(b);
      blocks_.push_back(&block);
      if (const unsigned rounds = rounds_of(b); block.rounds != rounds) unroll(b, rounds, block);
      if (flow.warps[b] <= 0) continue;
      Costs now = costs(b, c.l1_latency_cycles);
      if (!block.order.empty() && now == block.costs) continue;
      block.order = order_of(*block.dependences, now, code.registers, words);
      block.costs = std::move(now);
      block.alone = {};
    }
  }

  struct Cycles {
    double mean = 0, slowest = 0, last = 0;  // as in WarpPath
    bool in_each_block = false;
  };
  // number: of the latency in kPathLatencies.
  Cycles cycles_with(std::size_t number) {
    const double latency = kPathLatencies[number];
    std::map<std::uint32_t, std::vector<double>> taken;
    double total = walk(latency, taken), heaviest = 0;
    std::uint32_t heavy = sass::kNone;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      const double times = flow_.warps[b] / warps_;
      if (times <= 0) continue;
      const double cycles = of_block(b, times, taken[b], number);
      total += cycles;
      if (cycles > heaviest) heaviest = cycles, heavy = b;
    }
    if (heavy == sass::kNone) return {total, 0, last_block(number), false};
    const double entering = entering_part(heavy), slowest = heaviest * more_than_mean(entering);
    // Where many warps enter it, all warps of some thread blocks may do so, and none of the others.
    constexpr double kFew = 0.5;
    const bool in_each = entering < kFew && entering * warps_per_block_ >= 1;
    return {total, slowest, last_block(number), in_each};
  }

 private:
  unsigned rounds_of(std::uint32_t b) const {
    const double share = b < flow_.loop_share.size() ? flow_.loop_share[b] : 1;
    WG_ASSERT(share >= 0 && share <= 1);
    const auto rounds = share > 0 ? static_cast<unsigned>(std::clamp(std::lround(1 / share), 1L, kMostLoopRounds)) : 1u;
    return code_.blocks[b].instructions.size() * rounds > kMostInstructions ? 1 : rounds;
  }
  void unroll(std::uint32_t b, unsigned rounds, ScheduledBlocks::Block& out) const {
    out.rounds = rounds;
    out.order.clear();
    out.unrolled = {};
    for (unsigned round = 0; round < rounds; ++round)
      for (const Instruction& i : code_.blocks[b].instructions) {
        if (i.of_loop && round + 1 < rounds) continue;
        out.unrolled.instructions.push_back(i);
        place_in_round(out.unrolled.instructions.back().place, round);
      }
    out.unrolled.entering_words = code_.blocks[b].entering_words;
    out.unrolled.leaving = code_.blocks[b].leaving;
    out.dependences.emplace(out.unrolled, code_.register_words);
  }

  // Places that move by an unknown step have another base in each round.
  static void place_in_round(sass::MemoryPlace& place, unsigned round) {
    constexpr std::uint32_t kBases = 1u << 20;  // more than a block has
    if (place.base == sass::kNone) return;
    if (place.step)
      place.offset = wrapping_add(place.offset, wrapping_multiply(*place.step, round));
    else
      place.base += round * kBases;
  }

  static double predicate_cycles(const GpuModel& model) {
    return model.cc_major >= 7 ? sass::kPredicateCycles : model.timing.integer_latency_cycles;
  }

  // Cycles that a warp instruction occupies a pipe narrower than a warp, on one of the SM's schedulers.
  void find_pipes() {
    const TimingConstants& c = model_.timing;
    const double warp = static_cast<double>(kWarpSize) * std::max(1u, model_.schedulers_per_sm);
    const auto set = [&](Pipe pipe, double lanes) {
      if (lanes > 0) costs_.busy[static_cast<std::size_t>(pipe)] = std::max(1.0, warp / lanes);
    };
    set(Pipe::alu, c.integer_lanes);
    set(Pipe::imad, c.integer_multiply_lanes);
    set(Pipe::fma, c.fp32_lanes);
    set(Pipe::fp64, c.fp64_lanes);
    set(Pipe::xu, c.special_lanes);
    set(Pipe::shuffle, warp / 2);
  }

  double latency_of(const Instruction& i, double latency) const {
    const TimingConstants& c = model_.timing;
    if (i.on_pipe[static_cast<std::size_t>(sass::CountedPipe::tma)] > 0) return i.latency;  // the warp goes on
    const double fresh = i.site == sass::kNone ? 1 : sites_.waiting_part(i.site);
    if (const double loop = loop_of(i); loop > 0) return loop;
    if (i.pipe == Pipe::atomic_global && i.atomic && i.load) return std::max(latency, kLeastAtomic);
    if (i.pipe == Pipe::texture) return c.texture_latency_cycles + std::max(0.0, latency - c.l1_latency_cycles) * fresh;
    if (i.load && (i.pipe == Pipe::global || i.pipe == Pipe::local))
      return latency > c.l1_latency_cycles ? c.l1_latency_cycles + (latency - c.l1_latency_cycles) * fresh : latency;
    return i.latency;
  }

  // A fence beyond the block also makes L1 forget its lines, which the texture pipe does.
  static bool fences_gpu(const Instruction& i) {
    return i.pipe == Pipe::fence && i.on_pipe[static_cast<std::size_t>(sass::CountedPipe::tex)] > 0;
  }

  // Cycles beyond its issue slots that an instruction holds its warp.
  double held(const Instruction& i) const {
    if (fences_gpu(i)) return kFence;
    if (i.pipe == Pipe::control) return i.function != 0 ? i.latency : 0;  // RET
    return i.branches ? std::max(0.0, double{i.latency} - i.issue) + slow_path_of(i) : loop_of(i);
  }

  // The slow path of a division is a chain of dependent instructions with many branches. On an H200, warps of which
  // most take it (mdh of HeCBench) spend 7.8 cycles on each of its instructions.
  void find_slow_paths() {
    constexpr double kCycles = 7.8;
    for (const sass::Flow::SlowPath& s : flow_.slow_paths) {
      const Instruction& i = code_.blocks[s.block].instructions[s.instruction];
      const double times = flow_.times(s.block, i);
      if (times > 0) slow_paths_[{i.facts_block, i.ptx}] = kCycles * static_cast<double>(s.counts.instructions) / times;
    }
  }
  double slow_path_of(const Instruction& i) const {
    const auto found = slow_paths_.find({i.facts_block, i.ptx});
    return found == slow_paths_.end() ? 0 : found->second;
  }

  // Cycles of an atomic on shared memory that is a loop; 0: it is none.
  double loop_of(const Instruction& i) const {
    if (i.pipe != Pipe::atomic_shared || i.site == sass::kNone) return 0;
    return sites_.loop_rounds(i.site) * model_.timing.shared_cas_latency_cycles;
  }

  // Cycles that a load's passes beyond the first keep L1 busy for its warp. On an H200, a load of 32 lines in L1 takes
  // a warp 69 cycles longer than one of one line, and four of them 270 (lab/results/h200/lines.csv). Other warps use L1
  // in between: of an SM's requests together, a pass takes one cycle.
  double passes_of(const Instruction& i) const {
    constexpr double kPass = 2.15;
    const bool loads = i.load && !i.atomic && (i.pipe == Pipe::global || i.pipe == Pipe::local);
    return loads && i.site != sass::kNone ? kPass * i.requests * std::max(0.0, sites_.passes(i.site) - 1) : 0;
  }

  // Only loads that go to DRAM differ much.
  double spread_of(const Instruction& i, double latency) const {
    constexpr double kL2 = kPathLatencies[2], kDram = kPathLatencies[3];
    if (!i.load || i.pipe != Pipe::global || latency <= kL2) return 0;
    const double part = i.site == sass::kNone ? 1 : sites_.waiting_part(i.site);
    return kSpreadOfDram * part * std::min(1.0, (latency - kL2) / (kDram - kL2));
  }

  Costs costs(std::uint32_t b, double latency) const {
    Costs c = costs_;
    const std::vector<Instruction>& instructions = blocks_[b]->unrolled.instructions;
    for (std::vector<double>* of : {&c.latency, &c.held, &c.passes, &c.spread}) of->reserve(instructions.size());
    for (const Instruction& i : instructions) {
      c.latency.push_back(latency_of(i, latency));
      c.held.push_back(held(i));
      c.passes.push_back(passes_of(i));
      c.spread.push_back(spread_of(i, latency));
    }
    return c;
  }

  // Walks from the kernel's entry. At each branch it takes the edge with the most warps that are not yet accounted for.
  // Returns the cycles by which the slowest warp of a block ends later: its loads since the last barrier came later. On
  // an H200, blocks of 32 warps that read one line each take 1,730 cycles, and 1,370 would be estimated. Blocks of 8
  // warps, of which an SM has more, show no such time (lab/results/h200/tiles.csv, read 2048 256 32 1 and 2048 256 8
  // 1).
  double walk(double latency, std::map<std::uint32_t, std::vector<double>>& taken) {
    constexpr double kAtEnd = 2, kDoublings = 3;
    std::map<std::pair<std::uint32_t, std::size_t>, double> used;
    std::map<std::uint32_t, Costs> known;
    Ready ready(code_.registers);
    double now = 0;
    std::size_t instructions = 0;
    for (std::uint32_t b = code_.entry; instructions < kMostInstructions;) {
      const auto cost = known.try_emplace(b).first;
      if (cost->second.latency.empty()) cost->second = costs(b, latency);
      const double end = issue_in_order(*blocks_[b]->dependences, blocks_[b]->order, cost->second, now, ready);
      const unsigned rounds = blocks_[b]->rounds;
      taken[b].insert(taken[b].end(), rounds, (end - now) / rounds);
      now = end;
      instructions += blocks_[b]->unrolled.instructions.size() + 1;
      for (std::size_t k = 0; rounds > 1 && k < code_.blocks[b].successors.size(); ++k)
        if (code_.blocks[b].successors[k].to == b) used[{b, k}] += rounds - 1;
      const std::size_t way = next(b, used, taken);
      if (way == kNowhere) break;
      used[{b, way}] += 1;
      b = code_.blocks[b].successors[way].to;
      WG_ASSERT(b < code_.blocks.size());
    }
    return kAtEnd * ready.slowest() * std::max(0.0, costs_.doublings - kDoublings);
  }

  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t next(std::uint32_t b, const std::map<std::pair<std::uint32_t, std::size_t>, double>& used,
                   const std::map<std::uint32_t, std::vector<double>>& taken) const {
    std::size_t best = kNowhere;
    double most = kFewest;
    for (std::size_t k = 0; k < code_.blocks[b].successors.size(); ++k) {
      const std::uint32_t to = code_.blocks[b].successors[k].to;
      const auto spent = used.find({b, k});
      double left = flow_.edges[b][k] / warps_ - (spent == used.end() ? 0 : spent->second);
      if (to != sass::Edge::kLeaves) {
        const auto visits = taken.find(to);
        left = std::min(
            left, flow_.warps[to] / warps_ - (visits == taken.end() ? 0 : static_cast<double>(visits->second.size())));
      } else {
        left = std::min(left, 0.5);
      }
      if (left > most) most = left, best = k;
    }
    if (best != kNowhere && code_.blocks[b].successors[best].to == sass::Edge::kLeaves) return kNowhere;
    return best;
  }

  // The first round of a loop also waits for values from before the loop; all other rounds take equal time.
  double of_block(std::uint32_t b, double times, const std::vector<double>& rounds, std::size_t latency) {
    if (rounds.empty())
      return times / blocks_[b]->rounds * alone(*blocks_[b], costs(b, kPathLatencies[latency]), latency);
    double sum = 0;
    for (const double r : rounds) sum += r;
    if (rounds.size() < 3 || times <= 1)
      return times * (rounds.size() < 3 ? sum / static_cast<double>(rounds.size()) : rounds[0]);
    return rounds[0] + (sum - rounds[0]) / static_cast<double>(rounds.size() - 1) * (times - 1);
  }

  // Cycles of a block without the values of other blocks.
  double alone(ScheduledBlocks::Block& block, Costs now, std::size_t latency) const {
    ScheduledBlocks::Block::Alone& known = block.alone[latency];
    if (known.costs.latency.empty() || known.costs != now) {
      Ready ready(code_.registers);
      known.cycles = issue_in_order(*block.dependences, block.order, now, 0, ready);
      known.costs = std::move(now);
    }
    return known.cycles;
  }

  // Part of the warps that enter a block, however often they run it.
  double entering_part(std::uint32_t b) const {
    const double times = flow_.warps[b] / warps_;
    if (times <= 1.5) return times;
    double entering = 0;
    for (std::uint32_t from = 0; from < code_.blocks.size(); ++from)
      for (std::size_t k = 0; k < code_.blocks[from].successors.size(); ++k)
        if (code_.blocks[from].successors[k].to == b && flow_.warps[from] < 0.5 * flow_.warps[b])
          entering += flow_.edges[from][k] / warps_;
    return entering;
  }

  // Extra share of the warps that enter a block which few enter: they take all of its time. A thread block lasts as
  // long as its slowest warp, which may be the only one to enter. kMost: for thread blocks of few warps; there it is a
  // part of the thread blocks that takes longer.
  double more_than_mean(double entering) const {
    constexpr double kMost = 4;
    return entering > kFewest && entering < 0.95 ? std::min(1 / entering, std::max(kMost, warps_per_block_)) - 1 : 0;
  }

  // Blocks that more warps reach than one thread block has.
  std::vector<bool> common_blocks() const {
    std::vector<bool> common(code_.blocks.size());
    std::vector<std::uint32_t> left = {code_.entry};
    common[code_.entry] = true;
    while (!left.empty()) {
      const std::uint32_t from = left.back();
      left.pop_back();
      for (std::size_t k = 0; k < code_.blocks[from].successors.size(); ++k) {
        const std::uint32_t to = code_.blocks[from].successors[k].to;
        if (to == sass::Edge::kLeaves || common[to] || flow_.edges[from][k] <= warps_per_block_) continue;
        common[to] = true;
        left.push_back(to);
      }
    }
    return common;
  }

  // Time of what one block does for all others, as the last one that arrives at a counter does (a reduction with a
  // ticket).
  double last_block(std::size_t latency) {
    if (warps_per_block_ > kFewest * warps_) return 0;
    const std::vector<bool> common = common_blocks();
    double entering = 0, cycles = 0;
    for (std::uint32_t from = 0; from < code_.blocks.size(); ++from)
      for (std::size_t k = 0; common[from] && k < code_.blocks[from].successors.size(); ++k) {
        const std::uint32_t to = code_.blocks[from].successors[k].to;
        if (to != sass::Edge::kLeaves && !common[to]) entering += flow_.edges[from][k];
      }
    if (entering <= 0 || entering > warps_per_block_) return 0;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (!common[b] && flow_.warps[b] > 0) cycles += of_block(b, flow_.warps[b] / entering, {}, latency);
    return cycles;
  }

  const GpuModel& model_;
  const sass::Code& code_;
  const sass::Flow& flow_;
  double warps_, warps_per_block_;
  Costs costs_;  // without the latencies
  const SiteFacts& sites_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> slow_paths_;  // mean cycles; by PTX block and instruction
  std::vector<ScheduledBlocks::Block*> blocks_;
};

}  // namespace

WarpPath warp_path(const GpuModel& model, const sass::Code& code, const sass::Flow& flow, const PathShape& shape,
                   const SiteFacts& sites, ScheduledBlocks& kept) {
  WarpPath path;
  if (code.blocks.empty() || shape.warps <= 0) return path;
  WG_ASSERT(flow.warps.size() == code.blocks.size() && flow.edges.size() == code.blocks.size());
  Walk walk(model, code, flow, shape, sites, kept);
  for (std::size_t k = 0; k < kPathLatencies.size(); ++k) {
    const auto at = walk.cycles_with(k);
    path.cycles[k] = at.mean, path.slowest[k] = at.slowest, path.last[k] = at.last;
    path.in_each_block |= at.in_each_block;
  }
  return path;
}

}  // namespace warpgrind::timing
