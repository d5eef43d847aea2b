// A variable or register that is watched in one call of one thread, and the places of a kernel where it is touched, or
// where the call ends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "debugger/lane_view.h"
#include "debugger/positions.h"
#include "debugger/register_uses.h"
#include "debugger/stopped_warp.h"
#include "jit/stop_places.h"

namespace warpgrind::debugger {

struct WatchedCall {
  Call call;
  const ptx::Module* module = nullptr;
  std::uint32_t function = 0;
  // Where the caller goes on, and its depth. depth 0: the function is a kernel.
  debuginfo::CodePlace behind_call;
  std::uint32_t caller_depth = 0;
};
WatchedCall call_to_watch(const StoppedWarp& warp, unsigned lane, const WarpFrame& frame,
                          const std::vector<jit::StopPlace>& places);

struct WatchedRegister : WatchedCall {
  // The value in a register of the lane, and behind it as many bytes with its undefined bits. Empty: it has none.
  using Read = std::function<std::vector<std::uint8_t>(LaneView& lane, ptx::RegId reg)>;

  const debuginfo::Variable* variable = nullptr;  // null: the register itself, whatever it is used for
  ptx::RegId reg = ptx::kNoId;                    // where the value is now
  RegisterUses uses;
  bool reads = false, writes = true;
  Read read;
};

// Error: the register is not kept in memory. `variable` may be null.
Result<WatchedRegister> register_to_watch(const StoppedWarp& warp, unsigned lane, const WarpFrame& frame,
                                          const std::vector<jit::StopPlace>& places,
                                          const debuginfo::Variable* variable, ptx::RegId reg);
// The innermost frame of the call in StoppedWarp::frames(); nullopt: it has not begun, or has ended.
std::optional<std::uint32_t> index_of(const Call& call, const StoppedWarp& warp);
// The register that has the value at a place; kNoId: none has.
ptx::RegId register_at(const WatchedRegister& value, std::uint32_t instruction);

// What happens between a place and the next one. ends: the thread ends. returned: the call has ended before the place.
struct RegisterSite {
  enum class Kind : std::uint8_t { write, read, ends, returned } kind = Kind::write;
  unsigned watch = 0;  // 0: that of go_to_last_write()
  ptx::RegId reg = ptx::kNoId;
  ptx::Guard guard;  // of the instruction, if its value at the place is that at the instruction
};
// By place. add_ends: of a call that watchpoint `watch` belongs to.
void add_ends(const WatchedCall& call, unsigned watch, const std::vector<jit::StopPlace>& places,
              std::map<std::uint32_t, std::vector<RegisterSite>>& out);
void add_sites(const WatchedRegister& value, unsigned watch, const std::vector<jit::StopPlace>& places,
               std::map<std::uint32_t, std::vector<RegisterSite>>& out);

}  // namespace warpgrind::debugger
