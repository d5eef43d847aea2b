// Checker of the registers of wgmma. From its issue to wgmma.wait_group, a product writes its accumulators and reads
// the registers of A; and wgmma.fence must stand between an access to such a register and the product. (PTX ISA,
// "wgmma.fence", "wgmma.mma_async".) Registers raise no events: the events of the warp say which of these operations it
// executes one after the other, and the code says which registers are touched on the ways between them.
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

// A product that is not known to be complete.
struct Pending {
  std::uint32_t site = 0, group = 0;  // group: of the warp, 1 for the first
};

struct WarpProducts {
  std::vector<Pending> pending;  // oldest first; one of each site and group
  std::uint32_t groups = 0;      // committed
  std::uint32_t last = ~0u;      // site of the last such operation; ~0: none
  // Operations since the last wgmma.fence, itself included, oldest first; empty: no fence yet.
  std::vector<std::uint32_t> since_fence;
};

struct BlockProducts {
  std::vector<WarpProducts> warps;
  void clear() { warps.clear(); }
};

// Static facts of a kernel that has products.
struct KernelProducts {
  explicit KernelProducts(const events::Launch& launch) : code(launch, {"wgmma."}) {
    for (const events::Site& s : launch.facts->sites) pending.push_back(pending_groups(s));
  }
  KernelCode code;
  std::vector<std::uint32_t> pending;  // groups that may stay so behind a wait, by site
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> done;  // of the ways that are looked at already
};

class Products final : public Checker {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.warp_syncs = w.blocks_ended = true;
    return w;
  }
  events::Wants wants_of(const events::Launch& launch) override {
    return has_role(launch, SiteRole::product) ? wants() : events::Wants{};
  }
  void on_warp_sync(const events::WarpSync& e, unsigned) override;
  void on_block_end(const events::BlockEvent& e, unsigned) override {
    const std::lock_guard lock(mutex_);
    BlockProducts& block = blocks_.of(*e.launch, e.block);
    for (std::uint32_t w = 0; w < block.warps.size(); ++w) {
      if (block.warps[w].last == ~0u) continue;
      events::WarpEvent at{e.launch, block.warps[w].last, e.block, w, ~LaneMask{0}};
      look(at, block.warps[w], TouchedRegisters::kExit);
    }
    blocks_.erase(*e.launch, e.block);
  }
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override {
    const std::lock_guard lock(mutex_);
    kernels_.erase(launch.id);
  }
  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  KernelProducts& kernel(const events::Launch& launch) { return kernels_.try_emplace(launch.id, launch).first->second; }
  void look(const events::WarpEvent& e, WarpProducts& warp, std::uint32_t to);
  void begin(const events::WarpEvent& e, WarpProducts& warp);
  void touched(const events::WarpEvent& e, const Pending& product, bool committed,
               const TouchedRegisters::Touch& touch);
  void not_fenced(const events::WarpEvent& e, std::uint32_t written_at);

  BlockStates<BlockProducts> blocks_;
  std::mutex mutex_;
  std::map<std::uint64_t, KernelProducts> kernels_;  // by launch
  FirstSeen found_{*this};
};

// Looks for registers of pending products that are touched between the last operation of the warp and the next one.
void Products::look(const events::WarpEvent& e, WarpProducts& warp, std::uint32_t to) {
  KernelProducts& k = kernel(*e.launch);
  const auto& sites = e.launch->facts->sites;
  const bool exits = to == TouchedRegisters::kExit;
  if (!exits && sites[to].function != sites[warp.last].function) return;
  const TouchedRegisters* const f = k.code.function(*e.launch, warp.last);
  if (!f) return;
  for (const Pending& p : warp.pending) {
    if (!k.done.insert({p.site, warp.last, to}).second || sites[p.site].function != sites[warp.last].function) continue;
    const auto touch = f->touch(sites[warp.last].instruction, exits ? to : sites[to].instruction,
                                f->of_product(sites[p.site].instruction));
    if (touch) touched(e, p, p.group <= warp.groups, *touch);
  }
}

// A product begins: were its registers written since the last wgmma.fence?
void Products::begin(const events::WarpEvent& e, WarpProducts& warp) {
  KernelProducts& k = kernel(*e.launch);
  const auto& sites = e.launch->facts->sites;
  if (warp.since_fence.empty()) return not_fenced(e, TouchedRegisters::kExit);
  const TouchedRegisters* const f = k.code.function(*e.launch, e.site);
  if (!f) return;
  for (std::size_t i = 0; i < warp.since_fence.size(); ++i) {
    const std::uint32_t from = warp.since_fence[i],
                        to = i + 1 < warp.since_fence.size() ? warp.since_fence[i + 1] : e.site;
    if (sites[from].function != sites[e.site].function || sites[to].function != sites[e.site].function) continue;
    if (!k.done.insert({e.site | 1u << 31, from, to}).second) continue;
    const auto touch = f->touch(sites[from].instruction, sites[to].instruction,
                                f->of_product(sites[e.site].instruction), /*only_writes=*/true);
    if (touch) not_fenced(e, touch->instruction);
  }
}

