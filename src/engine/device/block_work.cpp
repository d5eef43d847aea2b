#include "device/block_work.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/as_double.h"
#include "events/barriers.h"
#include "gpu/instruction_kinds.h"

namespace warpgrind::device {

namespace {

// A load on a warp's path takes some hundred cycles, other instructions 4. Several loads are under way together.
constexpr std::uint32_t kAccess = 20, kBarrier = 10;

std::uint32_t weight_of(const events::BlockFacts& block) {
  std::uint32_t sum = 0;
  for (unsigned c = 0; c < events::kInstructionClasses; ++c) {
    const auto kind = static_cast<InstructionClass>(c);
    const bool access = kind == InstructionClass::load_store || kind == InstructionClass::texture;
    sum += block.by_class[c] * (access ? kAccess : kind == InstructionClass::barrier ? kBarrier : 1);
  }
  return sum;
}

std::uint64_t new_work(Worker& w) {
  const std::vector<std::uint32_t>& weights = w.launch->kernel->weights;
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < weights.size(); ++b) sum += weights[b] * w.scoreboard[2 * b];
  return sum - std::exchange(w.work_noted, sum);
}

using Blocks = std::vector<std::uint32_t>;

// Loops of the blocks of code: each set of blocks that reach each other. S. Rao Kosaraju's way: the blocks in the order
// in which a search leaves them, and from the last on, those that reach them.
class Loops {
 public:
  explicit Loops(const events::KernelFacts& facts)
      : after_(facts.blocks.size()), before_(facts.blocks.size()), of_(facts.blocks.size(), kNone) {
    for (const events::EdgeFacts& e : facts.edges)
      if (e.to != events::EdgeFacts::kLeaves) after_[e.from].push_back(e.to), before_[e.to].push_back(e.from);
    std::vector<bool> seen(after_.size());
    std::vector<std::uint32_t> left;
    for (std::uint32_t b = 0; b < after_.size(); ++b) search(b, after_, seen, left);
    std::vector<bool> found(after_.size());
    for (; !left.empty(); left.pop_back()) {
      Blocks loop;
      search(left.back(), before_, found, loop);
      for (const std::uint32_t b : loop) of_[b] = left.back();
    }
  }

  // By block, the blocks outside its loop from which its warps come. Empty: in no loop.
  std::vector<Blocks> entries() const {
    std::vector<Blocks> from(of_.size()), result(of_.size());  // `from` by loop
    std::vector<bool> loops(of_.size());
    for (std::uint32_t b = 0; b < of_.size(); ++b)
      for (const std::uint32_t p : before_[b])
        if (of_[p] == of_[b])
          loops[of_[b]] = true;
        else
          from[of_[b]].push_back(p);
    for (std::uint32_t b = 0; b < of_.size(); ++b)
      if (loops[of_[b]]) result[b] = from[of_[b]];
    return result;
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  // Appends the blocks not seen before that `first` leads to, each behind those that it leads to.
  static void search(std::uint32_t first, const std::vector<Blocks>& edges, std::vector<bool>& seen, Blocks& left) {
    if (seen[first]) return;
    std::vector<std::pair<std::uint32_t, std::size_t>> path{{first, 0}};
    seen[first] = true;
    while (!path.empty()) {
      auto& [b, next] = path.back();
      if (next == edges[b].size()) {
        left.push_back(b);
        path.pop_back();
      } else if (const std::uint32_t to = edges[b][next++]; !seen[to]) {
        seen[to] = true;
        path.emplace_back(to, 0);
      }
    }
  }

  std::vector<Blocks> after_, before_;
  Blocks of_;  // a block of the loop, or the block itself
};

// Work of a warp that runs all that some warp of the block runs: those that enter a loop run equal rounds of it.
double slowest_work(const Worker& w, const std::vector<std::uint64_t>& ran, unsigned warps) {
  const KernelRecord& kernel = *w.launch->kernel;
  double sum = 0;
  for (std::size_t b = 0; b < ran.size(); ++b) {
    if (ran[b] == 0) continue;
    std::uint64_t entered = 0;
    for (const std::uint32_t from : kernel.loop_entries[b]) entered += ran[from];
    if (kernel.loop_entries[b].empty()) entered = ran[b];
    sum += kernel.weights[b] * as_double(ran[b]) / as_double(std::clamp<std::uint64_t>(entered, 1, warps));
  }
  return sum;
}

// A block of a kernel with barriers, whose warps took turns.
void note_turns(Worker& w, Block& b, events::BlockWork& of) {
  const std::size_t blocks = w.launch->kernel->weights.size();
  if (w.ran_before.size() != blocks) w.ran_before.assign(blocks, 0);
  std::vector<std::uint64_t> ran(blocks);
  for (std::size_t k = 0; k < blocks; ++k)
    ran[k] = w.scoreboard[2 * k] - std::exchange(w.ran_before[k], w.scoreboard[2 * k]);
  double all = 0;
  for (std::size_t k = 0; k < blocks; ++k) all += w.launch->kernel->weights[k] * as_double(ran[k]);
  of.all[b.linear] = static_cast<float>(all);
  of.slowest[b.linear] = static_cast<float>(slowest_work(w, ran, b.warps));
}

}  // namespace

std::vector<std::uint32_t> work_weights(const events::KernelFacts& facts) {
  std::vector<std::uint32_t> weights;
  for (const events::BlockFacts& block : facts.blocks) weights.push_back(weight_of(block));
  return weights;
}

std::vector<std::vector<std::uint32_t>> loop_entries(const events::KernelFacts& facts) {
  return Loops(facts).entries();
}

void begin_work(Launch& launch) {
  const bool in_own_time = launch.cluster_size == 1 && !launch.cancellable;  // one block of a worker after the other
  if (!launch.counters || launch.kernel->weights.empty() || !in_own_time ||
      launch.blocks > events::BlockWork::kMostBlocks)
    return;
  launch.work = std::make_shared<events::BlockWork>();
  launch.work->all.resize(launch.blocks);
  launch.work->slowest.resize(launch.blocks);
  launch.work->of_warps = !events::has_barriers(launch.kernel->code->facts());
}

void note_warp(Worker& w, Block& b) {
  if (!w.launch->work->of_warps) return;
  const std::uint64_t work = new_work(w);
  b.work += work;
  b.slowest = std::max(b.slowest, work);
}

void note_block(Worker& w, Block& b) {
  events::BlockWork& of = *w.launch->work;
  if (!of.of_warps) return note_turns(w, b, of);
  of.all[b.linear] = static_cast<float>(as_double(b.work));
  of.slowest[b.linear] = static_cast<float>(as_double(b.slowest));
  b.work = b.slowest = 0;
}

}  // namespace warpgrind::device
