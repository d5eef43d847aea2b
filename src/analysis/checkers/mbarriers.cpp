// Checker of mbarriers in shared memory. Errors: use before initialisation, initialisation while in use, more arrivals
// than the count, and copies in flight when the block ends.
#include <fmt/format.h>

#include <bit>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/words.h"
#include "checkers/block_states.h"
#include "checkers/checker.h"
#include "checkers/first_seen.h"
#include "checkers/kernel_has.h"

namespace warpgrind::checkers {

namespace {

using Operation = events::MBarrierOperation;

// A place in the kernel, for a later finding while the launch still runs.
struct Place {
  std::uint32_t site = 0, warp = 0;
  unsigned lane = 0;
};

struct State {
  std::uint64_t expected = 0, pending = 0;  // arrivals
  std::int64_t bytes = 0;                   // outstanding in this phase
  bool not_waited_for = false;              // copies have completed since a thread last saw a phase end
  Place made, copied;
};

struct BlockMBarriers {
  std::unordered_map<std::uint64_t, State> barriers;  // by offset in the block's shared memory
  void clear() { barriers.clear(); }
};

class MBarriers final : public Checker {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.mbarriers = w.blocks = w.blocks_ended = true;
    return w;
  }
  events::Wants wants_of(const events::Launch& launch) override {
    return what_has(launch).mbarriers ? wants() : events::Wants{};
  }
  void on_block_begin(const events::BlockEvent& e, unsigned) override {
    blocks_.of(*e.launch, e.block).barriers.clear();
  }
  void on_mbarrier(const events::MBarrier& e, unsigned) override {
    BlockMBarriers& block = blocks_.of(*e.launch, e.block);
    for (LaneMask m = e.mask; m; m &= m - 1) operate(e, static_cast<unsigned>(std::countr_zero(m)), block);
  }
  void on_block_end(const events::BlockEvent& e, unsigned) override {
    BlockMBarriers& block = blocks_.of(*e.launch, e.block);
    for (const auto& [offset, state] : block.barriers)
      if (state.not_waited_for || state.bytes > 0) unfinished(e, state);
    blocks_.erase(*e.launch, e.block);
  }
  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  void operate(const events::MBarrier& e, unsigned lane, BlockMBarriers& block);
  void initialise(const events::MBarrier& e, unsigned lane, BlockMBarriers& block);
  void arrive(const events::MBarrier& e, unsigned lane, State& state, std::uint64_t number);
  static void settle(State& state) {
    if (state.pending == 0 && state.bytes == 0) state.pending = state.expected;
  }
  void unfinished(const events::BlockEvent& e, const State& state);

  static OrderKey order_key_of(const events::Launch& launch, const Dim3& block, const Place& at) {
    return {launch.work, launch.id, linear_block(launch, block), at.warp, at.lane};
  }
  static std::string key(const char* kind, const events::Launch& launch, std::uint32_t site) {
    return fmt::format("{} {} {}", kind, launch.facts->name, site);
  }
  template <class Fill>
  void found(const char* kind, const events::MBarrier& e, unsigned lane, Fill fill) {
    found_.add(key(kind, *e.launch, e.site), order_key_of(*e.launch, e.block, {e.site, e.warp, lane}), [&] {
      results::Finding f;
      f.kind = kind;
      f.accesses.push_back(access_at(e, lane, "mbarrier"));
      f.accesses[0].object = fmt::format("the mbarrier at byte {} of the block's shared memory", e.offsets[lane]);
      take_place(f, f.accesses[0]);
      fill(f);
      return f;
    });
  }

