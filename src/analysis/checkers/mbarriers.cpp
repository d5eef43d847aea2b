// Checker of mbarriers in shared memory. Errors: use before initialisation, initialisation while in use, more arrivals
// than the count, transaction bytes that do not fit those of the copies, waits that never end, and copies in flight
// when the block ends.
#include <fmt/format.h>

#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/words.h"
#include "checkers/block_states.h"
#include "checkers/checker.h"
#include "checkers/cluster_exits.h"
#include "checkers/first_seen.h"
#include "checkers/kernel_has.h"
#include "checkers/repairs.h"

namespace warpgrind::checkers {

namespace {

using Operation = events::MBarrierOperation;

// A place in the kernel, for a later finding while the launch still runs.
struct Place {
  std::uint32_t site = 0, warp = 0;
  unsigned lane = 0;
  Dim3 block{0, 0, 0};
};

struct State {
  std::uint64_t expected = 0, pending = 0;  // arrivals
  std::int64_t bytes = 0;                   // outstanding in this phase
  std::uint64_t announced = 0, copied = 0;  // bytes of this phase: by expect_tx, by copies
  std::uint64_t phase = 0;
  bool not_waited_for = false;  // copies have completed since a thread last saw a phase end
  bool waited_at = false;       // a thread has waited in vain for this phase
  // too_much: the last copy that brought more bytes than were announced before.
  Place made, expect, copy, too_much;
};

// A wait for a phase that is not complete yet.
struct Wait {
  events::Launch launch;
  Place at;
  std::uint64_t offset = 0;
  State state;  // of the mbarrier, now
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
    for (LaneMask m = e.mask; m; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      // The blocks of a cluster run on one worker.
      operate(e, lane, events::offset_in_owner(e.offsets[lane]),
              events::owner_of_shared(*e.launch, e.block, e.offsets[lane]));
    }
  }
  void on_block_end(const events::BlockEvent& e, unsigned) override {
    BlockMBarriers& block = blocks_.of(*e.launch, e.block);
    for (const auto& [offset, state] : block.barriers)
      if (state.not_waited_for || state.bytes != 0) unfinished(e, state);
    drop_waits(*e.launch, linear_block(*e.launch, e.block));
    blocks_.erase(*e.launch, e.block);
  }
  // Blocks that have not ended were stopped.
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override {
    std::map<WaitKey, Wait> stopped;
    {
      const std::lock_guard lock(mutex_);
      const auto first = waits_.lower_bound({launch.id, 0, 0}), last = waits_.lower_bound({launch.id + 1, 0, 0});
      stopped.insert(first, last);
      waits_.erase(first, last);
    }
    for (const auto& [key, wait] : stopped) stuck(wait);
  }
  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  using WaitKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // launch, linear block, offset

  void operate(const events::MBarrier& e, unsigned lane, std::uint64_t offset, const Dim3& owner);
  void change(const events::MBarrier& e, unsigned lane, State& state);
  void initialise(const events::MBarrier& e, unsigned lane, BlockMBarriers& block, std::uint64_t offset);
  void arrive(const events::MBarrier& e, unsigned lane, State& state, std::uint64_t number);
  static void settle(State& state) {
    if (state.pending != 0 || state.bytes != 0) return;
    state.pending = state.expected;
    state.announced = state.copied = 0;
    state.waited_at = false;
    ++state.phase;
  }
  void unfinished(const events::BlockEvent& e, const State& state);
  void too_many_bytes(const events::BlockEvent& e, const State& state);
  void stuck(const Wait& wait);
  void drop_waits(const events::Launch& launch, std::uint64_t block) {
    const std::lock_guard lock(mutex_);
    waits_.erase(waits_.lower_bound({launch.id, block, 0}), waits_.lower_bound({launch.id, block + 1, 0}));
  }

