// Checker of block barriers (bar, barrier, __syncthreads): the threads that arrive, and their thread counts. A barrier
// is judged when it is passed, because lanes that exit before that are not missing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "base/assert.h"
#include "checkers/block_states.h"
#include "checkers/checker.h"
#include "checkers/first_seen.h"
#include "checkers/kernel_has.h"
#include "checkers/lanes_text.h"

namespace warpgrind::checkers {

namespace {

constexpr unsigned kBarriers = 16;

struct Arrival {
  std::uint32_t warp = 0, site = 0, threads = 0;
  LaneMask mask = 0;
  bool waits = true;
};

struct BlockState {
  std::array<std::vector<Arrival>, kBarriers> arrived;  // since the barrier was last passed
  std::vector<LaneMask> gone;                           // exited lanes, by warp
  std::vector<std::uint32_t> passed_by_all;             // sites that every thread of the block has passed
  LaneMask gone_of(std::uint32_t warp) const { return warp < gone.size() ? gone[warp] : 0; }
  void clear() {
    for (std::vector<Arrival>& a : arrived) a.clear();
    gone.clear();
    passed_by_all.clear();
  }
};

const events::Site& site_of(const events::Launch& launch, std::uint32_t site) {
  WG_ASSERT(site < launch.facts->sites.size());
  return launch.facts->sites[site];
}

// Is the barrier aligned ("bar.sync", "barrier.sync.aligned")? Then all lanes of a warp execute it together (PTX ISA,
// bar); otherwise each thread executes it alone.
bool is_aligned(const events::Site& site) {
  const std::string name = site.text.substr(0, site.text.find(' '));
  return name.starts_with("bar.") || name.find(".aligned") != std::string::npos;
}
bool reduces(const events::Site& site) {
  return site.text.substr(0, site.text.find(' ')).find(".red") != std::string::npos;
}

// Do the sites come from the same source line? The compiler may copy a statement (an unrolled loop).
bool same_statement(const events::Launch& launch, std::uint32_t a, std::uint32_t b) {
  const events::Site &one = site_of(launch, a), &other = site_of(launch, b);
  return a == b || (one.line != 0 && one.line == other.line && one.file == other.file);
}

std::uint32_t whole_warps(std::uint32_t threads) {
  return (threads + kWarpSize - 1) / kWarpSize * kWarpSize;
}
std::uint32_t block_threads(const events::Launch& launch) {
  return static_cast<std::uint32_t>(launch.block.count());
}
// Is the barrier for all threads of the block, not only some of its warps?
bool is_for_all(const events::Launch& launch, std::uint32_t threads) {
  return threads == 0 || threads == whole_warps(block_threads(launch));
}

// Lanes of a warp that exist.
LaneMask lanes_of_warp(const events::Launch& launch, std::uint32_t warp) {
  const std::uint32_t first = warp * kWarpSize, all = block_threads(launch);
  return all >= first + kWarpSize ? kFullMask : all > first ? (1u << (all - first)) - 1 : 0;
}

class Barriers final : public Checker {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.barriers = w.barriers_passed = w.exits = w.blocks_ended = w.whole_blocks = true;
    return w;
  }
  events::Wants wants_of(const events::Launch& launch) override {
    return what_has(launch).barriers ? wants() : events::Wants{};
  }

  void on_barrier(const events::Barrier& e, unsigned) override {
    if (e.barrier >= kBarriers) return;  // the device reports that
    BlockState& block = blocks_.of(*e.launch, e.block);
    note_live(block, e.warp, lanes_of_warp(*e.launch, e.warp) & ~e.live);
    std::vector<Arrival>& arrived = block.arrived[e.barrier];
    const Arrival now{e.warp, e.site, e.threads, e.mask, e.waits};
    check_count(e, now, arrived);
    arrived.push_back(now);
  }