  BlockStates<BlockMBarriers> blocks_;
  FirstSeen found_;
};

void MBarriers::initialise(const events::MBarrier& e, unsigned lane, BlockMBarriers& block) {
  const auto known = block.barriers.find(e.offsets[lane]);
  if (known != block.barriers.end()) {
    const State& before = known->second;
    const bool in_use = before.pending != before.expected || before.bytes != 0;
    found("mbarrier-reuse", e, lane, [&](results::Finding& f) {
      if (!in_use) f.severity = results::Severity::warning;
      f.message = in_use ? "an mbarrier is initialised again in the middle of a phase"
                         : "an mbarrier is initialised again without mbarrier.inval before";
      f.accesses.push_back(
          access_at(*e.launch, before.made.site, e.block, before.made.warp, before.made.lane, "mbarrier"));
      f.accesses[1].role = "initialised";
      f.notes.push_back("PTX ISA, mbarrier.init: undefined behaviour if the memory holds a valid mbarrier already");
      f.advice =
          "initialise the mbarrier once, before the __syncthreads() that makes it visible; it starts each new phase by "
          "itself";
    });
  }
  State& state = block.barriers[e.offsets[lane]];
  state = {};
  state.expected = state.pending = e.numbers ? e.numbers[lane] : 0;
  state.made = {e.site, e.warp, lane};
}

void MBarriers::arrive(const events::MBarrier& e, unsigned lane, State& state, std::uint64_t number) {
  if (number > state.pending) {
    found("mbarrier-overflow", e, lane, [&](results::Finding& f) {
      f.message = fmt::format("{} arrival{} at an mbarrier that expects only {} more in this phase, of {}", number,
                              plural(number), state.pending, state.expected);
      const results::FindingAccess made =
          access_at(*e.launch, state.made.site, e.block, state.made.warp, state.made.lane, "mbarrier");
      f.origin = {
          "mbarrier.init", made.file, made.line, fmt::format("an mbarrier for {} arrivals", state.expected), {}};
      f.advice = "the count n of mbarrier.init (init(&bar, n)) must equal the number of arrivals in each phase";
    });
    state.pending = number;
  }
  state.pending -= number;
}

void MBarriers::operate(const events::MBarrier& e, unsigned lane, BlockMBarriers& block) {
  if (e.operation == Operation::init) return initialise(e, lane, block);
  if (e.operation == Operation::pending_count) return;  // it works on a register, not on the mbarrier
  const auto it = block.barriers.find(e.offsets[lane]);
  if (it == block.barriers.end()) {
    if (e.offsets[lane] >> 24) return;  // in another block of the cluster
    found("mbarrier-uninit", e, lane, [](results::Finding& f) {
      f.message = "use of an uninitialised mbarrier";
      f.missing = "mbarrier.init (init(&bar, n)) by one thread, then __syncthreads() before other threads use it";
      f.advice =
          "initialise the mbarrier at the beginning of the kernel; shared memory does not keep values from an earlier "
          "block or launch";
    });
    State& state = block.barriers[e.offsets[lane]];  // reported once; later uses are ignored
    state.expected = state.pending = ~0ull;
    return;
  }
  State& state = it->second;
  if (e.operation == Operation::invalidate) {
    block.barriers.erase(it);
    return;
  }
  if (state.expected == ~0ull) return;
  const std::uint64_t number = e.numbers ? e.numbers[lane] : 0, bytes = e.bytes ? e.bytes[lane] : 0;
  switch (e.operation) {
    case Operation::expect:
      state.bytes += static_cast<std::int64_t>(bytes);
      break;
    case Operation::complete:
      state.bytes -= static_cast<std::int64_t>(bytes);
      state.not_waited_for = true;
      state.copied = {e.site, e.warp, lane};
      break;
    case Operation::arrive:
    case Operation::arrive_drop:
      state.bytes += static_cast<std::int64_t>(bytes);
      arrive(e, lane, state, number);
      if (e.operation == Operation::arrive_drop) state.expected -= number;
      break;
    case Operation::copy_arrive_noinc:
      arrive(e, lane, state, 1);
      break;
    default:
      if (is_wait(e.operation) && e.results[lane] != 0) state.not_waited_for = false;
      return;
  }
  settle(state);
}

void MBarriers::unfinished(const events::BlockEvent& e, const State& state) {
  const Place& at = state.not_waited_for ? state.copied : state.made;
  found_.add(key("mbarrier-exit", *e.launch, at.site), order_key_of(*e.launch, e.block, at), [&] {
    results::Finding f;
    f.kind = "mbarrier-exit";
    f.accesses.push_back(access_at(*e.launch, at.site, e.block, at.warp, at.lane, "mbarrier"));
    take_place(f, f.accesses[0]);
    f.message = state.not_waited_for
                    ? "the block exits although no thread has waited for this copy at its mbarrier"
                    : fmt::format("the block exits while an mbarrier still expects {} bytes", state.bytes);
    f.notes.push_back("the copy may still be writing when another block already owns this shared memory");
    f.advice = "wait for the last phase (mbarrier.try_wait) before the block exits";
    return f;
  });
}

}  // namespace

std::unique_ptr<Checker> make_mbarriers(const Known&) {
  return std::make_unique<MBarriers>();
}

}  // namespace warpgrind::checkers
