// Undefined bits of registers, found from where their values come. Kernels with variables in registers (nvcc -G) keep
// no such bits of them.
//
// A load of memory that was never written gives undefined bits. Such memory is still unwritten at the stop, or nothing
// is known: a set bit is always right. Only values with one instruction that writes them are followed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "debugger/lane_view.h"
#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::debugger {

// Which instruction gave a register of a function its value.
class RegisterSources {
 public:
  explicit RegisterSources(const ptx::Function& function);  // must outlive it
  struct Source {
    std::uint32_t instruction = ptx::kNoId;
    std::uint32_t result = 0;  // which of its results
  };
  // The only one that writes the register, if all paths to `at` pass it and no guard can skip it. kNoId: none is.
  Source written_before(std::uint32_t at, ptx::RegId reg) const;

 private:
  bool dominates(std::uint32_t block, std::uint32_t other) const;

  flow::ControlFlow cfg_;
  std::vector<Source> only_;              // by register
  std::vector<std::uint32_t> dominator_;  // by block: the immediate one; kNoId: not known
};

// Computed once for each function. Functions must outlive it.
class RegisterSourceCache {
 public:
  const RegisterSources& of(const ptx::Function& function) {
    std::unique_ptr<RegisterSources>& known = known_[&function];
    if (!known) known = std::make_unique<RegisterSources>(function);
    return *known;
  }

 private:
  std::map<const ptx::Function*, std::unique_ptr<RegisterSources>> known_;
};

// Set bits: those of the register were never written. `at`: the next instruction of the function. `is_set`: registers
// that the user has changed, whose sources say nothing any more.
std::uint64_t undefined_bits(const LaneView& lane, const ptx::Function& function, const RegisterSources& sources,
                             std::uint32_t at, ptx::RegId reg, const std::function<bool(ptx::RegId)>& is_set);

}  // namespace warpgrind::debugger
