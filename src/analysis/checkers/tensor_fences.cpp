// Checker of tcgen05.fence::after_thread_sync: a thread that has waited for the mbarrier of a tcgen05.commit needs it
// before its own tcgen05 instructions, which may start early otherwise (PTX ISA, "tcgen05.fence"). The fence raises no
// event: the code says whether one stands on the ways from the wait to tcgen05.ld or tcgen05.st. INFO, because no
// hardware has shown it and CUTLASS has epilogues without this fence. Limit: a barrier of the block between the two.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkers/block_states.h"
#include "checkers/checker.h"
#include "checkers/first_seen.h"
#include "checkers/kernel_code.h"
#include "checkers/repairs.h"

namespace warpgrind::checkers {

namespace {

constexpr std::uint32_t kNoWait = ~0u;

struct BlockWaits {
  std::vector<std::uint32_t> warps;  // site of the last wait for a commit; kNoWait: none, or judged
  void clear() { warps.clear(); }
};

struct KernelWaits {
  explicit KernelWaits(const events::Launch& launch) : code(launch, {}) {}
  KernelCode code;
  std::set<std::uint64_t> committed;                       // offsets of the mbarriers that tcgen05.commit arrives at
  std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // of the ways that are looked at already
};

class TensorFences final : public Checker {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.warp_syncs = w.mbarriers = w.blocks_ended = true;
    return w;
  }
  events::Wants wants_of(const events::Launch& launch) override {
    return has_role(launch, SiteRole::tensor_commit) ? wants() : events::Wants{};
  }
  void on_mbarrier(const events::MBarrier& e, unsigned) override;
  void on_warp_sync(const events::WarpSync& e, unsigned) override;
  void on_block_end(const events::BlockEvent& e, unsigned) override {
    const std::lock_guard lock(mutex_);
    blocks_.erase(*e.launch, e.block);
  }
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override {
    const std::lock_guard lock(mutex_);
    kernels_.erase(launch.id);
  }
  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  KernelWaits& kernel(const events::Launch& launch) { return kernels_.try_emplace(launch.id, launch).first->second; }
  std::uint32_t& wait_of(const events::WarpEvent& e);
  bool has_fence(KernelWaits& k, const events::Launch& launch, std::uint32_t wait, std::uint32_t access);
  void missing(const events::WarpEvent& e, std::uint32_t wait);

  BlockStates<BlockWaits> blocks_;
  std::mutex mutex_;
  std::map<std::uint64_t, KernelWaits> kernels_;  // by launch
  FirstSeen found_{*this};
};

std::uint32_t& TensorFences::wait_of(const events::WarpEvent& e) {
  std::vector<std::uint32_t>& warps = blocks_.of(*e.launch, e.block).warps;
  if (warps.size() <= e.warp) warps.resize(e.warp + 1, kNoWait);
  return warps[e.warp];
}

void TensorFences::on_mbarrier(const events::MBarrier& e, unsigned) {
  const std::lock_guard lock(mutex_);
  KernelWaits& k = kernel(*e.launch);
  const bool commits = k.code.role(e.site) == SiteRole::tensor_commit;
  if (!commits && !events::is_wait(e.operation)) return;
  for (LaneMask m = e.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (commits) k.committed.insert(events::offset_in_owner(e.offsets[lane]));
    if (!commits && e.results[lane] != 0 && k.committed.contains(events::offset_in_owner(e.offsets[lane])))
      wait_of(e) = e.site;
  }
}

bool TensorFences::has_fence(KernelWaits& k, const events::Launch& launch, std::uint32_t wait, std::uint32_t access) {
  const auto& sites = launch.facts->sites;
  if (sites[access].function != sites[wait].function) return true;  // unknown
  const TouchedRegisters* const f = k.code.function(launch, wait);
  return !f || f->passes(sites[wait].instruction, sites[access].instruction, ptx::Opcode::tcgen05_fence,
                         ptx::Modifier::fence_after_thread_sync);
}

void TensorFences::on_warp_sync(const events::WarpSync& e, unsigned) {
  if (e.operation != SiteKind::matrix) return;
  const std::lock_guard lock(mutex_);
  KernelWaits& k = kernel(*e.launch);
  const SiteRole role = k.code.role(e.site);
  if (role != SiteRole::tensor_load && role != SiteRole::tensor_store) return;
  const std::uint32_t wait = std::exchange(wait_of(e), kNoWait);
  if (wait == kNoWait || !k.done.insert({wait, e.site}).second) return;
  if (!has_fence(k, *e.launch, wait, e.site)) missing(e, wait);
}

void TensorFences::missing(const events::WarpEvent& e, std::uint32_t wait) {
  const bool loads = role_of(e.launch->facts->sites[e.site]) == SiteRole::tensor_load;
  found_.add(fmt::format("fence {} {} {}", e.launch->facts->name, wait, e.site),
             {e.launch->work, e.launch->id, linear_block(*e.launch, e.block), e.warp, 0}, [&] {
               results::Finding f;
               f.kind = "tensor-fence";
               f.severity = results::Severity::info;
               take_pair(f, access_at(*e.launch, wait, e.block, e.warp, 0, "wait for tcgen05.commit"),
                         access_at(*e.launch, e.site, e.block, e.warp, 0, loads ? "tcgen05.ld" : "tcgen05.st"));
               f.message = fmt::format("{} follows a wait for the mbarrier of tcgen05.commit without a fence",
                                       loads ? "tcgen05.ld" : "tcgen05.st");
               f.missing = fmt::format("tcgen05.fence::after_thread_sync between {} and {}", place_text(f.accesses[0]),
                                       place_text(f.accesses[1]));
               f.advice = in_cpp(Repair::tensor_fence);
               return f;
             });
}

}  // namespace

std::unique_ptr<Checker> make_tensor_fences(const Known&) {
  return std::make_unique<TensorFences>();
}

}  // namespace warpgrind::checkers
