// Choice of the stack slots to promote, by the number of PHIs that each needs, and forwarding of stores to loads.
#include "codegen/compile/promotion.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <vector>

#include "base/assert.h"
#include "jit/calls/registers_aside.h"

namespace warpgrind::jit {

namespace {

using llvm::AllocaInst;
using llvm::BasicBlock;
using llvm::Value;

// Dominance frontiers may grow with the square of the code. Beyond this number of entries, nothing is counted and all
// slots stay in memory.
constexpr std::uint64_t kFrontierLimit = 20'000'000;

struct Slot {
  AllocaInst* alloca = nullptr;
  std::vector<BasicBlock*> defines;  // blocks that store to it
  std::vector<BasicBlock*> exposed;  // blocks that load it before they store
  std::uint64_t uses = 0;
  std::uint64_t phis = 0;
};

Value* slot_of(const llvm::Instruction& i) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return const_cast<Value*>(load->getPointerOperand());  // NOLINT: LLVM's values are not const
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return const_cast<Value*>(store->getPointerOperand());  // NOLINT
  return nullptr;
}

std::vector<Slot> collect(llvm::Function& function) {
  std::vector<Slot> slots;
  llvm::DenseMap<Value*, std::size_t> index;
  for (llvm::Instruction& i : function.getEntryBlock()) {
    auto* alloca = llvm::dyn_cast<AllocaInst>(&i);
    if (!alloca || !llvm::isAllocaPromotable(alloca)) continue;
    index[alloca] = slots.size();
    slots.emplace_back().alloca = alloca;
  }
  for (BasicBlock& block : function) {
    for (llvm::Instruction& i : block) {
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

// Counts the PHIs that promoting slots would make. LLVM's promotion places them in the iterated dominance frontier of a
// slot's stores, where the slot is live. Counts 64 slots at a time, one bit each, since the graph is the same for all.
class PhiCounter {
 public:
  PhiCounter(llvm::Function& function, llvm::DominatorTree& dominators);
  bool counts() const { return entries_ <= kFrontierLimit; }
  void count(llvm::MutableArrayRef<Slot> slots);  // up to 64

 private:
  using Bits = std::uint64_t;
  void find_frontiers(llvm::DominatorTree& dominators);
  void find_live();
  void place_phis();

  std::vector<BasicBlock*> blocks_;  // in reverse post-order
  llvm::DenseMap<const BasicBlock*, std::uint32_t> number_;
  std::vector<std::vector<std::uint32_t>> before_, frontier_;
  std::uint64_t entries_ = 0;
  std::vector<Bits> defines_, live_, phis_;
};

PhiCounter::PhiCounter(llvm::Function& function, llvm::DominatorTree& dominators) {
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  blocks_.assign(order.begin(), order.end());
  for (BasicBlock* block : blocks_) number_.try_emplace(block, static_cast<std::uint32_t>(number_.size()));
  before_.resize(blocks_.size());
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    for (const BasicBlock* p : llvm::predecessors(blocks_[b]))
      if (const auto known = number_.find(p); known != number_.end()) before_[b].push_back(known->second);
  find_frontiers(dominators);
}

// Algorithm of Cooper, Harvey and Kennedy: walks from each predecessor of a join up to the join's dominator.
void PhiCounter::find_frontiers(llvm::DominatorTree& dominators) {
  frontier_.resize(blocks_.size());
  std::vector<std::uint32_t> dominator(blocks_.size(), 0);
  WG_ASSERT(number_.size() == blocks_.size());
  for (std::uint32_t b = 1; b < blocks_.size(); ++b)
    dominator[b] = number_.lookup(dominators.getNode(blocks_[b])->getIDom()->getBlock());
  for (std::uint32_t b = 0; b < blocks_.size() && counts(); ++b) {
    if (before_[b].size() < 2) continue;
    for (std::uint32_t up : before_[b]) {
      for (; up != dominator[b]; up = dominator[up]) {
        std::vector<std::uint32_t>& frontier = frontier_[up];
        if (!frontier.empty() && frontier.back() == b) break;  // and so do the blocks above it
        frontier.push_back(b);
        ++entries_;
      }
    }
  }
}

void PhiCounter::find_live() {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks_.size(); b-- > 0;) {
      for (const std::uint32_t p : before_[b]) {
        const Bits more = live_[b] & ~defines_[p] & ~live_[p];
        live_[p] |= more;
        changed |= more != 0;
      }
    }
  }
}

void PhiCounter::place_phis() {
  std::vector<std::uint32_t> list;
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    if (defines_[b]) list.push_back(b);
  while (!list.empty()) {
    const std::uint32_t from = list.back();
    list.pop_back();
    const Bits arriving = defines_[from] | phis_[from];
    for (const std::uint32_t b : frontier_[from]) {
      const Bits more = arriving & live_[b] & ~phis_[b];
      if (!more) continue;
      phis_[b] |= more;
      list.push_back(b);
    }
  }
}

void PhiCounter::count(llvm::MutableArrayRef<Slot> slots) {
  WG_ASSERT(slots.size() <= 64);
  for (std::vector<Bits>* bits : {&defines_, &live_, &phis_}) bits->assign(blocks_.size(), 0);
  const auto mark = [&](std::vector<Bits>& bits, const std::vector<BasicBlock*>& blocks, std::size_t slot) {
    for (const BasicBlock* block : blocks)
      if (const auto known = number_.find(block); known != number_.end()) bits[known->second] |= Bits{1} << slot;
  };
  for (std::size_t k = 0; k < slots.size(); ++k) {
    mark(defines_, slots[k].defines, k);
    mark(live_, slots[k].exposed, k);
  }
  find_live();
  place_phis();
  for (Bits at_block : phis_)
    for (; at_block; at_block &= at_block - 1) ++slots[static_cast<std::size_t>(std::countr_zero(at_block))].phis;
}

constexpr std::size_t kAtATime = 64;

template <class F>  // calls f(the slots counted last) until it returns false
bool count_phis(llvm::Function& function, llvm::DominatorTree& dominators, llvm::MutableArrayRef<Slot> slots, F&& f) {
  if (slots.empty()) return true;
  PhiCounter counter(function, dominators);
  if (!counter.counts()) return false;
  for (std::size_t k = 0; k < slots.size(); k += kAtATime) {
    const auto some = slots.slice(k, std::min(kAtATime, slots.size() - k));
    counter.count(some);
    if (!f(some)) break;
  }
  return true;
}

}  // namespace

std::uint64_t count_slot_phis(llvm::Function& function, llvm::DominatorTree& dominators, std::uint64_t enough) {
  std::vector<Slot> slots = collect(function);
  std::uint64_t phis = 0;
  const bool counted = count_phis(function, dominators, slots, [&](llvm::ArrayRef<Slot> some) {
    for (const Slot& slot : some) phis += slot.phis;
    return phis <= enough;
  });
  return counted ? phis : enough + 1;
}

Promotion promote_slots(llvm::Function& function, llvm::DominatorTree& dominators, std::uint64_t budget) {
  std::vector<Slot> slots = collect(function);
  Promotion out;
  out.slots = slots.size();
  if (!count_phis(function, dominators, slots, [](llvm::ArrayRef<Slot>) { return true; })) {
    out.in_memory = slots.size();
    return out;
  }
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot& a, const Slot& b) { return a.uses * (b.phis + 1) > b.uses * (a.phis + 1); });
  std::vector<AllocaInst*> chosen;
  for (const Slot& slot : slots) {
    if (out.phis + slot.phis > budget) {
      ++out.in_memory;
      continue;
    }
    out.phis += slot.phis;
    chosen.push_back(slot.alloca);
  }
  WG_ASSERT(chosen.size() + out.in_memory == out.slots && out.phis <= budget);
  llvm::PromoteMemToReg(chosen, dominators);
  return out;
}

