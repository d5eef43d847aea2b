// Variation of each register over the 32 lanes of a warp: the analysis that makes machine code fast. Each register has
// one form, the join of all its definitions. nvcc's PTX is close to single assignment, so this loses little.
//
//   uniform   the same value in all lanes that hold it
//   affine    8- to 32-bit integer: b + kx*X(lane) + ky*Y(lane), modulo its width (X, Y: jit/abi.h)
//   wide      64-bit integer: base + scale * extend(b + kx*X + ky*Y), where the bracket is a 32-bit affine value. The
//             extension stays symbolic, because the bracket may wrap between lanes. It is resolved exactly where the
//             value is used.
//   varying   anything else: a vector of 32 values
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

enum class FormKind : std::uint8_t { undefined, uniform, affine, wide, varying };

struct Form {
  FormKind kind = FormKind::undefined;
  // Coefficients known at compile time, as signed 32-bit numbers. nullopt: known only at run time.
  std::optional<std::int64_t> kx, ky;
  std::uint8_t zeros = 0;  // known trailing zero bits of the base part b
  bool is_signed = false;  // wide: sign extension
  std::int64_t scale = 1;  // wide
  friend bool operator==(const Form&, const Form&) = default;
};

// Shape of the block, as far as tid.x/y/z depend on it (the same as jit::LaneShape, without a dependency on jit).
struct LaneLayout {
  unsigned row_length = 32;  // 32: linear; 1..16: rows
  bool one_row = false;      // lanes behind the first row are never on
  bool general = false;      // tid.* vary arbitrarily
  unsigned rows() const { return one_row ? 1 : 32 / row_length; }
};

struct FormAnalysis {
  std::vector<Form> forms;      // by RegId
  std::vector<bool> divergent;  // by block: its last branch may split a warp
  // By block and register: a definition there must keep the values of other lanes.
  std::vector<std::vector<bool>> blend;
  std::vector<bool> spin_head;  // by block: head of a loop that may wait for other lanes, warps or blocks
  bool any_divergence = false;
};

FormAnalysis analyse_forms(const ptx::Function& function, const ControlFlow& cfg, const LaneLayout& layout);

// Registers that an instruction reads or writes. A guarded definition also reads the old value.
void registers_read(const ptx::Instruction& instruction, std::vector<ptx::RegId>& out);
std::size_t destination_operands(const ptx::Instruction& instruction);  // leading operands that are written
void registers_written(const ptx::Instruction& instruction, std::vector<ptx::RegId>& out);
// registers_written() with the position of each register among the results. Elements of vectors count, and so does the
// sink `_`, which is not a register. In `elect.sync _|p` the predicate is result 1.
struct WrittenRegister {
  ptx::RegId reg;
  std::size_t place;
};
void results_written(const ptx::Instruction& instruction, std::vector<WrittenRegister>& out);

// Form of an operand, given the forms of the registers. The analysis and the lowering both use it.
Form operand_form(const ptx::Operand& operand, const std::vector<Form>& forms, const LaneLayout& layout,
                  const ptx::Function& function);

}  // namespace warpgrind::flow
