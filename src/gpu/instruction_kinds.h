// What kinds of instructions there are: words that the table of opcodes, what is watched and what is counted share.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgrind {

// The classes of the instruction mix (Nsight's smsp__sass_thread_inst_executed_op_*), in PTX terms.
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

// What a site (events/site.h) does. An instruction of no kind of its own is watched where lanes meet: a barrier.
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
  // Where the lanes of a warp meet (.sync).
  warp_barrier,
  shuffle,
  vote,
  match,
  redux,
  elect,
  matrix  // mma; those that move matrices are loads and stores
};

}  // namespace warpgrind
