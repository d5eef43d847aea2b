// ld and st. The common access (address uniform or affine) is checked, counted and done in place through the site's
// inline cache; everything else is one call of the device.
#pragma once

#include <vector>

#include "jit/kernel/direct_access.h"
#include "jit/kernel/inline_cache.h"
#include "jit/kernel/parameters.h"

namespace warpgrind::jit {

class Memory {
 public:
  Memory(FunctionContext& context, LaneMasks& masks, Variables& variables, Registers& registers, Sites& sites,
         Counting& counting, Parameters& parameters)
      : f_(context),
        ir_(context.ir()),
        masks_(masks),
        registers_(registers),
        sites_(sites),
        parameters_(parameters),
        addresses_(context, registers, variables),
        cache_(context, masks, sites, counting),
        direct_(context, masks) {}
  void load();  // the current instruction
  void store();

 private:
  bool names_parameter(const ptx::Operand& address) const;
  struct DeviceCall {
    const char *by_vector, *by_affine;
  };
  void call_device(Address& a, const DeviceCall& device, llvm::Value* area);
  std::vector<llvm::Value*> careful_load(Address& a, llvm::Type* element, unsigned count);
  std::vector<llvm::Value*> load_parameter(Address& a, llvm::Type* element, unsigned count);
  void careful_store(Address& a, llvm::Type* element, const std::vector<llvm::Value*>& values);
  llvm::Value* scratch_area();
  llvm::Value* plane(llvm::Value* area, std::size_t e, unsigned bytes);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  Sites& sites_;
  Parameters& parameters_;
  Addresses addresses_;
  InlineCache cache_;
  DirectAccess direct_;
};

}  // namespace warpgrind::jit
