#include "checkers/repairs.h"

#include <fmt/format.h>

namespace warpgrind::checkers {

namespace {

// Sources: libcu++ 3 (cuda/ptx), CUTLASS 3 and 4 (cutlass/arch/barrier.h, cute/arch).
struct Words {
  Repair repair;
  const char* ptx;
  const char* cuda_ptx;  // null: none
  const char* cutlass;
};
constexpr Words kWords[] = {
    {Repair::proxy_fence, "fence.proxy.async", "fence_proxy_async(space_shared)",
     "cutlass::arch::fence_view_async_shared() or cute::tma_store_fence()"},
    {Repair::copy_wait, "the wait for the copy", "mbarrier_try_wait_parity(&bar, parity)",
     "ClusterTransactionBarrier::wait(phase) or consumer_wait() of a pipeline"},
    {Repair::expect_bytes, "mbarrier.arrive.expect_tx",
     "mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &bar, bytes)",
     "ClusterTransactionBarrier::arrive_and_expect_tx(bytes), or the bytes of a pipeline's Params"},
    {Repair::store_read_wait, "cp.async.bulk.wait_group.read", "cp_async_bulk_wait_group_read(n32_t<0>{})",
     "cute::tma_store_wait<0>()"},
    {Repair::store_wait, "cp.async.bulk.wait_group", "cp_async_bulk_wait_group(n32_t<0>{})", nullptr},
    {Repair::products_fence, "wgmma.fence", nullptr,
     "cute::warpgroup_arrive(), after warpgroup_fence_operand(accumulators)"},
    {Repair::products_commit, "wgmma.commit_group", nullptr, "cute::warpgroup_commit_batch()"},
    {Repair::products_wait, "wgmma.wait_group", nullptr, "cute::warpgroup_wait<0>()"},
    {Repair::init_fence, "fence.mbarrier_init", "fence_mbarrier_init(sem_release, scope_cluster)",
     "cutlass::arch::fence_barrier_init(), then cute::cluster_sync()"},
    {Repair::tensor_commit, "tcgen05.commit",
     "tcgen05_commit(cta_group_1, &bar), then mbarrier_try_wait_parity(&bar, parity)",
     "cutlass::arch::umma_arrive(&bar), then ClusterBarrier::wait(phase), or PipelineUmmaAsync"},
    {Repair::tensor_fence, "tcgen05.fence::after_thread_sync", "tcgen05_fence_after_thread_sync()", nullptr},
    {Repair::tensor_load_wait, "tcgen05.wait::ld", "tcgen05_wait_ld()", "cutlass::arch::fence_view_async_tmem_load()"},
    {Repair::cluster_sync, "barrier.cluster", "barrier_cluster_arrive() and barrier_cluster_wait()",
     "cute::cluster_sync()"},
    {Repair::arrival, "mbarrier.arrive", "mbarrier_arrive(&bar)",
     "ClusterBarrier::arrive(); cutlass::arch::NamedBarrier::sync() lets threads wait for each other"},
};

}  // namespace

std::string in_cpp(Repair repair) {
  for (const Words& w : kWords) {
    if (w.repair != repair) continue;
    if (!w.cuda_ptx) return fmt::format("{} is {} in CUTLASS", w.ptx, w.cutlass);
    if (!w.cutlass) return fmt::format("{} is cuda::ptx::{}", w.ptx, w.cuda_ptx);
    return fmt::format("{} is cuda::ptx::{}; in CUTLASS it is {}", w.ptx, w.cuda_ptx, w.cutlass);
  }
  return "";
}

}  // namespace warpgrind::checkers
