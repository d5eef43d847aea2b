// Inline cache (SiteState in jit/abi.h), the fast path for memory accesses. One comparison proves that all 32 addresses
// of a uniform or affine access are good; one increment counts it. Partial-warp accesses (edges of stencils, last steps
// of reductions) use it, too. If the addresses of all lanes are good, loads need no mask at all, and stores only one.
#pragma once

#include "codegen/kernel/addresses.h"
#include "codegen/kernel/counting.h"
#include "codegen/kernel/sites.h"

namespace warpgrind::jit {

class InlineCache {
 public:
  struct Ways {
    llvm::BasicBlock *all, *some, *slow;  // some == slow: only full-warp accesses are served
  };

  InlineCache(FunctionContext& context, LaneMasks& masks, Sites& sites, Counting& counting)
      : f_(context), ir_(context.ir()), masks_(masks), sites_(sites), counting_(counting) {}
  bool serves_all(const Address& a, StateSpace space, unsigned bytes) const;
  bool serves_some(const Address& a, StateSpace space, unsigned element_bytes, unsigned count, bool store) const;

  llvm::Value* state();     // of the current instruction's site
  void read_sites_again();  // the device may have changed the warp's sites (device/access/access_log.h)
  void branch(const Address& a, llvm::Value* state, unsigned alignment, const Ways& ways, llvm::MDNode* weights);
  // Shows the access to observers of a watched site. Continues here, or at `slow` if an observer wants more detail.
  void show(const Address& a, llvm::Value* state, StateSpace space, llvm::BasicBlock* slow);
  // The same for a load that may be logged for later (events/late_loads.h).
  void show_load(const Address& a, llvm::Value* state, const ptx::Instruction& load, llvm::BasicBlock* slow);
  void count_all(const Address& a, StateSpace space, llvm::Value* state);
  // Returns i1: true if the site's own table counted the access, and with it the followers.
  llvm::Value* count_some(const Address& a, StateSpace space, llvm::Value* state);

 private:
  struct Watching {
    llvm::BasicBlock *ask, *go_on;
  };
  llvm::MDNode* seldom() const;
  void count_in_bin(llvm::Value* state, llvm::Value* bin);
  llvm::Value* kind_of_lanes();
  Watching begin_watching(llvm::Value* state);
  void ask(const Address& a, llvm::BasicBlock* go_on, llvm::BasicBlock* slow);
  void note(const Address& a, llvm::Value* log, llvm::Value* at);
  llvm::Value* hit(const Address& a, llvm::Value* state, unsigned alignment);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Sites& sites_;
  Counting& counting_;
  llvm::AllocaInst* sites_at_ = nullptr;
};

}  // namespace warpgrind::jit