namespace {

using Known = llvm::DenseMap<Value*, Value*>;  // slot -> its known value

// Known values at the end of each visited block. Kept only while the block has an unvisited successor.
class KnownBehind {
 public:
  // Values on which all predecessors of the block agree. Empty if a predecessor was not visited yet (back edge).
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

// True if the slot is only loaded and stored directly, or by the function that restores registers by address.
bool holds_a_register(const AllocaInst& alloca) {
  return llvm::all_of(alloca.users(), [&](const llvm::User* user) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) return load->getType() == alloca.getAllocatedType();
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return store &&
           (store->getPointerOperand() == &alloca ? store->getValueOperand()->getType() == alloca.getAllocatedType()
                                                  : store->getParent()->isEntryBlock());
  });
}

bool takes_registers_back(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == kTakeBack;
}

}  // namespace

void forward_slots(llvm::Function& function) {
  llvm::DenseSet<Value*> slots;
  for (llvm::Instruction& i : function.getEntryBlock())
    if (auto* alloca = llvm::dyn_cast<AllocaInst>(&i); alloca && holds_a_register(*alloca)) slots.insert(alloca);
  if (slots.empty()) return;
  KnownBehind behind;
  std::vector<llvm::Instruction*> replaced;
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  for (BasicBlock* block : order) {
    Known known = behind.enter(*block);
    for (llvm::Instruction& i : *block) {
      if (takes_registers_back(i)) known.clear();
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
  for (llvm::Instruction* load : replaced) load->eraseFromParent();
}

}  // namespace warpgrind::jit