  static OrderKey order_key_of(const events::Launch& launch, const Dim3& block, const Place& at) {
    return {launch.work, launch.id, linear_block(launch, block), at.warp, at.lane};
  }
  static results::FindingAccess access_of(const events::Launch& launch, const Place& at) {
    return access_at(launch, at.site, at.block, at.warp, at.lane, "mbarrier");
  }
  static std::string key(const char* kind, const events::Launch& launch, std::uint32_t site) {
    return fmt::format("{} {} {}", kind, launch.facts->name, site);
  }
  template <class Fill>
  void found(const char* kind, const events::MBarrier& e, unsigned lane, Fill fill) {
    found_.add(key(kind, *e.launch, e.site), order_key_of(*e.launch, e.block, {e.site, e.warp, lane, e.block}), [&] {
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
  std::mutex mutex_;
  std::map<WaitKey, Wait> waits_;  // that have not ended; also of other workers
  FirstSeen found_{*this};
};

void MBarriers::initialise(const events::MBarrier& e, unsigned lane, BlockMBarriers& block, std::uint64_t offset) {
  const auto known = block.barriers.find(offset);
  if (known != block.barriers.end()) {
    const State& before = known->second;
    const bool in_use = before.pending != before.expected || before.bytes != 0;
    found("mbarrier-reuse", e, lane, [&](results::Finding& f) {
      if (!in_use) f.severity = results::Severity::warning;
      f.message = in_use ? "an mbarrier is initialised again in the middle of a phase"
                         : "an mbarrier is initialised again without mbarrier.inval before";
      f.accesses.push_back(access_of(*e.launch, before.made));
      f.accesses[1].role = "initialised";
      f.notes.push_back("PTX ISA, mbarrier.init: undefined behaviour if the memory holds a valid mbarrier already");
      f.advice =
          "initialise the mbarrier once, before the __syncthreads() that makes it visible; it starts each new phase by "
          "itself";
    });
  }
  State& state = block.barriers[offset];
  state = {};
  state.expected = state.pending = e.numbers ? e.numbers[lane] : 0;
  state.made = {e.site, e.warp, lane, e.block};
}

void MBarriers::arrive(const events::MBarrier& e, unsigned lane, State& state, std::uint64_t number) {
  if (number > state.pending) {
    found("mbarrier-overflow", e, lane, [&](results::Finding& f) {
      f.message = fmt::format("{} arrival{} at an mbarrier that expects only {} more in this phase, of {}", number,
                              plural(number), state.pending, state.expected);
      const results::FindingAccess made = access_of(*e.launch, state.made);
      f.origin = {
          "mbarrier.init", made.file, made.line, fmt::format("an mbarrier for {} arrivals", state.expected), {}};
      f.advice = "the count n of mbarrier.init (init(&bar, n)) must equal the number of arrivals in each phase";
    });
    state.pending = number;
  }
  state.pending -= number;
}

void MBarriers::operate(const events::MBarrier& e, unsigned lane, std::uint64_t offset, const Dim3& owner) {
  BlockMBarriers& block = blocks_.of(*e.launch, owner);
  if (e.operation == Operation::init) return initialise(e, lane, block, offset);
  if (e.operation == Operation::pending_count) return;  // it works on a register, not on the mbarrier
  const auto it = block.barriers.find(offset);
  if (it == block.barriers.end()) {
    found("mbarrier-uninit", e, lane, [](results::Finding& f) {
      f.message = "use of an uninitialised mbarrier";
      f.missing = "mbarrier.init (init(&bar, n)) by one thread, then __syncthreads() before other threads use it";
      f.advice =
          "initialise the mbarrier at the beginning of the kernel; shared memory does not keep values from an earlier "
          "block or launch";
    });
    State& state = block.barriers[offset];  // reported once; later uses are ignored
    state.expected = state.pending = ~0ull;
    return;
  }
  State& state = it->second;
  if (e.operation == Operation::invalidate) {
    block.barriers.erase(it);
    return;
  }
  if (state.expected == ~0ull) return;
  const bool waited_at = state.waited_at;
  change(e, lane, state);
  if (!waited_at && !state.waited_at) return;
  const WaitKey key{e.launch->id, linear_block(*e.launch, owner), offset};
  const std::lock_guard lock(mutex_);
  if (!state.waited_at)
    waits_.erase(key);
  else if (!waited_at)
    waits_[key] = {*e.launch, {e.site, e.warp, lane, e.block}, offset, state};
  else if (!is_wait(e.operation))
    waits_[key].state = state;
}

void MBarriers::change(const events::MBarrier& e, unsigned lane, State& state) {
  const std::uint64_t number = e.numbers ? e.numbers[lane] : 0, bytes = e.bytes ? e.bytes[lane] : 0;
  const Place here{e.site, e.warp, lane, e.block};
  if (is_wait(e.operation)) {
    if (e.results[lane] != 0)
      state.not_waited_for = false;
    else
      state.waited_at = true;
    return;
  }
  switch (e.operation) {
    case Operation::complete:
      if (state.bytes >= 0 && state.bytes < static_cast<std::int64_t>(bytes)) state.too_much = here;
      state.bytes -= static_cast<std::int64_t>(bytes);
      state.copied += bytes;
      state.not_waited_for = true;
      state.copy = here;
      break;
    case Operation::expect:
    case Operation::arrive:
    case Operation::arrive_drop:
      state.bytes += static_cast<std::int64_t>(bytes);
      state.announced += bytes;
      if (bytes != 0) state.expect = here;
      if (e.operation == Operation::expect) break;
      arrive(e, lane, state, number);
      if (e.operation == Operation::arrive_drop) state.expected -= number;
      break;
    case Operation::copy_arrive_noinc:
      arrive(e, lane, state, 1);
      break;
    default:
      return;
  }
  settle(state);
}

void MBarriers::unfinished(const events::BlockEvent& e, const State& state) {
  if (state.bytes < 0) return too_many_bytes(e, state);
  const Place& at = state.not_waited_for ? state.copy : state.made;
  found_.add(key("mbarrier-exit", *e.launch, at.site), order_key_of(*e.launch, e.block, at), [&] {
    results::Finding f;
    f.kind = "mbarrier-exit";
    f.accesses.push_back(access_of(*e.launch, at));
    take_place(f, f.accesses[0]);
    f.message = state.not_waited_for
                    ? "the block exits although no thread has waited for this copy at its mbarrier"
                    : fmt::format("the block exits while an mbarrier still expects {} bytes", state.bytes);
    f.notes.push_back("the copy may still be writing when another block already owns this shared memory");
    f.advice = "wait for the last phase (mbarrier.try_wait) before the block exits";
    return f;
  });
}

void MBarriers::too_many_bytes(const events::BlockEvent& e, const State& state) {
  const Place& at = state.too_much;
  found_.add(key("mbarrier-bytes", *e.launch, at.site), order_key_of(*e.launch, e.block, at), [&] {
    results::Finding f;
    f.kind = "mbarrier-bytes";
    f.accesses.push_back(access_of(*e.launch, at));
    f.accesses[0].role = "copy";
    if (state.expect.site != 0 || state.announced != 0 || state.phase != 0) {
      f.accesses.push_back(access_of(*e.launch, state.expect));
      f.accesses[1].role = "expect_tx";
    }
    take_place(f, f.accesses[0]);
    f.message = fmt::format(
        "the copies at this mbarrier have brought {} bytes more than expect_tx has announced: its phase completes "
        "before "
        "all of them have arrived",
        -state.bytes);
    f.missing =
        fmt::format("{} bytes in expect_tx: it must announce the bytes of all copies of the phase", -state.bytes);
    f.advice = in_cpp(Repair::expect_bytes);
    return f;
  });
}

// A wait of a launch that was stopped.
void MBarriers::stuck(const Wait& wait) {
  const State& state = wait.state;
  const events::Launch& launch = wait.launch;
  found_.add(key("mbarrier-stuck", launch, wait.at.site), order_key_of(launch, wait.at.block, wait.at), [&] {
    results::Finding f;
    f.kind = "mbarrier-stuck";
    f.accesses.push_back(access_of(launch, wait.at));
    f.accesses[0].role = "waits";
    f.accesses[0].object = fmt::format("the mbarrier at byte {} of the block's shared memory", wait.offset);
    take_place(f, f.accesses[0]);
    const std::string what = state.bytes > 0 ? fmt::format("{} bytes are missing", state.bytes)
                             : state.bytes < 0
                                 ? fmt::format("copies have brought {} bytes too many", -state.bytes)
                                 : fmt::format("{} of {} arrivals are missing", state.pending, state.expected);
    f.message = fmt::format("the wait at this mbarrier did not end: phase {} (parity {}) is not complete, {}",
                            state.phase, state.phase & 1, what);
    if (state.bytes != 0) {
      f.notes.push_back(fmt::format("expect_tx has announced {} bytes in this phase, copies have brought {}",
                                    state.announced, state.copied));
      if (state.pending != 0)
        f.notes.push_back(fmt::format("{} of {} arrivals are missing too", state.pending, state.expected));
      f.advice = in_cpp(Repair::expect_bytes);
    } else {
      f.advice = in_cpp(Repair::copy_wait);
      if (state.pending == state.expected)
        f.notes.push_back(
            state.phase == 0
                ? "no thread has arrived yet: a wait for a buffer that is empty at the beginning is for the phase "
                  "before "
                  "the first, with parity 1 for the first turn"
                : fmt::format("phase {} (parity {}) is complete: a wait for it must have parity {}, flipped after each "
                              "phase",
                              state.phase - 1, (state.phase - 1) & 1, (state.phase - 1) & 1));
    }
    return f;
  });
}

}  // namespace

std::unique_ptr<Checker> make_mbarriers(const Known&) {
  return std::make_unique<MBarriers>();
}

}  // namespace warpgrind::checkers
