// Registers that a function touches on the ways between two of its asynchronous operations (wgmma, tcgen05.ld).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::checkers {

class TouchedRegisters {
 public:
  static constexpr std::uint32_t kExit = ~0u;
  // operations: beginnings of the opcodes at which ways end.
  explicit TouchedRegisters(const ptx::Function& function, std::vector<std::string_view> operations);

  struct Touch {
    std::uint32_t instruction = 0;
    bool writes = false;
  };
  // First instruction in the code that touches one of the registers and lies on a way from instruction `from` to `to`
  // (kExit: to the function's end) without another operation on it. A mov is no touch: its result counts like the
  // register. only_writes: reads do not count.
  std::optional<Touch> touch(std::uint32_t from, std::uint32_t to, std::set<ptx::RegId> registers,
                             bool only_writes = false) const;
  // Is an instruction of this opcode and modifier on a way from `from` to `to`, as in touch()?
  bool passes(std::uint32_t from, std::uint32_t to, ptx::Opcode opcode, ptx::Modifier modifier) const;
  // Accumulators of the product, and A if it is in registers.
  std::set<ptx::RegId> of_product(std::uint32_t instruction) const;
  // Results of a load.
  std::set<ptx::RegId> of_load(std::uint32_t instruction) const;

 private:
  std::vector<bool> reached(std::uint32_t from, std::uint32_t to) const;
  bool is_operation(const ptx::Instruction& instruction) const;
  const ptx::Function& function_;
  std::vector<std::string_view> operations_;
  flow::ControlFlow flow_;
};

}  // namespace warpgrind::checkers
