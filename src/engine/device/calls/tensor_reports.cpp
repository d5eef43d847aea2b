// What is reported of tensor memory: faults, missing waits, and memory that a block has not freed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "device/calls/tensor_memory.h"
#include "device/device_impl.h"
#include "device/fault.h"
#include "gpu/occupancy.h"

namespace warpgrind::device {

namespace {

using Hazard = TensorMemory::Hazard;

std::string columns_text(unsigned first, unsigned columns) {
  return columns == 1 ? fmt::format("column {}", first) : fmt::format("columns {} to {}", first, first + columns - 1);
}

}  // namespace

std::string other_place(const Launch& launch, std::uint32_t site) {
  const Fault at = describe(launch, FaultKind::tensor_memory, site);
  return at.line ? fmt::format("line {}", at.line) : fmt::format("PTX line {}", at.ptx_line);
}

namespace {

FaultText hazard_text(const TensorCall& call, const TensorMemory::Finding& found, bool reads) {
  const Launch& launch = launch_of(*call.context);
  const char* const verb = reads ? "reads" : "writes";
  FaultText text;
  text.kind = FaultKind::tensor_memory;
  const std::string what = fmt::format("{} {} column {} of tensor memory", call.name, verb, found.column);
  switch (found.hazard) {
    case Hazard::none:
      break;
    case Hazard::unwritten:
      text.message = what + ", which nothing has written since its allocation";
      text.advice = "let the first tcgen05.mma overwrite D (enable-input-d false), or store zeroes first";
      break;
    case Hazard::uncommitted:
      text.message = fmt::format("{}, which the operation of {} still writes: no tcgen05.commit follows it", what,
                                 other_place(launch, found.site));
      text.advice =
          "commit the operation to an mbarrier (cuda::ptx::tcgen05_commit, cutlass::arch::umma_arrive) and wait for "
          "that before";
      break;
    case Hazard::unfinished:
      text.message = fmt::format("{}, which the operation of {} still writes: no thread has waited for its mbarrier",
                                 what, other_place(launch, found.site));
      text.advice =
          "wait for the mbarrier of tcgen05.commit (cuda::ptx::mbarrier_try_wait_parity), then use "
          "tcgen05.fence::after_thread_sync";
      break;
    case Hazard::stored:
      text.message = fmt::format("{}, which the tcgen05.st of {} still writes", what, other_place(launch, found.site));
      text.advice = "put tcgen05.wait::st (cuda::ptx::tcgen05_wait_st) between the two";
      break;
    case Hazard::loaded:
      text.message = fmt::format("{}, which the tcgen05.ld of {} still reads", what, other_place(launch, found.site));
      text.advice = "put tcgen05.wait::ld (cuda::ptx::tcgen05_wait_ld) between the two";
      break;
  }
  return text;
}

}  // namespace

void TensorCall::fail(FaultKind kind, std::string text, std::string advice) const {
  raise(*context, site, lane, kind, std::move(text), std::move(advice));
}

void check_pair(const TensorCall& call, bool pair) {
  const Cluster* const cluster = call.block().cluster;
  if (!pair || (cluster && cluster->size % 2 == 0)) return;
  call.fail(FaultKind::tensor_memory,
            fmt::format("{}.cta_group::2 needs a cluster with an even number of blocks", call.name),
            "launch the kernel with clusters of 2 blocks (cudaLaunchAttributeClusterDimension, __cluster_dims__)");
}

TensorBlocks tensor_blocks(const TensorCall& call, bool pair) {
  TensorBlocks blocks;
  Block& own = call.block();
  blocks.of[0] = &own;
  if (!pair) return blocks;
  check_pair(call, pair);
  const std::uint32_t even = own.cluster_rank & ~1u;
  for (unsigned k = 0; k < 2; ++k) {
    blocks.of[k] = own.cluster->blocks[even + k];
    if (!blocks.of[k])
      call.fail(FaultKind::tensor_memory,
                fmt::format("{}.cta_group::2: the other block of the pair has ended", call.name),
                "synchronize the cluster before a block leaves the kernel (barrier.cluster)");
  }
  blocks.count = 2;
  return blocks;
}

TensorMemory& tensor_memory(const TensorCall& call, Block& block, bool pair) {
  if (!block.uses_tensor)
    call.fail(FaultKind::tensor_memory,
              fmt::format("{} is executed before tensor memory has been allocated{}", call.name,
                          &block == &call.block() ? "" : " in the other block of the pair"),
              "let one warp execute tcgen05.alloc, and synchronize the block before its address is used");
  if (!block.tensor->uses_group(pair ? 2 : 1))
    call.fail(FaultKind::tensor_memory,
              fmt::format("{}.cta_group::{}: the kernel has used tcgen05 with the other .cta_group before", call.name,
                          pair ? 2 : 1),
              "use the same .cta_group for all tcgen05 instructions of a kernel");
  return *block.tensor;
}

namespace {

// A fault leaves no frame, so its text is made in a function of its own.
std::string outside_text(const TensorCall& call, const char* verb, const TensorMemory& memory, unsigned first,
                         unsigned columns) {
  std::string text =
      fmt::format("{} {} {} of tensor memory; allocated: ", call.name, verb, columns_text(first, columns));
  for (const TensorMemory::Allocation& a : memory.allocations())
    text += fmt::format("{}{}", &a == memory.allocations().data() ? "" : ", ", columns_text(a.first, a.columns));
  if (memory.allocations().empty()) text += "none";
  for (unsigned c = first; c < first + columns; ++c)
    if (const std::uint32_t* freed = memory.freed_at(c))
      return text + fmt::format("; column {} was freed at {}", c, other_place(launch_of(*call.context), *freed));
  return text;
}

}  // namespace

std::string no_allocation_text(const TensorCall& call, const TensorMemory& memory, std::uint32_t address,
                               unsigned columns) {
  if (tensor_lane(address) != 0) return fmt::format("tcgen05.dealloc of an address of lane {}", tensor_lane(address));
  return outside_text(call, "frees", memory, tensor_column(address), columns);
}

void check_columns(const TensorCall& call, const TensorMemory& memory, unsigned first, unsigned columns) {
  if (memory.is_allocated(first, columns)) return;
  call.fail(FaultKind::tensor_memory, outside_text(call, "accesses", memory, first, columns),
            "check the address and the number of columns against tcgen05.alloc (cuda::ptx::tcgen05_alloc, "
            "cute::TMEM::Allocator1Sm), and free them (tcgen05_dealloc) after the last use");
}

void report_hazard(const TensorCall& call, const TensorMemory::Finding& found, bool reads) {
  if (found.hazard == Hazard::none) return;
  FaultText said = hazard_text(call, found, reads);
  warn(*call.context, call.site, call.lane, said.kind, std::move(said.message), std::move(said.advice));
}

BarrierPlace barrier_place(const jit::WarpContext& c, std::uint64_t offset) {
  const std::uint64_t in_window = offset + std::uint64_t{c.cluster_rank} * kBlockStride;
  return {static_cast<std::uint32_t>(in_window / kBlockStride), in_window % kBlockStride};
}

void note_tensor_waits(const jit::WarpContext& c, const std::uint64_t* offsets, const std::uint64_t* parities,
                       const std::uint64_t* passed, LaneMask mask) {
  each_tensor_memory(c, [&](TensorMemory& memory) {
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      if (!passed[l]) continue;
      const BarrierPlace at = barrier_place(c, offsets[l]);
      memory.complete(at.rank, at.offset, (parities[l] & 1) != 0);
    }
  });
}

