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
#include "checkers/repairs.h"
#include "checkers/site_roles.h"
#include "checkers/touched_registers.h"
#include "checkers/warp_paths.h"

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
  std::vector<SiteRole> roles;
  std::map<std::string, std::unique_ptr<TouchedRegisters>> functions;
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
    const auto& sites = launch.facts->sites;
    const bool any = std::any_of(sites.begin(), sites.end(),
                                 [](const events::Site& s) { return role_of(s) == SiteRole::tensor_load; });
    return any ? wants() : events::Wants{};
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
  KernelLoads& kernel(const events::Launch& launch);
  void look(const events::WarpEvent& e, const WarpLoads& warp, std::uint32_t to);
  void touched(const events::WarpEvent& e, std::uint32_t load, const TouchedRegisters::Touch& touch);

  BlockStates<BlockLoads> blocks_;
  std::mutex mutex_;
  std::map<std::uint64_t, KernelLoads> kernels_;  // by launch
  FirstSeen found_;
};

KernelLoads& TensorRegisters::kernel(const events::Launch& launch) {
  KernelLoads& k = kernels_[launch.id];
  if (k.roles.empty())
    for (const events::Site& s : launch.facts->sites) k.roles.push_back(role_of(s));
  return k;
}

// Looks for results of pending loads that are touched between the last operation of the warp and the next one.
void TensorRegisters::look(const events::WarpEvent& e, const WarpLoads& warp, std::uint32_t to) {
  KernelLoads& k = kernel(*e.launch);
  const auto& sites = e.launch->facts->sites;
  const events::Site& last = sites[warp.last];
  const bool exits = to == TouchedRegisters::kExit;
  if (!exits && sites[to].function != last.function) return;
  std::unique_ptr<TouchedRegisters>& f = k.functions[last.function];
  if (!f) {
    const ptx::Function* const body = find_body(*e.launch->module, last.function);
    if (!body) return;
    f = std::make_unique<TouchedRegisters>(*body, std::vector<std::string_view>{"tcgen05.ld", "tcgen05.wait"});
  }
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
  KernelLoads& k = kernel(*e.launch);
  const SiteRole role = e.site < k.roles.size() ? k.roles[e.site] : SiteRole::none;
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
  const auto [instruction, writes] = touch;
  const auto& sites = e.launch->facts->sites;
  found_.add(fmt::format("touched {} {} {}", e.launch->facts->name, load, instruction),
             {e.launch->work, e.launch->id, linear_block(*e.launch, e.block), e.warp, 0}, [&] {
               results::Finding f;
               f.kind = "tensor-registers";
               f.severity = results::Severity::info;
               f.accesses.push_back(access_at(*e.launch, load, e.block, e.warp, 0, "tcgen05.ld"));
               f.accesses.push_back(access_at(*e.launch, load, e.block, e.warp, 0,
                                              writes ? "write of a register" : "read of a register"));
               move_to(f.accesses[1], *e.launch, sites[load], instruction);
               f.accesses[0].role = "first";
               f.accesses[1].role = "second";
               take_place(f, f.accesses[1]);
               f.message = fmt::format("a result of tcgen05.ld is {} before the load is complete",
                                       writes ? "overwritten" : "read");
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
