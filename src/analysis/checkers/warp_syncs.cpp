// Checker of operations at which lanes of a warp meet (__syncwarp, shuffles, votes, mma). It compares the member masks
// with the lanes that come, and checks that lanes read values only from active lanes.
#include <fmt/format.h>

#include <bit>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "checkers/block_states.h"
#include "checkers/checker.h"
#include "checkers/first_seen.h"
#include "checkers/kernel_has.h"
#include "checkers/kernel_place.h"
#include "checkers/lanes_text.h"
#include "checkers/warp_paths.h"

namespace warpgrind::checkers {

namespace {

// Lanes of one meeting whose members are at several instructions. `seen`: the lanes whose events have come so far.
struct Part {
  std::uint32_t site = 0;
  LaneMask mask = 0, seen = 0;
  SiteKind operation = SiteKind::warp_barrier;
};
struct BlockParts {
  std::map<std::uint32_t, Part> parts;          // by warp
  std::map<std::uint32_t, LaneMask> executing;  // by warp: lanes of its last operation without all of its lanes
  void clear() { parts.clear(), executing.clear(); }
};

std::string call_of(const events::Site& site) {
  return site.text.substr(0, site.text.find(' '));
}

class WarpSyncs final : public Checker {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.warp_syncs = w.absent_lanes = w.blocks_ended = true;
    return w;
  }
  events::Wants wants_of(const events::Launch& launch) override {
    return what_has(launch).meetings ? wants() : events::Wants{};
  }

  void on_warp_sync(const events::WarpSync& e, unsigned) override {
    if (const LaneMask unnamed = e.mask & ~e.members) caller_not_named(e, unnamed);
    if (e.operation == SiteKind::matrix) {
      if (const LaneMask elsewhere = e.live & ~e.mask) matrix_without(e, elsewhere);
      return;
    }
    if (e.left) left_without(e);
    if (e.together != ~LaneMask{0} && e.operation == SiteKind::shuffle)
      blocks_.of(*e.launch, e.block).executing[e.warp] = e.mask;
    if (e.together != e.mask) compare_parts(e);
  }
  void on_absent_lanes(const events::AbsentLanes& e, unsigned) override;
  void on_block_end(const events::BlockEvent& e, unsigned) override { blocks_.erase(*e.launch, e.block); }
  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  static unsigned first_lane(LaneMask lanes) { return static_cast<unsigned>(std::countr_zero(lanes | 1u << 31)); }
  static OrderKey order_key_of(const events::WarpEvent& e, LaneMask lanes) {
    return {e.launch->work, e.launch->id, linear_block(*e.launch, e.block), e.warp, first_lane(lanes)};
  }
  static std::string key(const char* rule, const events::WarpEvent& e, std::uint32_t other = 0) {
    return fmt::format("{} {} {} {}", rule, e.launch->facts->name, e.site, other);
  }
  static results::FindingAccess access(const events::WarpEvent& e, std::uint32_t site, LaneMask lanes) {
    results::FindingAccess at =
        access_at(*e.launch, site, e.block, e.warp, first_lane(lanes), call_of(e.launch->facts->sites[site]));
    at.object = fmt::format("{} of warp {}", lanes_text(lanes), e.warp);
    return at;
  }
  static results::Finding finding(const char* kind, const events::WarpEvent& e, LaneMask lanes) {
    results::Finding f;
    f.kind = kind;
    f.accesses.push_back(access(e, e.site, lanes));
    take_place(f, f.accesses[0]);
    return f;
  }

  void caller_not_named(const events::WarpSync& e, LaneMask unnamed);
  void matrix_without(const events::WarpSync& e, LaneMask elsewhere);
  void left_without(const events::WarpSync& e);
  void compare_parts(const events::WarpSync& e);
  // Result of a code analysis for the site, cached.
  bool ask(const events::WarpEvent& e, bool (*question)(const ptx::Function&, std::uint32_t));
  LaneMask lanes_that_use(const events::AbsentLanes& e);

