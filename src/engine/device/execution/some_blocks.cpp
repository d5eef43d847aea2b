// Launches of only some blocks: conditions, choice of blocks and scaling of counts.
#include "device/execution/some_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/device_impl.h"
#include "device/execution/block_classes.h"
#include "device/execution/execution.h"
#include "device/execution/launch_results.h"

namespace warpgrind::device {

namespace {

bool may_be_global(StateSpace space) {
  return space == StateSpace::global || space == StateSpace::generic;
}

std::uint64_t scaled(std::uint64_t count, long double by) {
  return static_cast<std::uint64_t>(std::llround(static_cast<long double>(count) * by));
}

void scale(AccessCost& c, long double by) {
  std::uint64_t* const members[] = {&c.sectors,        &c.lines,          &c.transactions,    &c.bytes_moved,
                                    &c.bytes_asked,    &c.ideal_sectors,  &c.wavefronts,      &c.distinct_sectors,
                                    &c.distinct_lines, &c.bank_conflicts, &c.ideal_wavefronts};
  static_assert(sizeof members / sizeof *members == sizeof(AccessCost) / sizeof(std::uint64_t));
  for (std::uint64_t* n : members) *n = scaled(*n, by);
}

}  // namespace

std::string why_all_blocks(const Launch& launch, bool despite_data) {
  if (launch.config.cooperative) return "it is cooperative: its blocks wait for each other";
  if (launch.cluster_size > 1) return "its blocks form clusters";
  if (launch.cancellable) return "its blocks may take over the work of others (clusterlaunchcontrol)";
  if (launch.module->launches_kernels()) return "its module launches kernels from the device";
  for (const events::Site& site : launch.kernel->code->facts().sites) {
    if (!may_be_global(site.space)) continue;
    if (site.kind == SiteKind::atomic && !site.no_return)
      return "it uses the result of an atomic operation on global memory: a block may depend on other blocks";
    const bool ordered = site.is_volatile || site.order != events::MemoryOrder::weak;
    if (site.kind == SiteKind::load && ordered)
      return "it has volatile or ordered loads of global memory: its blocks may wait for each other";
  }
  return despite_data ? "" : launch.kernel->data_dependence();
}

void scale_counts(events::LaunchCounts& counts, std::uint64_t blocks, std::uint64_t ran) {
  const long double by = static_cast<long double>(blocks) / static_cast<long double>(std::max<std::uint64_t>(1, ran));
  for (events::SiteCounts& s : counts.sites) {
    for (std::uint64_t* n : {&s.requests, &s.lanes, &s.global_requests, &s.shared_requests, &s.local_requests,
                             &s.global_lanes, &s.shared_lanes, &s.local_lanes, &s.copy_places})
      *n = scaled(*n, by);
    for (AccessCost* cost : {&s.global, &s.shared, &s.local, &s.joint}) scale(*cost, by);
  }
  for (auto* list : {&counts.blocks, &counts.edges})
    for (events::BlockCounts& b : *list) {
      b.warps = scaled(b.warps, by);
      b.lanes = scaled(b.lanes, by);
    }
  for (std::uint64_t& n : counts.guard_lanes) n = scaled(n, by);
  for (events::BranchCounts& b : counts.branches)
    for (std::uint64_t* n : {&b.executed, &b.divergent, &b.taken_lanes, &b.taken}) *n = scaled(*n, by);
  for (events::SlowPathCounts& s : counts.slow_paths)
    for (std::uint64_t* n : {&s.warps, &s.instructions, &s.thread_instructions, &s.alu, &s.fma, &s.fp64, &s.special})
      *n = scaled(*n, by);
  counts.warps_launched = scaled(counts.warps_launched, by);
  counts.threads_launched = scaled(counts.threads_launched, by);
}

namespace {

constexpr unsigned kSpaces = 3;  // global, shared, local
// Totals of a kind of access: requests, and five costs in each space.
constexpr unsigned kOfSpace = 6;

unsigned group_of(const events::Site& site) {
  switch (events::access_type(site)) {
    case AccessType::load:
      return 0;
    case AccessType::store:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

BlockTotals totals_of(const events::LaunchCounts& counts, const events::KernelFacts& facts, std::uint64_t blocks) {
  BlockTotals out;
  out.blocks = blocks;
  double warps = 0, lanes = 0;
  for (std::size_t b = 0; b < facts.blocks.size() && b < counts.blocks.size(); ++b) {
    double instructions = 0;
    for (const std::uint32_t n : facts.blocks[b].by_class) instructions += n;
    warps += instructions * static_cast<double>(counts.blocks[b].warps);
    lanes += instructions * static_cast<double>(counts.blocks[b].lanes);
  }
  const auto add = [&](double value, double base) {
    out.values.push_back(value);
    out.bases.push_back(base);
  };
  add(warps, 0);
  add(lanes, 0);
  double executed = 0, divergent = 0;
  for (const events::BranchCounts& b : counts.branches) {
    executed += static_cast<double>(b.executed);
    divergent += static_cast<double>(b.divergent);
  }
  add(executed, 0);
  add(divergent, executed);
  std::array<double, 3 * kSpaces * kOfSpace> sums{};
  for (std::size_t s = 0; s < facts.sites.size() && s < counts.sites.size(); ++s) {
    const events::SiteCounts& c = counts.sites[s];
    double* to = &sums[group_of(facts.sites[s]) * kSpaces * kOfSpace];
    const AccessCost* const costs[] = {&c.global, &c.shared, &c.local};
    const std::uint64_t requests[] = {c.global_requests, c.shared_requests, c.local_requests};
    for (unsigned k = 0; k < kSpaces; ++k, to += kOfSpace) {
      to[0] += static_cast<double>(requests[k]);
      to[1] += static_cast<double>(costs[k]->sectors);
      to[2] += static_cast<double>(costs[k]->lines);
      to[3] += static_cast<double>(costs[k]->wavefronts);
      to[4] += static_cast<double>(costs[k]->bytes_asked);
      to[5] += static_cast<double>(costs[k]->bank_conflicts);
    }
  }
  for (std::size_t k = 0; k < sums.size(); ++k) add(sums[k], k % kOfSpace == 5 ? sums[k - 2] : 0);
  return out;
}

double disagreement(const std::vector<BlockTotals>& parts) {
  constexpr double kOfBase = 0.05;  // a total below this part of its base is related to that
  if (parts.size() < 2) return 0;
  double blocks = 0, worst = 0;
  for (const BlockTotals& p : parts) blocks += static_cast<double>(p.blocks);
  for (std::size_t k = 0; k < parts.front().values.size(); ++k) {
    double sum = 0, base = 0, variance = 0;
    for (const BlockTotals& p : parts) {
      sum += p.values[k];
      base += p.bases[k];
    }
    const double mean = sum / blocks, scale = std::max(sum, kOfBase * base) / blocks;
    if (scale <= 0) continue;
    for (const BlockTotals& p : parts) {
      const double n = static_cast<double>(p.blocks), off = (p.values[k] / n - mean) * n / blocks;
      variance += off * off;
    }
    const double count = static_cast<double>(parts.size());
    worst = std::max(worst, std::sqrt(variance * count / (count - 1)) / scale);
  }
  return worst;
}

namespace {

// Standard error below which the blocks of a class agree. Errors of counts are below 1 % then: the parts are four or
// more, and three standard errors are rare.
constexpr double kAgree = 0.0025;
constexpr unsigned kParts = 4;
// A class of a smaller part of the grid is not drawn in parts: 2 % of the blocks that differ by 25 % are 0.5 %.
constexpr double kSmallClass = 0.02;
// Blocks that have executed fewer warp instructions take less than a tenth of a second. Up to kTimesCheap times as many
// are drawn of them: a ninth of the blocks that differs is missed by 12 blocks in one of four launches, by 96 never.
constexpr double kCheap = 4e6;
constexpr std::uint64_t kTimesCheap = 8;
// From this part of the blocks on, the others run as well.
constexpr double kWorthLeavingOut = 0.5;

// A class of blocks with what is known of it.
struct Sampled {
  ClassDraw draw;
  std::uint64_t size = 0, ran = 0;
  events::LaunchCounts counts;
  std::vector<BlockTotals> parts;
};

}  // namespace

// Block 0 runs first: it decides which blocks are logged. The other logged blocks run as well, so that the modelled
// caches get the same input as in a whole launch. They are not counted, since they are not spread over the grid.
class SomeBlocks {
 public:
  using Run = std::function<void(std::vector<std::uint64_t> blocks, events::LaunchCounts& into)>;
  SomeBlocks(Launch& launch, std::uint64_t wanted, Run run)
      : launch_(launch), facts_(launch.kernel->code->facts()), run_(std::move(run)) {
    make_room(beside_, facts_);
    std::uint64_t fixed = 0;
    for (const BlockClass& c : classes_of(launch.config.grid)) {
      classes_.push_back({{launch.config.grid, c}, c.count(), 0, {}, {}});
      make_room(classes_.back().counts, facts_);
      if (is_small(classes_.back())) fixed += std::min(c.count(), of_small(wanted));
    }
    wanted_ = std::max<std::uint64_t>(kParts, wanted > fixed ? wanted - fixed : 0);
    of_small_ = of_small(wanted);
  }

  // Returns the number of blocks that ran. If that is not all, `counts` are scaled.
  std::uint64_t run(events::LaunchCounts& counts) {
    draw(classes_.front(), 1);
    for (Sampled& c : classes_)
      if (is_small(c)) draw(c, std::min(c.size, of_small_));
    for (Sampled& c : classes_)
      if (!is_small(c)) draw_parts(c, std::max<std::uint64_t>(kParts, part_of(c, wanted_)));
    for (Sampled& c : classes_)
      if (!is_small(c)) draw_cheap(c);
    run_logged();
    while (Sampled* c = worst_class()) draw_parts(*c, c->ran);
    std::uint64_t ran = drawn_.size();
    for (const Sampled& c : classes_) differ_ = differ_ || weighted_disagreement(c) > kAgree;
    if (static_cast<double>(ran) >= kWorthLeavingOut * static_cast<double>(launch_.blocks)) {
      run_others();
      ran = launch_.blocks;
    }
    const bool all = ran == launch_.blocks;
    make_room(counts, facts_);
    for (Sampled& c : classes_) {
      if (!all && c.ran > 0) scale_counts(c.counts, c.size, c.ran);
      counts.add(c.counts);
    }
    if (all)
      counts.add(beside_);
    else
      counts.blocks_run = ran - beside_ran_;
    return ran;
  }

  // After run(): whether the blocks differ too much to be scaled.
  bool differ() const { return differ_; }

 private:
  bool is_small(const Sampled& c) const {
    return static_cast<double>(c.size) < kSmallClass * static_cast<double>(launch_.blocks);
  }
  static std::uint64_t of_small(std::uint64_t wanted) { return wanted < 32 ? 1 : 2; }
  std::uint64_t part_of(const Sampled& c, std::uint64_t wanted) const {
    return static_cast<std::uint64_t>(static_cast<double>(wanted) * static_cast<double>(c.size) /
                                      static_cast<double>(launch_.blocks));
  }
  bool stopped() const { return launch_.stop.load(std::memory_order_relaxed); }

  void draw(Sampled& c, std::uint64_t count) {
    const std::vector<std::uint64_t> blocks = c.draw.next(count, drawn_);
    if (blocks.empty() || stopped()) return;
    events::LaunchCounts counts;
    make_room(counts, facts_);
    run_(blocks, counts);
    c.ran += blocks.size();
    c.parts.push_back(totals_of(counts, facts_, blocks.size()));
    c.counts.add(counts);
  }

  void draw_parts(Sampled& c, std::uint64_t count) {
    for (unsigned k = 0; k < kParts; ++k) draw(c, (count + kParts - 1) / kParts);
  }

  // Draws more of a class whose blocks are short, since rare blocks that differ may be missing.
  void draw_cheap(Sampled& c) {
    const std::uint64_t most =
        std::min(kTimesCheap * std::max<std::uint64_t>(kParts, part_of(c, wanted_)), c.size / kParts);
    const auto instructions = [&] {
      double sum = 0;
      for (const BlockTotals& p : c.parts) sum += p.values.front();
      return sum;
    };
    while (!stopped() && c.ran > 0 && 2 * c.ran <= most && instructions() < kCheap) draw_parts(c, c.ran);
  }

  void run_logged() {
    if (!launch_.logs || stopped()) return;
    std::vector<std::uint64_t> beside;
    for (const std::uint64_t b : logged_blocks(launch_))
      if (drawn_.insert(b).second) beside.push_back(b);
    beside_ran_ = beside.size();
    if (!beside.empty()) run_(std::move(beside), beside_);
  }

  // Of the parts of a class, in parts of the grid.
  double weighted_disagreement(const Sampled& c) const {
    if (is_small(c)) return 0;
    return static_cast<double>(c.size) / static_cast<double>(launch_.blocks) * disagreement(c.parts);
  }

  // The class whose parts disagree most; null: they agree, or are complete.
  Sampled* worst_class() {
    if (stopped() || static_cast<double>(drawn_.size()) >= kWorthLeavingOut * static_cast<double>(launch_.blocks))
      return nullptr;
    Sampled* worst = nullptr;
    double most = kAgree;
    for (Sampled& c : classes_) {
      if (c.ran + beside_ran_ >= c.size) continue;
      const double off = weighted_disagreement(c);
      if (off > most) most = off, worst = &c;
    }
    return worst;
  }

  void run_others() {
    for (Sampled& c : classes_)
      if (c.ran < c.size) draw(c, c.size - c.ran);
  }

  Launch& launch_;
  const events::KernelFacts& facts_;
  const Run run_;
  std::vector<Sampled> classes_;
  std::set<std::uint64_t> drawn_;  // all blocks that ran
  events::LaunchCounts beside_;    // of logged blocks that were not drawn
  std::uint64_t beside_ran_ = 0, wanted_ = 0, of_small_ = 1;
  bool differ_ = false;
};

std::uint64_t Device::Impl::run_some_blocks(Engine& engine, Launch& launch, LaunchResult& result) {
  const auto run = [&](std::vector<std::uint64_t> blocks, events::LaunchCounts& into) {
    launch.chosen = std::move(blocks);
    launch.to_run = launch.chosen.size();
    launch.next_block = 0;
    launch.running_workers = static_cast<unsigned>(std::min<std::uint64_t>(launch.workers, launch.to_run));
    engine.active_workers = launch.running_workers;
    engine.team.run(launch.running_workers, [&](unsigned i) { run_worker(*engine.workers[i]); });
    for (unsigned i = 0; i < launch.running_workers; ++i) {
      Worker& worker = *engine.workers[i];
      collect(worker, into);
      worker.warps_ended = worker.threads_ended = 0;
    }
  };
  SomeBlocks some(launch, options.blocks, run);
  const std::uint64_t ran = some.run(result.counts);
  if (ran == launch.blocks && some.differ()) result.why_all_blocks = "its blocks differ too much from each other";
  return ran;
}

}  // namespace warpgrind::device
