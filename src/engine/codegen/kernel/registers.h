// PTX registers: storage of each (flow/forms.h), and access to operands in every form.
#pragma once

#include <vector>

#include "codegen/kernel/affine.h"
#include "codegen/kernel/lane_masks.h"
#include "codegen/kernel/special_registers.h"
#include "codegen/kernel/variables.h"

namespace warpgrind::jit {

// The register that guards an instruction, as an operand.
inline ptx::Operand predicate_of(const ptx::Guard& guard) {
  ptx::Operand p;
  p.kind = ptx::OperandKind::reg;
  p.index = guard.reg;
  p.negated = guard.negated;
  return p;
}

class Registers {
 public:
  // Storage of a register. The allocas become SSA values later.
  struct Slot {
    llvm::AllocaInst* scalar = nullptr;  // uniform value; affine and wide: b
    llvm::AllocaInst* base = nullptr;    // wide: base
    llvm::AllocaInst* kx = nullptr;      // only when not a compile-time constant
    llvm::AllocaInst* ky = nullptr;
    llvm::AllocaInst* vector = nullptr;  // varying
  };

  Registers(FunctionContext& context, LaneMasks& masks, Variables& variables)
      : f_(context), ir_(context.ir()), masks_(masks), variables_(variables), special_(context) {}
  void create();

  const Slot& slot(ptx::RegId r) const { return slots_[r]; }
  const flow::Form& form(ptx::RegId r) const { return f_.analysis.forms[r]; }
  flow::Form form(const ptx::Operand& operand) const;
  flow::Form result_form() const;  // form of the current instruction's result; may be better than its register's
  bool is_scalar(const ptx::Operand& operand) const;
  bool is_read(const ptx::Operand& destination) const;  // by an instruction other than the current one

  llvm::Value* read(const ptx::Operand& operand, ptx::ScalarType type);  // scalar or vector as in now.scalar
  llvm::Value* read_scalar(const ptx::Operand& operand, ptx::ScalarType type);
  llvm::Value* read_vector(const ptx::Operand& operand, ptx::ScalarType type);
  // A uniform, affine or (width 64) wide operand, in affine terms.
  Affine read_affine(const ptx::Operand& operand, unsigned width);
  llvm::Value* load_scalar(ptx::RegId r);  // value of a uniform register, without conversion

  void write(const ptx::Operand& operand, llvm::Value* value, ptx::ScalarType type);
  void write_affine(ptx::RegId r, const Affine& value);

  llvm::Value* carry_slot();  // CC.CF

 private:
  void clear_unwritten();
  llvm::Value* load_vector(ptx::RegId r);
  llvm::Value* affine_vector(const Affine& a);
  Affine affine_special(ptx::SpecialRegister s);
  llvm::Value* immediate(const ptx::Operand& operand, ptx::ScalarType type);
  llvm::Value* uniform_address(const ptx::Operand& operand);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Variables& variables_;
  SpecialRegisters special_;
  std::vector<Slot> slots_;
  llvm::AllocaInst* carry_ = nullptr;
};

}  // namespace warpgrind::jit
