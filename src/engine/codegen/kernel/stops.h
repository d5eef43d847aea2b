// Places at which a debugger can stop a warp (jit/stop_places.h). At each, machine code reads one byte and calls the
// device if it is set. All registers stay in memory, whose addresses a StopFrame holds, so that the debugger can read
// and write them at every call of the device. Kernels compiled without stops have none of this.
#pragma once

#include <unordered_map>

#include "codegen/kernel/registers.h"

namespace warpgrind::jit {

class Stops {
 public:
  Stops(FunctionContext& context, LaneMasks& masks, Registers& registers, Variables& variables)
      : f_(context), ir_(context.ir()), masks_(masks), registers_(registers), variables_(variables) {}
  void enter();                    // in the prologue: makes the frame known; call when the registers have slots
  void pass(std::uint32_t index);  // before an instruction
  void leave();                    // on return

 private:
  bool on() const { return f_.unit.options.stops != StopAt::nowhere; }
  llvm::Constant* forms();
  void store(std::size_t field, llvm::Value* value);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  Variables& variables_;
  llvm::AllocaInst* frame_ = nullptr;
  llvm::Value* caller_ = nullptr;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // of places, by instruction
};

}  // namespace warpgrind::jit
