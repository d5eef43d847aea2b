// Estimate of the registers per thread that ptxas would give a kernel that exists only as PTX. It counts the values
// that are live at once in the modelled machine code, and the loads that ptxas moves early. If the binary has a cubin,
// use the cubin's exact count instead.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/definitions.h"
#include "ptx/ast.h"
#include "sass/code.h"

namespace warpgrind::sass {

struct RegisterNeed {
  std::uint32_t alive = 0;  // 32-bit registers, maximum live at one place
  std::uint32_t apart = 0;  // ... without loaded but unused values of the block: their loads could come later
  std::uint32_t loads = 0;  // ... filled by the loads of one block, including the iterations of an unrolled loop
};
RegisterNeed register_need(const ptx::Module& module, std::uint32_t function);

// Fitted to the registers that ptxas 13.0 gave 419 kernels of the lab and the microbenchmark on sm_90: a constant for
// addresses and the stack, and a fifth more than the live values.
inline constexpr double kOwnRegisters = 6, kRegistersOfLive = 1.2;
// For 385 of these kernels the estimate is at most this far from ptxas.
inline constexpr std::uint32_t kRegisterError = 8;

struct RegisterEstimate {
  std::uint32_t registers = 0;  // within the limit
  std::uint32_t needed = 0;     // without a limit, if no load is moved early
  std::uint32_t limit = 0;      // by .maxnreg, .maxntid, .minnctapersm and the compute capability
  // Whether ptxas must spill even if the estimate is too high by the usual error.
  bool spills() const { return needed > limit + kRegisterError; }
};
// `cc`: compute capability times 10.
RegisterEstimate estimate_registers(const ptx::Module& module, std::uint32_t function, std::uint32_t cc);

// Modelled machine code of a function, without a launch. Empty: too large to look at.
Code code_of(const ptx::Module& module, std::uint32_t function, const GpuModel& model = {});
// Definitions of the code's functions, in their order.
std::vector<flow::Definitions> bodies_of(const Code& code, const ptx::Module& module);

// Whether a value of this type is computed in two registers. f32x2 is not: it has its own instructions.
inline bool is_wide(ptx::ScalarType t) {
  return ptx::bits(t) == 64 && t != ptx::ScalarType::f32x2;
}

// cvt.sat.f32.f32: a modifier of the sum or product before it.
inline bool is_saturation(const ptx::Instruction& i) {
  const auto single = [](ptx::ScalarType t) { return t == ptx::ScalarType::f32; };
  return i.opcode == ptx::Opcode::cvt && i.types.size() == 2 && single(i.types[0]) && single(i.types[1]) &&
         i.modifiers.size() == 1 && i.has(ptx::Modifier::sat);
}

}  // namespace warpgrind::sass
