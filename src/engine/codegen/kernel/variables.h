// Addresses of the variables of a function and of its module, in their state space.
#pragma once

#include <unordered_map>

#include "codegen/kernel/function_context.h"

namespace warpgrind::jit {

class Variables {
 public:
  explicit Variables(FunctionContext& context) : f_(context), ir_(context.ir()) {}
  void create_frame();   // allocates the function's frame in the thread's local memory
  void release_frame();  // on return
  llvm::Value* frame_base() const { return frame_base_; }  // i64: start of the frame
  llvm::Value* stack_slot();                               // address of <32 x i64>: the end of each lane's stack
  llvm::Value* address(const ptx::Operand& operand);       // i64, with the operand's offset

 private:
  llvm::Value* in_frame(const ptx::Operand& operand);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  llvm::Value* frame_base_ = nullptr;  // i64: start of the frame
  llvm::Value* stack_ = nullptr;       // result of stack_slot()
  std::unordered_map<std::uint32_t, llvm::Value*> global_addresses_;
};

}  // namespace warpgrind::jit