void Products::on_warp_sync(const events::WarpSync& e, unsigned) {
  if (e.operation != SiteKind::matrix) return;
  const std::lock_guard lock(mutex_);
  KernelProducts& k = kernel(*e.launch);
  const SiteRole role = k.code.role(e.site);
  constexpr SiteRole kRoles[] = {SiteRole::product, SiteRole::product_fence, SiteRole::product_commit,
                                 SiteRole::product_wait};
  if (std::find(std::begin(kRoles), std::end(kRoles), role) == std::end(kRoles)) return;
  BlockProducts& block = blocks_.of(*e.launch, e.block);
  if (block.warps.size() <= e.warp) block.warps.resize(e.warp + 1);
  WarpProducts& warp = block.warps[e.warp];
  if (warp.last != ~0u) look(e, warp, e.site);
  if (role == SiteRole::product) {
    begin(e, warp);
    const auto same = [&](const Pending& p) { return p.site == e.site && p.group == warp.groups + 1; };
    if (std::none_of(warp.pending.begin(), warp.pending.end(), same)) warp.pending.push_back({e.site, warp.groups + 1});
  } else if (role == SiteRole::product_commit) {
    ++warp.groups;
  } else if (role == SiteRole::product_wait) {
    const std::uint32_t left = k.pending[e.site];
    std::erase_if(warp.pending, [&](const Pending& p) { return p.group + left <= warp.groups; });
  }
  if (role == SiteRole::product_fence) warp.since_fence.clear();
  // A repeated operation adds no way: the last two are kept, which a loop executes one after the other.
  constexpr std::size_t kMost = 256;
  if ((role == SiteRole::product_fence || !warp.since_fence.empty()) && warp.since_fence.size() < kMost)
    warp.since_fence.push_back(e.site);
  warp.last = e.site;
}

void Products::touched(const events::WarpEvent& e, const Pending& product, bool committed,
                       const TouchedRegisters::Touch& touch) {
  found_.add(fmt::format("touched {} {} {}", e.launch->facts->name, product.site, touch.instruction),
             {e.launch->work, e.launch->id, linear_block(*e.launch, e.block), e.warp, 0}, [&] {
               results::Finding f;
               f.kind = "wgmma-registers";
               take_touch(f, e, product.site, "wgmma", touch);
               f.message = fmt::format("a register of wgmma.mma_async is {} before the product is complete",
                                       touch.writes ? "written" : "read");
               f.missing =
                   fmt::format("{} between {} and {}: until then the product uses its registers",
                               committed ? "wgmma.wait_group" : "wgmma.commit_group, and wgmma.wait_group after it,",
                               place_text(f.accesses[0]), place_text(f.accesses[1]));
               f.advice = in_cpp(committed ? Repair::products_wait : Repair::products_commit);
               return f;
             });
}

void Products::not_fenced(const events::WarpEvent& e, std::uint32_t written_at) {
  const auto& sites = e.launch->facts->sites;
  const bool first = written_at == TouchedRegisters::kExit;
  found_.add(fmt::format("fence {} {} {}", e.launch->facts->name, e.site, written_at),
             {e.launch->work, e.launch->id, linear_block(*e.launch, e.block), e.warp, 0}, [&] {
               results::Finding f;
               f.kind = "wgmma-fence";
               f.accesses.push_back(access_at(*e.launch, e.site, e.block, e.warp, 0, "wgmma"));
               if (!first) {
                 f.accesses.push_back(access_at(*e.launch, e.site, e.block, e.warp, 0, "write of a register"));
                 move_to(f.accesses[1], *e.launch, sites[e.site], written_at);
               }
               take_place(f, f.accesses[0]);
               f.message = first ? "the first wgmma.mma_async of a warp without wgmma.fence before it"
                                 : "a register of wgmma.mma_async is written after the last wgmma.fence";
               f.missing = first ? std::string("wgmma.fence before the first product")
                                 : fmt::format("wgmma.fence between {} and {}", place_text(f.accesses[1]),
                                               place_text(f.accesses[0]));
               f.advice = in_cpp(Repair::products_fence);
               return f;
             });
}

}  // namespace

std::unique_ptr<Checker> make_products(const Known&) {
  return std::make_unique<Products>();
}

}  // namespace warpgrind::checkers
