// Lowering of one PTX function to one LLVM function: block by block, instruction by instruction. One class is
// responsible for each topic. The opcode families (lower.h) see none of these classes, only the interface Lowering.
#pragma once

#include "codegen/kernel/affine_arithmetic.h"
#include "codegen/kernel/branches.h"
#include "codegen/kernel/calls.h"
#include "codegen/kernel/clock.h"
#include "codegen/kernel/definedness.h"
#include "codegen/kernel/lower.h"
#include "codegen/kernel/memory.h"
#include "codegen/kernel/slow_paths.h"
#include "codegen/kernel/stack_parameters.h"
#include "codegen/kernel/stops.h"
#include "codegen/kernel/tiny_results.h"

namespace warpgrind::jit {

LowerFunction find_lowering(ptx::Opcode opcode);  // nullptr: the opcode is refused

class FunctionLowering final : public Lowering {
 public:
  explicit FunctionLowering(FunctionContext& context)
      : Lowering(context, context.now),
        f_(context),
        tiny_(f_),
        masks_(f_),
        variables_(f_),
        registers_(f_, masks_, variables_),
        affine_(f_, registers_),
        sites_(f_),
        definedness_(f_, masks_, registers_, sites_),
        counting_(f_, masks_),
        slow_paths_(f_, masks_, registers_, counting_),
        clock_(f_),
        stops_(f_, masks_, registers_, variables_),
        stack_(f_, masks_),
        regions_(f_, masks_, stack_, registers_),
        waiting_(f_, masks_, stack_, registers_, sites_, regions_),
        divergence_(f_, masks_, stack_, waiting_, regions_),
        branches_(f_, masks_, stack_, registers_, sites_, counting_, waiting_, divergence_),
        parameters_(f_, masks_, registers_),
        stack_parameters_(f_, variables_, sites_, parameters_),
        memory_(f_, masks_, variables_, registers_, sites_, counting_, parameters_, definedness_),
        calls_(f_, masks_, registers_, sites_, parameters_, divergence_) {}
  void run();

  // For the opcodes of the core (core_opcodes.cpp).
  Memory& memory() { return memory_; }
  Calls& calls() { return calls_; }

  // Lowering
  llvm::Value* source(std::size_t index, ptx::ScalarType type) override {
    return registers_.read(instruction().operands[index], type);
  }
  llvm::Value* read(const ptx::Operand& o, ptx::ScalarType type) override { return registers_.read(o, type); }
  llvm::Value* read_scalar(const ptx::Operand& o, ptx::ScalarType type) override {
    return registers_.read_scalar(o, type);
  }
  llvm::Value* read_vector(const ptx::Operand& o, ptx::ScalarType type) override {
    return registers_.read_vector(o, type);
  }
  bool is_scalar(const ptx::Operand& o) const override { return registers_.is_scalar(o); }
  bool never_subnormal(const ptx::Operand& o) const override { return tiny_.never_subnormal(o); }
  bool is_read(const ptx::Operand& destination) const override { return registers_.is_read(destination); }
  bool is_predicate(const ptx::Operand& o) const override {
    return o.kind == ptx::OperandKind::reg && f_.function.registers[o.index].type == ptx::ScalarType::pred;
  }
  void result(std::size_t index, llvm::Value* value, ptx::ScalarType type) override {
    registers_.write(instruction().operands[index], value, type);
  }
  void write(const ptx::Operand& o, llvm::Value* value, ptx::ScalarType type) override {
    registers_.write(o, value, type);
  }
  llvm::Value* undefined(const ptx::Operand& o, ptx::ScalarType type) override {
    return definedness_.read(o, type, true);
  }
  void undefined_result(std::size_t index, llvm::Value* bits, ptx::ScalarType type) override {
    definedness_.write(instruction().operands[index], bits, type);
  }
  llvm::Value* carry_slot() override { return registers_.carry_slot(); }
  llvm::Value* stack_slot() override { return variables_.stack_slot(); }
  llvm::Value* mask_bits() override { return masks_.bits(); }
  llvm::Value* mask_vector() override { return masks_.lanes(); }
  llvm::Value* context_pointer() override { return f_.context_argument; }
  llvm::Value* site_number() override { return sites_.number(); }
  llvm::Value* in_own_memory(llvm::Value* addresses) override {
    return f_.instruction().space == StateSpace::shared ? f_.own_shared(addresses) : addresses;
  }
  bool synchronization_observed() const override { return f_.unit.options.synchronization; }
  Meeting meet(const ptx::Operand* members, llvm::Value* value) override { return waiting_.meet(members, value); }
  void meet_all() override { waiting_.meet_all(); }
  llvm::Value* barrier(llvm::Value* id, llvm::Value* threads, llvm::function_ref<llvm::Value*()> whole_warp,
                       llvm::Value* predicate, std::uint32_t operation) override {
    return waiting_.barrier(id, threads, whole_warp, predicate, operation);
  }
  bool ends_region() const override { return regions_.end_here(); }
  void end_region(llvm::function_ref<llvm::Value*()> come, bool of_block) override {
    regions_.end(come, of_block ? sites_.number() : nullptr);
  }
  void cluster_wait(llvm::function_ref<void()> whole_warp) override { waiting_.cluster_wait(whole_warp); }
  void unsupported(const char* why) override { f_.unsupported(why); }

 private:
  void lower_block(std::uint32_t block);
  void lower_instruction(std::uint32_t index);
  void check_end(std::uint32_t index);
  void lower_unguarded();

  FunctionContext& f_;
  TinyResults tiny_;
  LaneMasks masks_;
  Variables variables_;
  Registers registers_;
  AffineArithmetic affine_;
  Sites sites_;
  Definedness definedness_;
  Counting counting_;
  SlowPaths slow_paths_;
  Clock clock_;
  Stops stops_;
  PathStack stack_;
  Regions regions_;
  Waiting waiting_;
  Divergence divergence_;
  Branches branches_;
  Parameters parameters_;
  StackParameters stack_parameters_;
  Memory memory_;
  Calls calls_;
};

}  // namespace warpgrind::jit