  void on_barrier_passed(const events::BarrierPassed& e, unsigned) override {
    BlockState& block = blocks_.of(*e.launch, e.block);
    if (e.site != events::BarrierPassed::kEach) return note_passed(block, e.site);
    std::vector<Arrival>& arrived = block.arrived[e.barrier];
    if (arrived.empty()) return;
    if (all_at_one_site(*e.launch, arrived)) {
      if (arrived.size() == warps_of(*e.launch)) note_passed(block, arrived[0].site);
      arrived.clear();
      return;
    }
    if (judge_warps(e, block, arrived)) {
      arrived.clear();
      return;
    }
    judge_leavers(e, block, arrived);
    judge_block(e, arrived);
    arrived.clear();
  }

  void on_exit(const events::Exit& e, unsigned) override { note_live(blocks_.of(*e.launch, e.block), e.warp, e.mask); }
  void on_block_end(const events::BlockEvent& e, unsigned) override { blocks_.erase(*e.launch, e.block); }

  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  static void note_live(BlockState& block, std::uint32_t warp, LaneMask gone) {
    if (gone == 0) return;
    if (block.gone.size() <= warp) block.gone.resize(warp + 1);
    block.gone[warp] |= gone;
  }

  static std::uint32_t warps_of(const events::Launch& launch) { return whole_warps(block_threads(launch)) / kWarpSize; }
  static void note_passed(BlockState& block, std::uint32_t site) {
    auto& passed = block.passed_by_all;
    if (std::find(passed.begin(), passed.end(), site) == passed.end()) passed.push_back(site);
  }

  // The usual case: whole warps at one instruction.
  static bool all_at_one_site(const events::Launch& launch, const std::vector<Arrival>& arrived) {
    return std::all_of(arrived.begin(), arrived.end(), [&](const Arrival& a) {
      return a.site == arrived[0].site && a.mask == lanes_of_warp(launch, a.warp);
    });
  }

  static results::FindingAccess access(const events::Launch& launch, const Dim3& block, const Arrival& a) {
    results::FindingAccess at =
        access_at(launch, a.site, block, a.warp, static_cast<unsigned>(std::countr_zero(a.mask | 1u << 31)), "barrier");
    at.object = fmt::format("{} of warp {}", lanes_text(a.mask), a.warp);
    return at;
  }
  static OrderKey order_key_of(const events::Launch& launch, const Dim3& block, const Arrival& a) {
    return {launch.work, launch.id, linear_block(launch, block), a.warp,
            static_cast<std::uint32_t>(std::countr_zero(a.mask | 1u << 31))};
  }
  static std::string key(const char* kind, const events::Launch& launch, std::uint32_t a, std::uint32_t b) {
    return fmt::format("{} {} {} {}", kind, launch.facts->name, std::min(a, b), std::max(a, b));
  }

  void check_count(const events::Barrier& e, const Arrival& now, const std::vector<Arrival>& arrived);
  bool judge_warps(const events::BarrierPassed& e, const BlockState& block, const std::vector<Arrival>& arrived);
  void judge_leavers(const events::BarrierPassed& e, const BlockState& block, const std::vector<Arrival>& arrived);
  void judge_block(const events::BarrierPassed& e, const std::vector<Arrival>& arrived);
  void wrong_count(const events::Barrier& e, const Arrival& now, const Arrival* other, const std::string& message,
                   const char* advice);