void end_tensor_memory(Worker& w, Block& b) {
  b.uses_tensor = false;
  const Launch& launch = *w.launch;
  if (launch.stop.load(std::memory_order_relaxed)) return;
  const Dim3 index{b.index[0], b.index[1], b.index[2]};
  for (const TensorMemory::Allocation& a : b.tensor->allocations())
    warn_at_end(w, a.site, index, {a.warp * kWarpSize, 0, 0}, FaultKind::tensor_memory,
                fmt::format("{} of tensor memory, allocated here, are not freed when the block ends",
                            columns_text(a.first, a.columns)),
                "let one warp execute tcgen05.dealloc (cuda::ptx::tcgen05_dealloc) before the block ends; on a GPU "
                "other blocks may wait for these columns for ever");
}

// Blocks of the launch that one SM runs at the same time.
namespace {

unsigned blocks_on_sm(const Launch& launch) {
  const GpuModel& model = launch.device->impl().model;
  BlockResources block;
  block.threads = launch.threads_per_block;
  block.registers_per_thread = launched_registers(model, launch.kernel->code->register_estimate);
  block.static_shared = launch.shared_size;
  const std::uint64_t needed = (launch.blocks + launch.sm_count - 1) / launch.sm_count;
  return static_cast<unsigned>(std::min<std::uint64_t>(occupancy(model, block).blocks_per_sm, needed));
}

}  // namespace

void warn_of_waiting_blocks(const TensorCall& call, const TensorMemory& memory, unsigned columns) {
  if (memory.allocations().empty()) return;
  unsigned held = 0;
  for (const TensorMemory::Allocation& a : memory.allocations()) held += a.columns;
  const unsigned resident = blocks_on_sm(launch_of(*call.context));
  unsigned blocks = 2;
  while (blocks <= resident && TensorMemory::kColumns >= blocks * held + columns) ++blocks;
  if (blocks > resident || blocks * held > TensorMemory::kColumns) return;
  warn(*call.context, call.site, call.lane, FaultKind::tensor_memory,
       fmt::format("tcgen05.alloc of {} columns by a block that holds {}: {} blocks fit on an SM, and when {} of them "
                   "hold so many, each may wait for ever for columns of the others",
                   columns, held, resident, blocks),
       "allocate all columns of a block by one tcgen05.alloc (cuda::ptx::tcgen05_alloc, cute::TMEM::Allocator1Sm), or "
       "let fewer blocks fit on an SM");
}

// Each active thread issues the whole operation.
void warn_of_threads(const TensorCall& call, LaneMask mask) {
  if (std::has_single_bit(mask)) return;
  warn(*call.context, call.site, call.lane, FaultKind::tensor_memory,
       fmt::format("{} is issued by {} threads of a warp, and each issues the whole operation", call.name,
                   std::popcount(mask)),
       "let one thread issue it (elect.sync, cute::elect_one_sync)");
}

}  // namespace warpgrind::device
