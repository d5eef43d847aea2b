// State of one function of a kernel while it is lowered: analysis results, the LLVM function, and the current position.
// The parts of the lowering (Registers, Memory, Divergence, ...) share it by reference.
#pragma once

#include <string>
#include <unordered_map>

#include "codegen/kernel/kernel_unit.h"
#include "codegen/kernel/position.h"
#include "codegen/kernel/values.h"
#include "flow/forms.h"
#include "flow/lane_steps.h"
#include "flow/provenance.h"
#include "flow/wait_points.h"
#include "jit/abi.h"

namespace warpgrind::jit {

class FunctionContext : public Values {
 public:
  FunctionContext(KernelUnit& unit, std::uint32_t function_index, bool is_kernel);
  FunctionContext(const FunctionContext&) = delete;

  const ptx::Instruction& instruction() const { return *now.instruction; }
  void stand_at(std::uint32_t index);
  void stand_outside();  // what follows is code of no instruction

  llvm::BasicBlock* new_block(const std::string& name) {
    return llvm::BasicBlock::Create(context(), name, llvm_function);
  }
  llvm::AllocaInst* entry_alloca(llvm::Type* type, const char* name, unsigned alignment = 0);
  llvm::Value* context_field(std::size_t offset, llvm::Type* type, const char* name);  // loaded once, in the prologue
  llvm::Value* context_address(std::size_t offset);                                    // in the prologue
  // Start of the block's own memory in the shared window. Null: 0.
  llvm::Value* shared_start();
  // Offsets in the block's own shared memory of addresses in the window, both of 64 bits.
  llvm::Value* own_shared(llvm::Value* addresses);
  bool has_avx512() const { return jit::has_avx512(*llvm_function); }
  llvm::Value* lane_pattern(bool y, unsigned width);  // X or Y of each lane (jit/abi.h), constant <32 x iN>

  void enter_again(llvm::Value* context, llvm::Value* frame);  // continues from here with another warp of the kernel

  void unsupported(const char* why);  // ends the compilation of the kernel
  void unsupported_feature(const std::string& feature, const std::string& why = "");  // the same, not about the opcode
  void refuse(const std::string& problem);  // the PTX is invalid: ends the compilation, too

  KernelUnit& unit;
  const std::uint32_t function_index;
  // Copy of the PTX function in which each register holds one web (flow/webs.h), and parameters on the stack are
  // accessed there (codegen/kernel/stack_parameters.h).
  const ptx::Function function;
  const bool is_kernel;
  const flow::LaneLayout layout;
  const flow::ControlFlow cfg;
  const flow::FormAnalysis analysis;
  const flow::LaneSteps lane_steps;
  const flow::WaitPoints wait_points;
  const flow::Provenance provenance;

  llvm::Function* const llvm_function;
  // A kernel's function also runs other warps (codegen/kernel/regions.h). Code that depends on the warp starts at
  // `enter`.
  llvm::BasicBlock* const entry;  // holds the allocas
  llvm::BasicBlock* const enter;
  llvm::Value* const context_argument;  // WarpContext*
  llvm::Value* const frame_argument;    // kernels only: the warp's frame
  llvm::IRBuilder<> prologue;           // appends to `enter`, before its final branch
  Position now;
  BeforeCall before_call;                // of call(), and of the module's functions
  std::function<void()> after_function;  // emits code after the call of a function of the module; empty: none
  bool shows_all_lanes = false;          // a debugger reads the registers of inactive lanes, too

 private:
  llvm::Value* enter_with(unsigned argument) const;
  std::string place() const;  // place of the current instruction, for messages
  std::string spelling() const;
  void fail(Error error);

  llvm::IRBuilder<> body_;
  std::unordered_map<std::size_t, llvm::Value*> context_fields_;
};

}  // namespace warpgrind::jit
