// Lowering of ld and st. Machine code checks, counts and makes the common access in place: uniform or affine addresses
// through the site's inline cache, arbitrary lane addresses through the site's window. Every other access is one call
// of the device.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/access_groups.h"
#include "codegen/kernel/definedness.h"
#include "codegen/kernel/direct_access.h"
#include "codegen/kernel/inline_cache.h"
#include "codegen/kernel/lane_access.h"
#include "codegen/kernel/parameters.h"

namespace warpgrind::jit {

class Memory {
 public:
  Memory(FunctionContext& context, LaneMasks& masks, Variables& variables, Registers& registers, Sites& sites,
         Counting& counting, Parameters& parameters, Definedness& definedness)
      : f_(context),
        ir_(context.ir()),
        masks_(masks),
        registers_(registers),
        sites_(sites),
        parameters_(parameters),
        definedness_(definedness),
        addresses_(context, registers, variables),
        cache_(context, masks, sites, counting),
        lanes_(context, masks, sites, counting),
        direct_(context, masks),
        groups_(context) {}
  void load();  // the current instruction
  void store();

 private:
  bool names_parameter(const ptx::Operand& address) const;
  struct DeviceCall {
    const char *by_vector, *by_affine;
  };
  void call_device(Address& a, const DeviceCall& device, llvm::Value* area);
  struct DeviceLoad {
    const char *by_vector, *by_affine, *uniform;
  };
  static constexpr DeviceLoad kLoad = {"wg_load", "wg_load_affine", "wg_load_uniform"};
  static constexpr DeviceLoad kLoadShadow = {"wg_load_shadow", "wg_load_shadow_affine", "wg_load_shadow_uniform"};
  std::vector<llvm::Value*> careful_load(Address& a, llvm::Type* element, unsigned count, const DeviceLoad& device);
  std::vector<llvm::Value*> load_parameter(Address& a, llvm::Type* element, unsigned count);
  void careful_store(Address& a, llvm::Type* element, const std::vector<llvm::Value*>& values);
  // Accesses that LaneAccess serves.
  std::vector<llvm::Value*> load_lanes(Address& a, StateSpace space, llvm::Type* element, unsigned count);
  void store_lanes(Address& a, StateSpace space, llvm::Type* element, const std::vector<llvm::Value*>& values);
  void move_lanes(Address& a, StateSpace space, llvm::Type* element, unsigned count,
                  const std::function<void(const Address* regular, llvm::Value* distances)>& move,
                  const std::function<void()>& carefully);
  bool access_apart(Address& a, StateSpace space, unsigned bytes, unsigned count, bool store,
                    const std::function<void()>& move);
  // Shadows of the values that the current instruction stores (definedness.h). Null if all bits are defined.
  std::vector<llvm::Value*> stored_shadows() const;
  void store_shadows(const Address& a, llvm::Type* element, const std::vector<llvm::Value*>& shadows, bool some_lanes);
  void careful_store_shadows(Address& a, llvm::Type* element, const std::vector<llvm::Value*>& shadows);
  void keep_origins(const Address& a, const std::vector<llvm::Value*>& shadows);
  llvm::MDNode* likely() const;
  // i1: the leader has checked and counted the current instruction. Null: it has no leader.
  llvm::Value* checked_by_leader();
  // Joins the code paths of the current instruction. The i1 of each path: it also checked the followers.
  void lead(const std::vector<std::pair<llvm::BasicBlock*, llvm::Value*>>& ways);
  llvm::Value* scratch_area();
  llvm::Value* plane(llvm::Value* area, std::size_t e, unsigned bytes);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  Sites& sites_;
  Parameters& parameters_;
  Definedness& definedness_;
  Addresses addresses_;
  InlineCache cache_;
  LaneAccess lanes_;
  DirectAccess direct_;
  const AccessGroups groups_;
  // Leaders that are already lowered: whether the inline cache served the access (i1), and the site.
  struct Led {
    llvm::Value* checked;
    std::uint32_t site;
  };
  std::unordered_map<std::uint32_t, Led> led_;
};

}  // namespace warpgrind::jit
