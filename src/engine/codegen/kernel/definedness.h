// Tracking of undefined (never written) bits of registers. Only in kernels compiled for an observer of their uses.
//
// Each register that may hold undefined bits has a shadow: an integer of its width, with a 1 for each undefined bit.
// There is one for the warp or one per lane, like the register itself. Shadows are computed before the instruction
// itself:
//  - `ld` and `st` move shadows from and to the shadow of memory (device/memory/shadow_memory.h).
//  - An instruction that only moves bits is lowered a second time, on the shadows of its sources.
//  - Logic, addition and comparison know which result bits do not depend on undefined bits.
//  - For all others, every bit of the result is undefined if any bit of a source is.
// Results that are not tracked (atomics, calls, textures, matrices) count as defined, so that no false report arises.
//
// Loading, moving or computing with undefined bits is not reported. A report is made only where they decide something:
// a branch or a guard, an address, an operand of a barrier, the lane of a shuffle. After that they count as defined.
#pragma once

#include <optional>
#include <vector>

#include "codegen/kernel/lower.h"
#include "codegen/kernel/registers.h"
#include "codegen/kernel/sites.h"

namespace warpgrind::jit {

class Definedness {
 public:
  // Argument of wg_undefined_use(): events::UndefinedUse::Use.
  enum class Use : std::uint8_t { branch, address, operand };

  Definedness(FunctionContext& context, LaneMasks& masks, Registers& registers, Sites& sites)
      : f_(context), ir_(context.ir()), masks_(masks), registers_(registers), sites_(sites) {}
  void create();
  bool on() const { return on_; }

  // For the current instruction, before it is lowered: check its uses, and compute the shadows of its results.
  void check_guard();
  void check_uses();
  void propagate(Lowering& lowering, LowerFunction lower);

  // ---- For the rules and for ld and st

  bool tracks(const ptx::Operand& operand) const;  // may have undefined bits (of a vector: some element)
  // Shadow of a register in the width of `type`, for 32 lanes or for the warp. Null: all bits are defined.
  llvm::Value* read(const ptx::Operand& operand, ptx::ScalarType type, bool lanes);
  llvm::Value* read_lanes(const ptx::Operand& operand, ptx::ScalarType type);  // zeros for null
  // Like Registers::write, with an integer or null.
  void write(const ptx::Operand& operand, llvm::Value* shadow, ptx::ScalarType type);
  llvm::Type* integer(ptx::ScalarType type, bool lanes) const;
  llvm::Value* some(llvm::Value* shadow) const;  // i1 or <32 x i1>: any bit is undefined
  // Lanes that execute the current instruction and have an undefined bit, as i32.
  llvm::Value* lanes_with(llvm::Value* shadow);
  // Emits `then` for the rare case that some lane has an undefined bit.
  void where_any(llvm::Value* lanes, llvm::function_ref<void()> then);

 private:
  friend class DefinednessRules;
  struct Slot {
    llvm::AllocaInst* at = nullptr;  // null: always defined
    bool lanes = false;              // one per lane
    bool blend = false;              // every write keeps the shadows of inactive lanes
  };
  void find_tracked();
  llvm::Value* load(ptx::RegId r, bool lanes);
  void check(const ptx::Operand& operand, Use use);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  Sites& sites_;
  bool on_ = false;
  std::vector<bool> tracked_;    // by register
  std::vector<bool> unwritten_;  // by register: may be read before it is written
  std::vector<Slot> slots_;
};

// True if the results count as defined whatever the sources are (those of a load come from memory).
bool gives_defined(const ptx::Instruction& instruction);
// ld of memory that has a shadow.
bool loads_shadow(const ptx::Instruction& instruction);

}  // namespace warpgrind::jit
