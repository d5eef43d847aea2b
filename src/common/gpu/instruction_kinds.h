// Kinds of instructions, shared by the table of opcodes, the observers and the counters.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgrind {

// Classes of the instruction mix (Nsight's smsp__sass_thread_inst_executed_op_*), in PTX terms.
enum class InstructionClass : std::uint8_t {
  fp16,
  fp32,
  fp64,
  integer,
  conversion,
  bit,
  control,
  compare_select,
  move,
  load_store,
  texture,
  inter_thread,
  barrier,
  uniform_math,
  tensor,
  misc,
  count
};

std::string_view name(InstructionClass c);  // "fp16"

// Operation of a site (events/site.h). An instruction without a kind of its own that synchronizes lanes counts as a
// barrier.
enum class SiteKind : std::uint8_t {
  load,
  store,
  atomic,
  reduction,
  texture,
  surface,
  async_copy,
  branch,
  barrier,
  call,
  bulk_copy,
  mbarrier,
  fence,
  // Synchronization of the lanes of a warp (.sync).
  warp_barrier,
  shuffle,
  vote,
  match,
  redux,
  elect,
  matrix,          // mma; instructions that move matrices are loads and stores
  launch_control,  // clusterlaunchcontrol
  other            // none of these: a trap, a check of undefined bits
};

}  // namespace warpgrind