  BlockStates<BlockState> blocks_;
  FirstSeen found_{*this};
};

// other: an earlier arrival that contradicts `now`; may be null.
void Barriers::wrong_count(const events::Barrier& e, const Arrival& now, const Arrival* other,
                           const std::string& message, const char* advice) {
  const events::Launch& launch = *e.launch;
  const std::string same = key("barrier-count", launch, now.site, other ? other->site : now.site) + message;
  found_.add(same, order_key_of(launch, e.block, other ? *other : now), [&] {
    results::Finding f;
    f.kind = "barrier-count";
    f.message = message;
    if (other) f.accesses.push_back(access(launch, e.block, *other));
    f.accesses.push_back(access(launch, e.block, now));
    take_place(f, f.accesses[0]);
    f.advice = advice;
    return f;
  });
}

void Barriers::check_count(const events::Barrier& e, const Arrival& now, const std::vector<Arrival>& arrived) {
  const std::uint32_t all = whole_warps(block_threads(*e.launch));
  const auto count = [&](const Arrival& a) { return a.threads == 0 ? all : a.threads; };
  const auto named = [](const Arrival& a) {
    return a.threads == 0 ? std::string("all threads (no count)") : fmt::format("{} threads", a.threads);
  };
  if (now.threads % kWarpSize != 0)
    return wrong_count(
        e, now, nullptr,
        fmt::format("barrier {} waits for {} threads, which is not a multiple of 32", e.barrier, now.threads),
        "a barrier counts whole warps (PTX ISA, bar): use a thread count that is a multiple of 32");
  for (const Arrival& other : arrived) {
    if (other.threads != now.threads)  // even if one names the block's size and the other none: a GPU ends the kernel
      return wrong_count(
          e, now, &other,
          fmt::format("barrier {} waits for {} at one place and for {} at another, in the same phase", e.barrier,
                      named(other), named(now)),
          "use the same thread count at every place of one barrier, and another barrier number for every other group");
    if (other.warp == now.warp && (other.mask & now.mask) != 0)
      return wrong_count(
          e, now, &other,
          fmt::format("a warp arrives at barrier {} twice in one phase, so the barrier counts it as two warps",
                      e.barrier),
          "after bar.arrive, a warp must not arrive again until the barrier has released the other warps");
  }
  if (count(now) > all)
    wrong_count(e, now, nullptr,
                fmt::format("barrier {} waits for {} threads, but the block has only {}", e.barrier, count(now),
                            block_threads(*e.launch)),
                "a barrier works inside one block: use a thread count that is not larger than the block");
}

// Reports warps of which only a part arrived, or whose lanes are at different barriers. True: there is one.
bool Barriers::judge_warps(const events::BarrierPassed& e, const BlockState& block,
                           const std::vector<Arrival>& arrived) {
  const events::Launch& launch = *e.launch;
  bool wrong = false;
  for (const Arrival& first : arrived) {
    if (!is_aligned(site_of(launch, first.site))) continue;
    LaneMask together = 0;
    const Arrival* other = nullptr;  // lanes of the same warp at another instruction
    bool is_first = true;
    for (const Arrival& a : arrived) {
      if (a.warp != first.warp) continue;
      if (&a < &first) is_first = false;
      together |= a.mask;
      if (a.site != first.site && (a.mask & first.mask) == 0 && !other) other = &a;
    }
    if (!is_first) continue;
    const LaneMask live = lanes_of_warp(launch, first.warp) & ~block.gone_of(first.warp);
    const LaneMask elsewhere = live & ~together;
    if (!other && elsewhere == 0) continue;
    wrong = true;
    found_.add(key("barrier-divergent-warp", launch, first.site, other ? other->site : first.site),
               order_key_of(launch, e.block, first), [&] {
                 results::Finding f;
                 f.kind = "barrier-divergent-warp";
                 f.accesses.push_back(access(launch, e.block, first));
                 if (other) {
                   f.message = "some threads of a warp wait at one barrier, the others at another";
                   f.accesses.push_back(access(launch, e.block, *other));
                 } else {
                   f.message =
                       fmt::format("only a part of a warp reaches it; {} of warp {} {} elsewhere",
                                   lanes_text(elsewhere), first.warp, std::has_single_bit(elsewhere) ? "is" : "are");
                 }
                 take_place(f, f.accesses[0]);
                 f.missing = "a barrier that every thread of the block reaches, unless the thread has exited before";
                 f.advice =
                     "move __syncthreads() out of code that depends on the thread index; threads without work should "
                     "skip the work, but not the barrier";
                 return f;
               });
  }
  return wrong;
}

// Reports threads that passed this barrier in earlier iterations of a loop, but exited before this one, to which the
// rest of their warp comes. So the condition of the loop, or around the barrier, depends on the thread. The program
// works only because they have exited. Threads that exit before the loop (`if (i >= n) return;`) never came and are not
// reported.
void Barriers::judge_leavers(const events::BarrierPassed& e, const BlockState& block,
                             const std::vector<Arrival>& arrived) {
  const events::Launch& launch = *e.launch;
  for (const Arrival& a : arrived) {
    const LaneMask left = lanes_of_warp(launch, a.warp) & block.gone_of(a.warp) & ~a.mask;
    if (left == 0 || !is_aligned(site_of(launch, a.site))) continue;
    const auto is_this = [&](std::uint32_t site) { return same_statement(launch, site, a.site); };
    if (std::none_of(block.passed_by_all.begin(), block.passed_by_all.end(), is_this)) continue;
    found_.add(key("barrier-divergent-warp", launch, a.site, a.site) + " left", order_key_of(launch, e.block, a), [&] {
      results::Finding f;
      f.kind = "barrier-divergent-warp";
      f.severity = results::Severity::warning;
      f.accesses.push_back(access(launch, e.block, a));
      f.message = fmt::format(
          "only a part of a warp reaches this barrier again: {} of warp {} reached it before, but {} it this time",
          lanes_text(left), a.warp, std::has_single_bit(left) ? "skips" : "skip");
      take_place(f, f.accesses[0]);
      f.notes.push_back(
          "these threads have exited, so a GPU does not wait for them; but the CUDA C++ guide allows __syncthreads() "
          "in conditional code only if the condition is the same for the whole block");
      f.advice =
          "let all threads run the same number of iterations, or move __syncthreads() out of the condition; threads "
          "without work should skip the work, but not the barrier";
      return f;
    });
  }
}

// Reports whole warps that meet at different barrier instructions. Barriers for only some warps are meant for that, and
// are not reported.
void Barriers::judge_block(const events::BarrierPassed& e, const std::vector<Arrival>& arrived) {
  const events::Launch& launch = *e.launch;
  const Arrival* first = &arrived[0];
  const Arrival* other = nullptr;
  for (const Arrival& a : arrived) {
    if (!a.waits || !is_for_all(launch, a.threads)) return;
    if (a.site != first->site && !other) other = &a;
  }
  if (!other) return;
  if (other->warp < first->warp) std::swap(first, other);
  const events::Site &here = site_of(launch, first->site), &there = site_of(launch, other->site);
  const bool mixed = reduces(here) != reduces(there);
  if (!mixed && same_statement(launch, first->site, other->site)) return;
  found_.add(
      key("barrier-divergent-block", launch, first->site, other->site), order_key_of(launch, e.block, *first), [&] {
        results::Finding f;
        f.kind = "barrier-divergent-block";
        f.severity = mixed ? results::Severity::error : results::Severity::warning;
        f.message =
            mixed ? "warps of a block wait at two different barriers, and only one of them is a reduction such as "
                    "__syncthreads_or()"
                  : "warps of a block wait at two different barriers";
        f.accesses = {access(launch, e.block, *first), access(launch, e.block, *other)};
        take_place(f, f.accesses[0]);
        f.notes.push_back(mixed ? "PTX ISA, bar: one barrier must not mix plain barriers and reductions"
                                : "a GPU releases these warps; but the CUDA C++ guide allows __syncthreads() in "
                                  "conditional code only if the condition is the same for the whole block");
        f.advice = "put one __syncthreads() after the branches, where all warps reach it";
        return f;
      });
}

}  // namespace

std::unique_ptr<Checker> make_barriers(const Known&) {
  return std::make_unique<Barriers>();
}

}  // namespace warpgrind::checkers
