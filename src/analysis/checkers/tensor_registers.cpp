// Checker of the results of tcgen05.ld: the load is asynchronous, and writes its registers until tcgen05.wait::ld (PTX
// ISA, "tcgen05.wait"). As for wgmma, the events of the warp say which of these operations it executes one after the
// other, and the code says which registers are touched on the ways between them. Not held against hardware: ptxas knows
// the registers of a load, and CUTLASS has epilogues that read them without the wait. Hence INFO.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "checkers/block_states.h"
#include "checkers/checker.h"
#include "checkers/first_seen.h"
#include "checkers/kernel_code.h"
#include "checkers/repairs.h"

namespace warpgrind::checkers {

namespace {

struct WarpLoads {
  std::vector<std::uint32_t> pending;  // sites of loads that no tcgen05.wait::ld has completed
  std::uint32_t last = ~0u;            // site of the last load or wait; ~0: none
};

struct BlockLoads {
  std::vector<WarpLoads> warps;
  void clear() { warps.clear(); }
};

struct KernelLoads {
  explicit KernelLoads(const events::Launch& launch) : code(launch, {"tcgen05.ld", "tcgen05.wait"}) {}
  KernelCode code;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> done;  // of the ways that are looked at already
};

class TensorRegisters final : public Checker {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.warp_syncs = w.blocks_ended = true;
    return w;
  }
  events::Wants wants_of(const events::Launch& launch) override {
    return has_role(launch, SiteRole::tensor_load) ? wants() : events::Wants{};
  }
  void on_warp_sync(const events::WarpSync& e, unsigned) override;
  void on_block_end(const events::BlockEvent& e, unsigned) override {
    const std::lock_guard lock(mutex_);
    BlockLoads& block = blocks_.of(*e.launch, e.block);
    for (std::uint32_t w = 0; w < block.warps.size(); ++w)
      if (block.warps[w].last != ~0u)
        look({e.launch, block.warps[w].last, e.block, w, ~LaneMask{0}}, block.warps[w], TouchedRegisters::kExit);
    blocks_.erase(*e.launch, e.block);
  }
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override {
    const std::lock_guard lock(mutex_);
    kernels_.erase(launch.id);
  }
  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  KernelLoads& kernel(const events::Launch& launch) { return kernels_.try_emplace(launch.id, launch).first->second; }
  void look(const events::WarpEvent& e, const WarpLoads& warp, std::uint32_t to);
  void touched(const events::WarpEvent& e, std::uint32_t load, const TouchedRegisters::Touch& touch);

  BlockStates<BlockLoads> blocks_;
  std::mutex mutex_;
  std::map<std::uint64_t, KernelLoads> kernels_;  // by launch
  FirstSeen found_{*this};
};

// Looks for results of pending loads that are touched between the last operation of the warp and the next one.
void TensorRegisters::look(const events::WarpEvent& e, const WarpLoads& warp, std::uint32_t to) {
  KernelLoads& k = kernel(*e.launch);
  const auto& sites = e.launch->facts->sites;
  const events::Site& last = sites[warp.last];
  const bool exits = to == TouchedRegisters::kExit;
  if (!exits && sites[to].function != last.function) return;
  const TouchedRegisters* const f = k.code.function(*e.launch, warp.last);
  if (!f) return;
  for (const std::uint32_t load : warp.pending) {
    if (sites[load].function != last.function || !k.done.insert({load, warp.last, to}).second) continue;
    const auto touch =
        f->touch(last.instruction, exits ? to : sites[to].instruction, f->of_load(sites[load].instruction));
    if (touch) touched(e, load, *touch);
  }
}

void TensorRegisters::on_warp_sync(const events::WarpSync& e, unsigned) {
  if (e.operation != SiteKind::matrix) return;
  const std::lock_guard lock(mutex_);
  const SiteRole role = kernel(*e.launch).code.role(e.site);
  const bool waits = role == SiteRole::tensor_wait_loads;
  if (!waits && role != SiteRole::tensor_load && role != SiteRole::tensor_wait_stores) return;
  BlockLoads& block = blocks_.of(*e.launch, e.block);
  if (block.warps.size() <= e.warp) block.warps.resize(e.warp + 1);
  WarpLoads& warp = block.warps[e.warp];
  if (warp.last != ~0u) look(e, warp, e.site);
  if (waits) warp.pending.clear();
  if (role == SiteRole::tensor_load &&
      std::find(warp.pending.begin(), warp.pending.end(), e.site) == warp.pending.end())
    warp.pending.push_back(e.site);
  warp.last = e.site;
}

void TensorRegisters::touched(const events::WarpEvent& e, std::uint32_t load, const TouchedRegisters::Touch& touch) {
  found_.add(fmt::format("touched {} {} {}", e.launch->facts->name, load, touch.instruction),
             {e.launch->work, e.launch->id, linear_block(*e.launch, e.block), e.warp, 0}, [&] {
               results::Finding f;
               f.kind = "tensor-registers";
               f.severity = results::Severity::info;
               take_touch(f, e, load, "tcgen05.ld", touch);
               f.message = fmt::format("a result of tcgen05.ld is {} before the load is complete",
                                       touch.writes ? "overwritten" : "read");
               f.missing = fmt::format("tcgen05.wait::ld between {} and {}", place_text(f.accesses[0]),
                                       place_text(f.accesses[1]));
               f.advice = in_cpp(Repair::tensor_load_wait);
               return f;
             });
}

}  // namespace

std::unique_ptr<Checker> make_tensor_registers(const Known&) {
  return std::make_unique<TensorRegisters>();
}

}  // namespace warpgrind::checkers
