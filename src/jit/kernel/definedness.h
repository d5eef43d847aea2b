// Which bits of registers nobody has written. Only in kernels whose uses of such bits an observer wants.
//
// Each register that may hold some has a shadow: an integer of its width, 1 where a bit is undefined, one for the warp
// or for each lane like the register itself. Shadows are computed before the instruction itself: `ld` and `st` move
// them from and to the shadow of memory (device/definedness), what moves bits is lowered a second time over the shadows
// of what it moves, logic, addition and comparison know which bits of a result do not depend on undefined ones, and of
// all else every bit of the result is undefined where a bit of a source is. Results of what is not followed (atomics,
// calls, textures, matrices) count as defined: nothing is reported that is not there.
//
// Nothing is reported where undefined bits are loaded, moved or computed with, but where they decide: a branch or a
// guard, an address, an operand of a barrier, the lane of a shuffle. After that they count as defined.
#pragma once

#include <optional>
#include <vector>

#include "jit/kernel/lower.h"
#include "jit/kernel/registers.h"
#include "jit/kernel/sites.h"

namespace warpgrind::jit {

class Definedness {
 public:
  // As wg_undefined_use() takes it: events::UndefinedUse::Use.
  enum class Use : std::uint8_t { branch, address, operand };

  Definedness(FunctionContext& context, LaneMasks& masks, Registers& registers, Sites& sites)
      : f_(context), ir_(context.ir()), masks_(masks), registers_(registers), sites_(sites) {}
  void create();
  bool on() const { return on_; }

  // The current instruction, before it is lowered: what it uses, and the shadows of what it writes.
  void check_guard();
  void check_uses();
  void propagate(Lowering& lowering, LowerFunction lower);

  // ---- For the rules and for ld and st

  bool tracks(const ptx::Operand& operand) const;  // may have undefined bits; of a vector: some element
  // Shadow of a register, of the width of `type`, for 32 lanes or for the warp; null: all bits are defined.
  llvm::Value* read(const ptx::Operand& operand, ptx::ScalarType type, bool lanes);
  llvm::Value* read_lanes(const ptx::Operand& operand, ptx::ScalarType type);  // zeros for null
  // As Registers::write, with an integer or null.
  void write(const ptx::Operand& operand, llvm::Value* shadow, ptx::ScalarType type);
  llvm::Type* integer(ptx::ScalarType type, bool lanes) const;
  llvm::Value* some(llvm::Value* shadow) const;  // i1 or <32 x i1>: any bit
  // Lanes of the mask of the current instruction with some bit, as i32.
  llvm::Value* lanes_with(llvm::Value* shadow);
  // `then` where some lane has an undefined bit: seldom.
  void where_any(llvm::Value* lanes, llvm::function_ref<void()> then);

 private:
  friend class DefinednessRules;
  struct Slot {
    llvm::AllocaInst* at = nullptr;  // null: always defined
    bool lanes = false;              // one a lane
    bool blend = false;              // other lanes' shadows are kept at every write
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

// Results that count as defined whatever the sources are (a load's come from memory).
bool gives_defined(const ptx::Instruction& instruction);
// ld of memory that has a shadow.
bool loads_shadow(const ptx::Instruction& instruction);

}  // namespace warpgrind::jit
