// Addresses of variables, by state space.
#include "codegen/kernel/variables.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include "base/assert.h"
#include "base/element.h"
#include "ptx/opaque_references.h"

namespace warpgrind::jit {

using llvm::Value;

void Variables::create_frame() {
  const std::uint64_t bytes = element(f_.unit.layout->frame, f_.function_index);
  if (f_.is_kernel) {
    frame_base_ = ir_.getInt64(0);
    // Frames of called functions start after the kernel's own.
    f_.prologue.CreateStore(ir_.getInt64(bytes), f_.context_address(offsetof(WarpContext, local_top)));
    return;
  }
  Value* top = f_.context_address(offsetof(WarpContext, local_top));
  frame_base_ = f_.prologue.CreateLoad(ir_.getInt64Ty(), top, "frame");
  f_.prologue.CreateStore(f_.prologue.CreateAdd(frame_base_, ir_.getInt64(bytes)), top);
}

void Variables::release_frame() {
  WG_ASSERT(frame_base_);
  if (!f_.is_kernel) ir_.CreateStore(frame_base_, f_.at(f_.context_argument, offsetof(WarpContext, local_top)));
}

// Memory from alloca follows the function's frame and ends with it. The slot starts anew in every invocation, and
// release_frame() undoes the growth of local_top.
Value* Variables::stack_slot() {
  if (!stack_) {
    Value* end = f_.prologue.CreateAdd(frame_base_, ir_.getInt64(element(f_.unit.layout->frame, f_.function_index)));
    stack_ = f_.entry_alloca(llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize), "stack");
    f_.prologue.CreateStore(f_.prologue.CreateVectorSplat(kWarpSize, end), stack_);
  }
  return stack_;
}

Value* Variables::in_frame(const ptx::Operand& o) {
  WG_ASSERT(frame_base_);
  const std::uint64_t at = element(f_.unit.layout->local, std::pair{f_.function_index, o.index});
  return ir_.CreateAdd(frame_base_, ir_.getInt64(at + static_cast<std::uint64_t>(o.offset)));
}

Value* Variables::address(const ptx::Operand& o) {
  const bool module_scope = o.scope == ptx::Scope::module;
  const ptx::Variable& v = module_scope ? f_.unit.module->variables[o.index] : f_.function.variables[o.index];
  const auto plus_offset = [&](Value* address) {
    return o.offset ? ir_.CreateAdd(address, ir_.getInt64(static_cast<std::uint64_t>(o.offset))) : address;
  };
  switch (v.space) {
    case StateSpace::shared: {
      Value* start = f_.shared_start();
      const auto in_window = [&](Value* offset) { return start ? ir_.CreateAdd(start, offset) : offset; };
      const std::uint64_t at = module_scope
                                   ? element(f_.unit.layout->shared_module, o.index)
                                   : element(f_.unit.layout->shared_function, std::pair{f_.function_index, o.index});
      if (v.unsized)
        return in_window(plus_offset(
            f_.context_field(offsetof(WarpContext, dynamic_shared_offset), ir_.getInt64Ty(), "dynamic_shared")));
      return in_window(ir_.getInt64(at + static_cast<std::uint64_t>(o.offset)));
    }
    case StateSpace::local:
      return in_frame(o);
    case StateSpace::param: {
      if (f_.unit.layout->local.contains({f_.function_index, o.index})) return in_frame(o);
      if (!(f_.function.is_entry && o.index < f_.function.parameter_count)) {
        f_.refuse(fmt::format("'{}' of the state space .param has no address here", v.name));
        return ir_.getInt64(0);
      }
      Value* params = f_.context_field(offsetof(WarpContext, params), ir_.getPtrTy(), "params");
      return ir_.CreateAdd(
          ir_.CreatePtrToInt(params, ir_.getInt64Ty()),
          ir_.getInt64(parameter_layout(f_.function)[o.index].offset + static_cast<std::uint64_t>(o.offset)));
    }
    default: {
      Value*& address = global_addresses_[o.index];
      if (!address) {
        Value* table = f_.context_field(offsetof(WarpContext, globals), f_.prologue.getPtrTy(), "globals");
        llvm::LoadInst* load = f_.prologue.CreateLoad(
            f_.prologue.getInt64Ty(), f_.prologue.CreateConstInBoundsGEP1_64(f_.prologue.getInt64Ty(), table, o.index),
            "global");
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(f_.context(), {}));
        const std::uint64_t type = ptx::reference_bit(v.type);
        address = type == 0 ? load : f_.prologue.CreateOr(load, f_.prologue.getInt64(type));
      }
      return plus_offset(address);
    }
  }
}

}  // namespace warpgrind::jit
