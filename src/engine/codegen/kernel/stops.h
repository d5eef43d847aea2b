// Places at which a debugger can stop a warp (jit/stop_places.h). At each, machine code reads one byte and calls the
// device if it is set. A StopFrame has the places of registers for the debugger. It is brought up to date before each
// call of the device, because only there can a warp be looked at.
//
// Kernels with variables of the source hold all registers in memory, whose addresses the frame has. In other kernels
// values stay in the host's registers; before a call, those live at the last place are copied into the frame
// (jit/stop_registers.h). A vector addition of 16 MiB took 5.6 times as long as without a debugger when its registers
// were in memory. Kernels compiled without stops have none of this.
#pragma once

#include <unordered_map>
#include <vector>

#include "codegen/kernel/registers.h"

namespace warpgrind::jit {

class Stops {
 public:
  Stops(FunctionContext& context, LaneMasks& masks, Registers& registers, Variables& variables)
      : f_(context), ir_(context.ir()), masks_(masks), registers_(registers), variables_(variables) {}
  void enter();                    // in the prologue: makes the frame known; call when the registers have slots
  void pass(std::uint32_t index);  // before an instruction
  void stand_outside();            // what follows has no place
  void leave();                    // on return

 private:
  // A part of a register, and the offset of its copy.
  struct Copy {
    llvm::AllocaInst* from = nullptr;
    std::uint32_t at = 0;
  };
  struct Place {
    std::uint32_t number = 0;
    std::vector<Copy> copies;  // of the live registers
  };
  bool on() const { return f_.unit.options.stops != StopAt::nowhere; }
  std::vector<llvm::AllocaInst*> parts_of(ptx::RegId r) const;  // kRegisterSlots, some null
  void find_places();
  bool keeps_copies();  // fills Place::copies and kept_at_
  llvm::Value* slots();
  llvm::Value* forms();
  llvm::Value* constant(const std::string& bytes, std::uint64_t alignment, const char* name);
  void store(std::size_t field, llvm::Value* value);
  void update();  // of the frame, before a call

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  Variables& variables_;
  llvm::AllocaInst* frame_ = nullptr;
  llvm::AllocaInst* steps_ = nullptr;  // WarpContext::steps, while the function runs
  llvm::AllocaInst* kept_ = nullptr;   // KeptFrame::kept; null: registers are in memory
  llvm::Value* caller_ = nullptr;
  std::unordered_map<std::uint32_t, Place> places_;  // by instruction
  const Place* now_ = nullptr;                       // the last one passed; null: none in this block
  std::vector<std::uint32_t> kept_at_;
  std::uint32_t kept_bytes_ = 0;
};

}  // namespace warpgrind::jit