  BlockStates<BlockParts> blocks_;
  FirstSeen found_{*this};
  std::mutex mutex_;
  std::map<std::string, bool> answers_;
  std::map<std::string, LaneMask> users_;
};

bool WarpSyncs::ask(const events::WarpEvent& e, bool (*question)(const ptx::Function&, std::uint32_t)) {
  const std::string of = key(question == &result_is_used ? "used" : "passed by", e);
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = answers_.try_emplace(of, false);
  if (!is_new || !e.launch->module) return it->second;
  const events::Site& site = e.launch->facts->sites[e.site];
  if (const ptx::Function* f = find_body(*e.launch->module, site.function)) it->second = question(*f, site.instruction);
  return it->second;
}

// Lanes that use what the readers read, themselves or through another shuffle. The same for all blocks of a launch.
LaneMask WarpSyncs::lanes_that_use(const events::AbsentLanes& e) {
  if (ask(e, &result_is_used)) return e.mask;
  const events::Launch& launch = *e.launch;
  const Dim3 &t = launch.block, &g = launch.grid;
  const auto& all = blocks_.of(launch, e.block).executing;
  const auto last = all.find(e.warp);
  const LaneMask executing = last == all.end() ? e.mask : last->second;
  const std::string of = fmt::format("{} {} {:#x} {:#x} {} {} {} {} {} {}", key("users", e), e.warp, e.mask, executing,
                                     t.x, t.y, t.z, g.x, g.y, g.z);
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = users_.try_emplace(of, 0);
  if (!is_new || !launch.module) return it->second;
  const events::Site& site = launch.facts->sites[e.site];
  const ptx::Function* f = find_body(*launch.module, site.function);
  const auto place = [&](unsigned lane) { return LaneOfBlock{thread_of(launch, e.warp, lane), t, g, lane}; };
  if (f) it->second = lanes_that_use_result(*f, site.instruction, e.mask, executing, place);
  return it->second;
}

void WarpSyncs::caller_not_named(const events::WarpSync& e, LaneMask unnamed) {
  found_.add(key("not named", e), order_key_of(e, unnamed), [&] {
    results::Finding f = finding("syncwarp-mask", e, unnamed);
    f.message = fmt::format("{} {} this with the member mask {:#010x}, which does not include {}", lanes_text(unnamed),
                            std::has_single_bit(unnamed) ? "executes" : "execute", e.members,
                            std::has_single_bit(unnamed) ? "it" : "them");
    f.advice =
        "the mask must include every lane that executes the .sync operation; __ballot_sync() of the condition, before "
        "the branch, gives the mask of the lanes that take it";
    return f;
  });
}

void WarpSyncs::matrix_without(const events::WarpSync& e, LaneMask elsewhere) {
  found_.add(key("matrix", e), order_key_of(e, e.mask), [&] {
    results::Finding f = finding("syncwarp-mask", e, e.mask);
    f.message = fmt::format("a matrix operation needs all lanes of the warp; {} {} elsewhere", lanes_text(elsewhere),
                            std::has_single_bit(elsewhere) ? "is" : "are");
    f.advice = "move the operation out of code that depends on the thread index";
    return f;
  });
}

// Lanes waited for members that never came, and continued only because those exited.
void WarpSyncs::left_without(const events::WarpSync& e) {
  if (!ask(e, &can_be_passed_by)) return;  // the members just returned early
  found_.add(key("left", e), order_key_of(e, e.mask), [&] {
    results::Finding f = finding("syncwarp-mask", e, e.mask);
    f.message = fmt::format("the member mask {:#010x} includes {}, which never {} here", e.members, lanes_text(e.left),
                            std::has_single_bit(e.left) ? "comes" : "come");
    // A warning only: no lane waits for exited lanes, so it works on a GPU, depending on when they exit.
    f.severity = results::Severity::warning;
    f.notes.push_back("these lanes took another path, and exited while the others waited for them");
    f.advice =
        "use a mask of the lanes that take this path (__ballot_sync() of the condition, before the branch), or move "
        "the operation to code that all lanes reach";
    return f;
  });
}

// PTX: lanes must meet at the same operation with the same qualifiers, but not at the same instruction.
void WarpSyncs::compare_parts(const events::WarpSync& e) {
  BlockParts& block = blocks_.of(*e.launch, e.block);
  const auto [it, is_first] = block.parts.try_emplace(e.warp, Part{e.site, e.mask, e.mask, e.operation});
  if (is_first) return;
  Part& part = it->second;
  const events::Site &one = e.launch->facts->sites[part.site], &two = e.launch->facts->sites[e.site];
  if (call_of(one) != call_of(two)) {
    found_.add(key("mixed", e, part.site), order_key_of(e, part.mask), [&] {
      results::Finding f;
      f.kind = "syncwarp-mask";
      f.accesses = {access(e, part.site, part.mask), access(e, e.site, e.mask)};
      take_place(f, f.accesses[0]);
      f.message = fmt::format("lanes of one member mask ({:#010x}) wait at different operations", e.members);
      f.advice = "all lanes of a mask must execute the same operation with that mask";
      return f;
    });
  }
  part.seen |= e.mask;
  if ((e.together & ~part.seen) == 0) block.parts.erase(it);
}

void WarpSyncs::on_absent_lanes(const events::AbsentLanes& e, unsigned) {
  const LaneMask users = lanes_that_use(e);
  if (users == 0) return;
  const LaneMask own = users & e.mask;  // of the readers
  const LaneMask readers = own ? own : e.mask;
  found_.add(key("absent", e), order_key_of(e, readers), [&] {
    results::Finding f = finding("shuffle-inactive-lane", e, readers);
    const bool one = std::has_single_bit(readers);
    f.message = fmt::format("{} {} the value of a lane that does not execute the shuffle, and {}", lanes_text(readers),
                            one ? "reads" : "read",
                            own ? (one ? "uses it" : "use it")
                                : fmt::format("{} {} it through later shuffles", lanes_text(users),
                                              std::has_single_bit(users) ? "uses" : "use"));
    f.notes.push_back("the value is undefined (CUDA C++ guide, warp shuffle functions); an H200 returns 0");
    f.advice = "let every lane whose value is read execute the shuffle, and discard unwanted results afterwards";
    return f;
  });
}

}  // namespace

std::unique_ptr<Checker> make_warp_syncs(const Known&) {
  return std::make_unique<WarpSyncs>();
}

}  // namespace warpgrind::checkers
