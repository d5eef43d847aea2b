#include "jit/compile/promotion.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/IteratedDominanceFrontier.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace warpgrind::jit {

namespace {

using llvm::AllocaInst;
using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Blocks visited while PHIs are counted. What is not counted then stays in memory.
constexpr std::uint64_t kSearchLimit = 20'000'000;

struct Slot {
  AllocaInst* alloca = nullptr;
  std::vector<BasicBlock*> defines;  // blocks that store to it
  std::vector<BasicBlock*> exposed;  // blocks that load it before they store
  std::uint64_t uses = 0;
  std::uint64_t phis = 0;
  bool counted = true;
};

Value* slot_of(const Instruction& i) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return const_cast<Value*>(load->getPointerOperand());  // NOLINT: LLVM's values are not const
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return const_cast<Value*>(store->getPointerOperand());  // NOLINT
  return nullptr;
}

std::vector<Slot> collect(llvm::Function& function) {
  std::vector<Slot> slots;
  llvm::DenseMap<Value*, std::size_t> index;
  for (Instruction& i : function.getEntryBlock()) {
    auto* alloca = llvm::dyn_cast<AllocaInst>(&i);
    if (!alloca || !llvm::isAllocaPromotable(alloca)) continue;
    index[alloca] = slots.size();
    slots.emplace_back().alloca = alloca;
  }
  for (BasicBlock& block : function) {
    for (Instruction& i : block) {
      Value* const pointer = slot_of(i);
      const auto found = pointer ? index.find(pointer) : index.end();
      if (found == index.end()) continue;
      Slot& slot = slots[found->second];
      ++slot.uses;
      const bool stored = !slot.defines.empty() && slot.defines.back() == &block;
      if (llvm::isa<llvm::StoreInst>(i)) {
        if (!stored) slot.defines.push_back(&block);
      } else if (!stored && (slot.exposed.empty() || slot.exposed.back() != &block)) {
        slot.exposed.push_back(&block);
      }
    }
  }
  return slots;
}

// The PHIs that promoting the slot makes, as LLVM's own promotion places them: in the iterated dominance frontier of
// its stores, where it is live.
void count_phis(Slot& slot, llvm::DominatorTree& dominators, std::uint64_t& work) {
  if (slot.exposed.empty() || slot.defines.empty()) return;
  const llvm::SmallPtrSet<BasicBlock*, 32> defines(slot.defines.begin(), slot.defines.end());
  llvm::SmallPtrSet<BasicBlock*, 32> live(slot.exposed.begin(), slot.exposed.end());
  std::vector<BasicBlock*> list = slot.exposed;
  while (!list.empty()) {
    BasicBlock* const block = list.back();
    list.pop_back();
    for (BasicBlock* before : llvm::predecessors(block)) {
      ++work;
      if (!defines.contains(before) && live.insert(before).second) list.push_back(before);
    }
  }
  llvm::ForwardIDFCalculator frontier(dominators);
  frontier.setDefiningBlocks(defines);
  frontier.setLiveInBlocks(live);
  llvm::SmallVector<BasicBlock*, 32> places;
  frontier.calculate(places);
  slot.phis = places.size();
}

}  // namespace

std::uint64_t count_slot_phis(llvm::Function& function, llvm::DominatorTree& dominators, std::uint64_t enough) {
  std::uint64_t phis = 0, work = 0;
  for (Slot& slot : collect(function)) {
    count_phis(slot, dominators, work);
    phis += slot.phis;
    if (phis > enough) break;
  }
  return phis;
}

Promotion promote_slots(llvm::Function& function, llvm::DominatorTree& dominators, std::uint64_t budget) {
  std::vector<Slot> slots = collect(function);
  Promotion out;
  out.slots = slots.size();
  std::uint64_t work = 0;
  for (Slot& slot : slots) {
    slot.counted = work < kSearchLimit;
    if (slot.counted) count_phis(slot, dominators, work);
  }
  std::stable_sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) {
    return a.counted != b.counted ? a.counted : a.uses * (b.phis + 1) > b.uses * (a.phis + 1);
  });
  std::vector<AllocaInst*> chosen;
  for (const Slot& slot : slots) {
    if (!slot.counted || out.phis + slot.phis > budget) {
      ++out.in_memory;
      continue;
    }
    out.phis += slot.phis;
    chosen.push_back(slot.alloca);
  }
  llvm::PromoteMemToReg(chosen, dominators);
  return out;
}

namespace {

using Known = llvm::DenseMap<Value*, Value*>;  // slot -> what it holds

// What is known behind each visited block, as long as one of its successors was not visited.
class KnownBehind {
 public:
  // What all of the block's predecessors agree on; nothing when one of them was not visited yet (a way back).
  Known enter(BasicBlock& block) {
    visited_.insert(&block);
    Known known;
    bool first = true, agreed = true;
    const llvm::SmallSetVector<BasicBlock*, 8> all(llvm::pred_begin(&block), llvm::pred_end(&block));
    for (BasicBlock* before : all) {
      const auto at = behind_.find(before);
      if (at == behind_.end()) {
        agreed = false;
        continue;
      }
      if (agreed) meet(known, at->second, first);
      first = false;
      if (llvm::all_of(llvm::successors(before), [&](BasicBlock* s) { return visited_.contains(s); }))
        behind_.erase(at);
    }
    return agreed ? known : Known();
  }

  void leave(BasicBlock& block, Known known) {
    if (!llvm::all_of(llvm::successors(&block), [&](BasicBlock* s) { return visited_.contains(s); }))
      behind_[&block] = std::move(known);
  }

 private:
  static void meet(Known& known, const Known& other, bool first) {
    if (first) {
      known = other;
      return;
    }
    llvm::SmallVector<Value*, 16> gone;
    for (const auto& [slot, value] : known)
      if (other.lookup(slot) != value) gone.push_back(slot);
    for (Value* slot : gone) known.erase(slot);
  }

  std::unordered_map<const BasicBlock*, Known> behind_;
  llvm::DenseSet<const BasicBlock*> visited_;
};

}  // namespace

void forward_slots(llvm::Function& function) {
  llvm::DenseSet<Value*> slots;
  for (Instruction& i : function.getEntryBlock())
    if (auto* alloca = llvm::dyn_cast<AllocaInst>(&i); alloca && llvm::isAllocaPromotable(alloca)) slots.insert(alloca);
  if (slots.empty()) return;
  KnownBehind behind;
  std::vector<Instruction*> replaced;
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  for (BasicBlock* block : order) {
    Known known = behind.enter(*block);
    for (Instruction& i : *block) {
      Value* const pointer = slot_of(i);
      if (!pointer || !slots.contains(pointer)) continue;
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
        known[pointer] = store->getValueOperand();
      } else if (Value* const value = known.lookup(pointer)) {
        i.replaceAllUsesWith(value);
        replaced.push_back(&i);
      } else {
        known[pointer] = &i;
      }
    }
    behind.leave(*block, std::move(known));
  }
  for (Instruction* load : replaced) load->eraseFromParent();
}

}  // namespace warpgrind::jit
