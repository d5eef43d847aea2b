// Registers of a PTX function that no path has written yet. A source variable in such a register has no value yet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::debugger {

class UnsetRegisters {
 public:
  explicit UnsetRegisters(const ptx::Function& function);  // must outlive it
  // True if no path from the beginning of the function to this instruction writes the register.
  bool unset_before(std::uint32_t instruction, ptx::RegId reg) const;

 private:
  const ptx::Function& function_;
  std::vector<std::uint32_t> block_of_, first_;  // block of an instruction; first instruction of a block
  // By block: registers that some path may have written before it, a bit for each.
  std::vector<std::vector<bool>> written_before_;
};

// Computed once for each function. Functions must outlive it.
class UnsetRegisterCache {
 public:
  const UnsetRegisters& of(const ptx::Function& function) {
    std::unique_ptr<UnsetRegisters>& known = known_[&function];
    if (!known) known = std::make_unique<UnsetRegisters>(function);
    return *known;
  }

 private:
  std::map<const ptx::Function*, std::unique_ptr<UnsetRegisters>> known_;
};

}  // namespace warpgrind::debugger
