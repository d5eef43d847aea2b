// Registers that a debugger can read at a stop, in kernels without variables of the source (-lineinfo, not -G). Their
// machine code holds values in the host's registers, and copies the live ones into the frame only before it calls the
// device.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/cfg.h"
#include "flow/liveness.h"
#include "jit/abi.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

// Each frame is one of these. If it has no slots, `kept` has copies of the registers that are live at its place, in
// active lanes.
struct KeptFrame {
  StopFrame frame;
  // Places that the warp had passed when the function was called. With the depth of the frame it names one call, also
  // when the launch runs again.
  std::uint64_t entered;
  const std::uint8_t* kept;
  const std::uint32_t* kept_at;  // kRegisterSlots offsets in `kept` for each register, or kNotKept
};
inline constexpr std::uint32_t kNotKept = ~0u;

// True: the module has variables of the source. Its kernels hold all registers in memory, so that a debugger can read
// and write variables at any place.
bool has_variables(const ptx::Module& module);

// Live registers of one function, as the module has it.
class StopRegisters {
 public:
  explicit StopRegisters(const ptx::Function& function);
  // A bit for each register that is live there.
  std::vector<std::uint64_t> before(std::uint32_t instruction) const;

 private:
  const ptx::Function& function_;
  const flow::ControlFlow cfg_;
  const flow::LiveRegisters live_;
};

inline bool is_member(const std::vector<std::uint64_t>& registers, ptx::RegId r) {
  return registers[r / 64] >> (r % 64) & 1;
}

}  // namespace warpgrind::jit
