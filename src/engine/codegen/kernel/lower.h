// Interface of an instruction lowering: reads the operands as LLVM values and writes the result. There is one lowering
// file per chapter of the PTX manual (codegen/families/integer.cpp, codegen/families/floating_point.cpp, ...).
//
// A value is either SCALAR (the same in all lanes) or a VECTOR of 32 lanes. An instruction whose sources are all scalar
// is lowered once, on scalars. So write a lowering with operations that work on both (IRBuilder's do) and constants
// from constant().
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <initializer_list>
#include <map>
#include <vector>

#include "codegen/kernel/meeting.h"
#include "codegen/kernel/position.h"
#include "codegen/kernel/values.h"

namespace warpgrind::jit {

class Lowering : public Values {
 public:
  using Meeting = jit::Meeting;

  Lowering(const Values& values, const Position& now) : Values(values), now_(now) {}
  virtual ~Lowering() = default;

  const ptx::Instruction& instruction() const { return *now_.instruction; }
  bool scalar() const { return now_.scalar; }  // the current instruction works on scalars

  // element(), or <32 x element()> if the current instruction is a vector one.
  llvm::Type* value_type(ptx::ScalarType type);
  llvm::Type* value_type(llvm::Type* element);
  llvm::Value* constant(ptx::ScalarType type, std::uint64_t bits);  // splat where needed; floats: bit pattern
  llvm::Value* constant(llvm::Type* element, double value);         // float splat

  // Reads operand `index` (0 is the first destination) as `type`. Registers are reinterpreted bit for bit and truncated
  // or zero-extended to the type's width (PTX allows a wider register for a narrower source). The value is scalar or
  // vector as scalar() says.
  virtual llvm::Value* source(std::size_t index, ptx::ScalarType type) = 0;
  virtual llvm::Value* read(const ptx::Operand& operand, ptx::ScalarType type) = 0;
  virtual llvm::Value* read_scalar(const ptx::Operand& operand, ptx::ScalarType type) = 0;  // only if is_scalar()
  virtual llvm::Value* read_vector(const ptx::Operand& operand, ptx::ScalarType type) = 0;  // always 32 lanes
  virtual bool is_predicate(const ptx::Operand& operand) const = 0;                         // a register of type .pred
  virtual bool is_scalar(const ptx::Operand& operand) const = 0;        // read() in scalar mode is possible
  virtual bool never_subnormal(const ptx::Operand& operand) const = 0;  // tiny_results.h
  // False: no other instruction of the function reads the value that this one writes to the operand. (nvcc writes
  // `atom` with an unused destination where the hardware's code is a reduction.)
  virtual bool is_read(const ptx::Operand& destination) const = 0;
  // Writes operand `index`. The value is scalar or vector, of `type`'s width or narrower (then sign- or zero-extended
  // by type).
  virtual void result(std::size_t index, llvm::Value* value, ptx::ScalarType type) = 0;
  virtual void write(const ptx::Operand& operand, llvm::Value* value, ptx::ScalarType type) = 0;

  // Undefined bits of an operand in each lane, as integers of the type's width (kernel/definedness.h), and those of a
  // result. Null: all bits are defined.
  virtual llvm::Value* undefined(const ptx::Operand& operand, ptx::ScalarType type) = 0;
  virtual void undefined_result(std::size_t index, llvm::Value* bits, ptx::ScalarType type) = 0;

  // Lanes that execute the instruction now (active and guard on), as i32 / as <32 x i1>.
  virtual llvm::Value* mask_bits() = 0;
  virtual llvm::Value* mask_vector() = 0;
  virtual llvm::Value* context_pointer() = 0;  // WarpContext*

  // Calls `void NAME(context?, mask?, out*, in0*, in1*, ...)` with 32-lane arrays, for operations that are better in
  // C++. The result is a vector of `result_element` (in scalar mode the value of lane 0). The functions are in
  // jit/calls/math.cpp or device/.
  llvm::Value* call_lanes(const char* name, llvm::Type* result_element, std::initializer_list<llvm::Value*> arguments,
                          bool pass_context = false, bool pass_mask = false);
  // Address of a scratch array of 32 lanes of `element`, `count` times, allocated in the entry block. Valid for this
  // instruction only: the next one gets the same arrays again.
  llvm::Value* scratch(llvm::Type* element, unsigned count = 1);
  // Addresses of an instruction that names the space .shared, as the device gets them: offsets in the block's own
  // memory (FunctionContext::own_shared). Other spaces: unchanged.
  virtual llvm::Value* in_own_memory(llvm::Value* addresses) = 0;
  // Number of the memory/texture/barrier site of this instruction (events::Site), as i32 constant.
  virtual llvm::Value* site_number() = 0;

  // An observer wants events of fences and groups of asynchronous copies: these call the device, too.
  virtual bool synchronization_observed() const = 0;

  // The condition code CC.CF of extended-precision arithmetic: address of <32 x i1>, one per function.
  virtual llvm::Value* carry_slot() = 0;
  // End of each lane's stack in its local memory: address of <32 x i64>, one per function.
  virtual llvm::Value* stack_slot() = 0;

  // Meeting of the lanes that execute a `.sync` operation together: those in the member mask (null: all active ones),
  // wherever they come from. `value` of each is exchanged.
  virtual Meeting meet(const ptx::Operand* members, llvm::Value* value) = 0;
  // An operation of all lanes (.sync.aligned without a mask): reports its lanes to observers.
  virtual void meet_all() = 0;
  // A barrier of the block. `whole_warp` emits it for a warp that arrives as a whole. Returns the result of a reduction
  // (`operation` of wg_barrier_reduce) over `predicate`, if there is one.
  virtual llvm::Value* barrier(llvm::Value* id, llvm::Value* threads, llvm::function_ref<llvm::Value*()> whole_warp,
                               llvm::Value* predicate, std::uint32_t operation) = 0;
  // At such a barrier, a region may end if the whole warp is there; `come` asks the device (kernel/regions.h).
  virtual bool ends_region() const = 0;
  virtual void end_region(llvm::function_ref<llvm::Value*()> come, bool of_block) = 0;
  // The waiting half of a cluster barrier, likewise.
  virtual void cluster_wait(llvm::function_ref<void()> whole_warp) = 0;

  // Ends the compilation of this kernel with Error{unsupported}: "cvt.rn.satfinite.e2m1x2.f32 is not supported".
  virtual void unsupported(const char* why) = 0;

 protected:
  void free_scratch() { scratch_used_.clear(); }

 private:
  const Position& now_;
  using ScratchKind = std::pair<llvm::Type*, unsigned>;  // element, count
  std::map<ScratchKind, std::vector<llvm::Value*>> scratch_areas_;
  std::map<ScratchKind, std::size_t> scratch_used_;  // by the current instruction
};

using LowerFunction = void (*)(Lowering&);

// Each row of the table of opcodes names its lowering.
#define WG_PTX_OPCODE(identifier, lowering, ...) void lowering(Lowering&);
#define WG_PTX_REFUSED(...)
#include "ptx/opcodes.inc"

}  // namespace warpgrind::jit
