#include "device/block_work.h"

#include <algorithm>
#include <utility>

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

std::uint64_t work_so_far(const Worker& w) {
  const std::vector<std::uint32_t>& weights = w.launch->kernel->weights;
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < weights.size(); ++b) sum += weights[b] * w.scoreboard[2 * b];
  return sum;
}

std::uint64_t new_work(Worker& w) {
  const std::uint64_t now = work_so_far(w);
  return now - std::exchange(w.work_noted, now);
}

}  // namespace

std::vector<std::uint32_t> work_weights(const events::KernelFacts& facts) {
  std::vector<std::uint32_t> weights;
  for (const events::BlockFacts& block : facts.blocks) weights.push_back(weight_of(block));
  return weights;
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
  const double all = as_double(of.of_warps ? b.work : new_work(w));
  of.all[b.linear] = static_cast<float>(all);
  of.slowest[b.linear] = static_cast<float>(of.of_warps ? as_double(b.slowest) : all / b.warps);
  b.work = b.slowest = 0;
}

}  // namespace warpgrind::device
