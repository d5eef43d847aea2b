// Borders of regions: the registers that each saves, and the hand-over to another warp.
#include "codegen/kernel/regions.h"

#include <algorithm>

#include "base/assert.h"
#include "flow/forms.h"
#include "flow/liveness.h"
#include "ptx/waits.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;

namespace {

// True if an instruction keeps state outside registers.
bool keeps_more(const Instruction& i) {
  return ptx::info(i.opcode).has(ptx::Effects::stack) || i.has(ptx::Modifier::cc);
}

bool is_barrier(const Instruction& i) {
  return (i.opcode == Opcode::bar || i.opcode == Opcode::barrier) && ptx::waits_for_others(i);
}

bool contains(const std::vector<std::uint64_t>& set, ptx::RegId r) {
  return set[r / 64] >> (r % 64) & 1;
}

bool has_barrier(const FunctionContext& f, std::uint32_t block) {
  const auto begin = f.function.body.begin();
  return std::any_of(begin + f.cfg.blocks[block].first, begin + f.cfg.blocks[block].end, is_barrier);
}

// A __syncthreads() of the whole block: barrier 0, with no count and no reduction.
bool is_plain_barrier(const Instruction& i) {
  const auto is_zero = [](const ptx::Operand& o) { return o.kind == ptx::OperandKind::immediate && o.bits == 0; };
  return !i.has(ptx::Modifier::red) && !i.has(ptx::Modifier::arrive) && i.operands.size() <= 1 &&
         std::all_of(i.operands.begin(), i.operands.end(), is_zero);
}

// Registers that may have been written since the last border, for each border; the frame already has the others. A
// barrier that lanes may pass apart from their warp is no border here, since they save nothing. Registers that a loop
// with borders does not write are saved before the loop (kept_before_loops), not at its first border in every
// iteration.
class WrittenSinceBorder {
 public:
  using RegisterSet = std::vector<std::uint64_t>;
  WrittenSinceBorder(const FunctionContext& f, const flow::LiveRegisters& live)
      : f_(f),
        live_(live),
        loops_(f.cfg.blocks.size()),
        out_(f.cfg.blocks.size(), RegisterSet((f.function.registers.size() + 63) / 64)) {
    find_loops();
    const auto keep_nothing = [](std::uint32_t, const RegisterSet&) {};
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t b : f_.cfg.order) {
        RegisterSet after = at_start(b);
        pass(b, after, keep_nothing);
        if (after == out_[b]) continue;
        out_[b] = std::move(after);
        changed = true;
      }
    }
  }

  // No frame contains the values at the start of the kernel.
  RegisterSet at_start(std::uint32_t block) const {
    RegisterSet set(out_[block].size());
    if (block == f_.cfg.order.front()) set = live_.words(block);
    for (const std::uint32_t p : f_.cfg.blocks[block].predecessors)
      if (!enters_loop(p, block)) add(set, out_[p]);
    return set;
  }

  // Registers to save at the end of a block, because a loop begins after it.
  RegisterSet kept_before_loops(std::uint32_t block) const {
    RegisterSet all(out_[block].size());
    for (const std::uint32_t s : f_.cfg.blocks[block].successors) {
      if (!enters_loop(block, s)) continue;
      const RegisterSet in_loop = at_start(s), &live = live_.words(s);
      for (std::size_t w = 0; w < all.size(); ++w) all[w] |= out_[block][w] & live[w] & ~in_loop[w];
    }
    return all;
  }

  template <class AtBorder>
  void pass(std::uint32_t block, RegisterSet& set, AtBorder&& at_border) const {
    std::vector<ptx::RegId> written;
    for (std::uint32_t n = f_.cfg.blocks[block].first; n < f_.cfg.blocks[block].end; ++n) {
      if (is_barrier(f_.function.body[n])) {
        at_border(n, set);
        if (!f_.wait_points.at(n)) std::fill(set.begin(), set.end(), 0);
      }
      flow::registers_written(f_.function.body[n], written);
      for (const ptx::RegId r : written) set[r / 64] |= 1ull << (r % 64);
    }
  }

 private:
  static void add(RegisterSet& to, const RegisterSet& from) {
    for (std::size_t w = 0; w < to.size(); ++w) to[w] |= from[w];
  }
  void find_loops() {
    for (const std::uint32_t b : f_.cfg.order) {
      if (!f_.cfg.blocks[b].loop_head || b == f_.cfg.order.front()) continue;
      std::vector<bool> body = flow::loop_body(f_.cfg, b);
      for (std::uint32_t k = 0; k < body.size(); ++k) {
        if (!body[k] || !has_barrier(f_, k)) continue;
        loops_[b] = std::move(body);
        break;
      }
    }
  }
  bool enters_loop(std::uint32_t from, std::uint32_t head) const {
    return head < loops_.size() && !loops_[head].empty() && !loops_[head][from];
  }

  const FunctionContext& f_;
  const flow::LiveRegisters& live_;
  std::vector<std::vector<bool>> loops_;  // by loop head: blocks of the loop, if it has borders
  std::vector<RegisterSet> out_;
};

// Limit of slots to save and restore. More would be a large part of the code of even the largest kernels.
constexpr std::uint64_t kMostKept = 3000;
// Limit for borders where some lanes may wait apart. Their values in registers must be merged with those from the
// frame.
constexpr std::uint64_t kMostJoined = 1500;

}  // namespace

// Other barriers may have counted threads at barrier 0 before. Functions that are called may have such ones.
bool Regions::passes_alone() const {
  if (!f_.layout.one_row || !f_.is_kernel || f_.unit.options.definedness || f_.unit.options.stops != StopAt::nowhere)
    return false;
  return std::all_of(f_.function.body.begin(), f_.function.body.end(), [](const Instruction& i) {
    if (i.opcode == Opcode::call) return false;
    return (i.opcode != Opcode::bar && i.opcode != Opcode::barrier) || is_plain_barrier(i);
  });
}

bool Regions::possible() const {
  const std::vector<Instruction>& body = f_.function.body;
  return f_.is_kernel && !passes_alone() && !f_.unit.options.definedness && f_.unit.options.stops == StopAt::nowhere &&
         std::none_of(body.begin(), body.end(), keeps_more);
}

void Regions::create() {
  if (!possible()) return;
  const flow::LiveRegisters live = flow::find_live_registers(f_.function, f_.cfg);
  const WrittenSinceBorder since(f_, live);
  std::uint64_t kept = 0, joined = 0;
  for (const std::uint32_t b : f_.cfg.order) {
    RegisterSet now = since.at_start(b);
    since.pass(b, now, [&](std::uint32_t n, const RegisterSet& written) {
      const std::uint32_t behind = n + 1 < f_.cfg.blocks[b].end ? n + 1 : n;
      Border border;
      border.instruction = n;
      place(border, flow::live_registers_before(f_.function, f_.cfg, live, behind), written);
      kept += border.kept.size();
      if (f_.wait_points.at(n)) joined += f_.function.registers.size();
      borders_.push_back(std::move(border));
    });
  }
  if (kept > kMostKept || joined > kMostJoined) borders_.clear();
  if (!borders_.empty())
    for (const std::uint32_t b : f_.cfg.order) keep_at_end(b, since.kept_before_loops(b));
  f_.unit.has_regions = !borders_.empty();
}

std::vector<llvm::AllocaInst*> Regions::slots_of(ptx::RegId r) const {
  const Registers::Slot& slot = registers_.slot(r);
  std::vector<llvm::AllocaInst*> slots = {slot.scalar, slot.base, slot.kx, slot.ky, slot.vector};
  std::erase(slots, nullptr);
  return slots;
}

void Regions::place(Border& border, const RegisterSet& live, const RegisterSet& written) {
  std::uint64_t& bytes = f_.unit.region_bytes;
  for (ptx::RegId r = 0; r < f_.function.registers.size(); ++r) {
    if (!contains(live, r)) continue;
    WG_ASSERT(!slots_of(r).empty());
    for (llvm::AllocaInst* a : slots_of(r)) {
      const auto [at, fresh] = places_.emplace(a, 0);
      if (fresh) {
        const std::uint64_t bits = a->getAllocatedType()->getPrimitiveSizeInBits().getFixedValue();
        const std::uint64_t size = std::max<std::uint64_t>(8, (bits / 8 + 7) / 8 * 8);
        if (bits >= 64 && a->getAllocatedType()->isVectorTy()) bytes = (bytes + 63) / 64 * 64;
        at->second = bytes;
        bytes += size;
      }
      border.kept.push_back({a, at->second, contains(written, r)});
    }
  }
}

// Saves those of `registers` that some border saves.
void Regions::keep_at_end(std::uint32_t block, const RegisterSet& registers) {
  for (ptx::RegId r = 0; r < f_.function.registers.size(); ++r) {
    if (!contains(registers, r)) continue;
    for (llvm::AllocaInst* a : slots_of(r))
      if (const auto at = places_.find(a); at != places_.end()) before_loops_[block].push_back({a, at->second, true});
  }
}

void Regions::end_block(std::uint32_t block) {
  if (const auto found = before_loops_.find(block); found != before_loops_.end()) keep(found->second);
}

void Regions::begin(BasicBlock* first) {
  if (borders_.empty()) {
    ir_.CreateBr(first);
    return;
  }
  Value* region = ir_.CreateLoad(ir_.getInt32Ty(), in_context(offsetof(WarpContext, region)));
  entries_ = ir_.CreateSwitch(region, first, static_cast<unsigned>(borders_.size()));
}

const Regions::Border* Regions::border_here() const {
  const auto found =
      std::find_if(borders_.begin(), borders_.end(), [&](const Border& b) { return b.instruction == f_.now.index; });
  return found == borders_.end() ? nullptr : &*found;
}

bool Regions::end_here() const {
  return border_here() != nullptr;
}

Value* Regions::undivided(Value* whole) {
  return end_here() ? ir_.CreateAnd(whole, ir_.CreateICmpEQ(stack_.depth(), ir_.getInt32(0))) : whole;
}

Value* Regions::in_context(std::size_t field) {
  return f_.at(f_.context_argument, field);
}

Value* Regions::in_frame(std::uint64_t at) {
  WG_ASSERT(f_.frame_argument);
  return f_.at(f_.frame_argument, at);
}

void Regions::keep(const std::vector<Kept>& registers) {
  for (const Kept& k : registers) {
    if (!k.written) continue;
    llvm::Type* type = k.slot->getAllocatedType();
    Value* value = ir_.CreateLoad(type, k.slot);
    const bool predicates = type->isVectorTy() && type->getScalarSizeInBits() == 1;
    if (predicates) value = f_.lanes_to_bits(value);
    ir_.CreateAlignedStore(value, in_frame(k.at), llvm::Align(type->isVectorTy() && !predicates ? 16 : 8));
  }
}

void Regions::take_back(const Border& border) {
  for (const Kept& k : border.kept) {
    llvm::Type* type = k.slot->getAllocatedType();
    const bool predicates = type->isVectorTy() && type->getScalarSizeInBits() == 1;
    Value* value = predicates
                       ? f_.bits_to_lanes(ir_.CreateAlignedLoad(ir_.getInt32Ty(), in_frame(k.at), llvm::Align(8)))
                       : ir_.CreateAlignedLoad(type, in_frame(k.at), llvm::Align(type->isVectorTy() ? 16 : 8));
    ir_.CreateStore(value, k.slot);
  }
}

// Another warp continues in place of this one.
void Regions::go_on_as(Value* warp) {
  Value* frame = ir_.CreateLoad(ir_.getPtrTy(), f_.at(warp, offsetof(WarpContext, frame)));
  f_.enter_again(warp, frame);
}

// Stores the running warp for the device. Returns the address of the RunningWarp.
Value* Regions::store_running(Value* warp) {
  Value* running = ir_.CreateLoad(ir_.getPtrTy(), in_context(offsetof(WarpContext, running)));
  ir_.CreateStore(warp, f_.at(running, offsetof(RunningWarp, warp)));
  return running;
}

// Common case, without the device. Leaves the insertion point where the device must decide.
void Regions::hand_over_to_successor(Value* site) {
  BasicBlock* turn = f_.new_block("turn");
  BasicBlock* ask = f_.new_block("ask");
  Value* whole = f_.context_field(offsetof(WarpContext, initial_mask), ir_.getInt32Ty(), "initial_mask");
  Value* warp = ir_.CreateLoad(ir_.getPtrTy(), in_context(offsetof(WarpContext, successor)));
  Value* in_turn = ir_.CreateAnd(ir_.CreateICmpEQ(masks_.active(), whole), ir_.CreateIsNotNull(warp));
  ir_.CreateCondBr(in_turn, turn, ask);
  ir_.SetInsertPoint(turn);
  ir_.CreateStore(site, in_context(offsetof(WarpContext, barrier_site)));
  store_running(warp);
  go_on_as(warp);
  ir_.SetInsertPoint(ask);
}

// `come` returns null if the device has other work than the block's next warp.
void Regions::ask_device(llvm::function_ref<Value*()> come, BasicBlock* next) {
  BasicBlock* others = f_.new_block("others_first");
  BasicBlock* to_device = f_.new_block("no_warp_named");
  BasicBlock* to_warp = f_.new_block("another_warp");
  Value* warp = come();
  ir_.CreateCondBr(ir_.CreateICmpEQ(warp, f_.context_argument), next, others);
  ir_.SetInsertPoint(others);
  ir_.CreateCondBr(ir_.CreateIsNull(warp), to_device, to_warp);
  ir_.SetInsertPoint(to_device);
  ir_.CreateRetVoid();
  ir_.SetInsertPoint(to_warp);
  go_on_as(warp);
}

void Regions::end(llvm::function_ref<Value*()> come, Value* of_block) {
  WG_ASSERT(border_here() && entries_);
  const Border& border = *border_here();
  keep(border.kept);
  const auto number = static_cast<std::uint32_t>(&border - borders_.data()) + 1;
  ir_.CreateStore(ir_.getInt32(number), in_context(offsetof(WarpContext, region)));
  if (of_block) hand_over_to_successor(of_block);
  BasicBlock* next = f_.new_block("region");
  ask_device(come, next);
  entries_->addCase(ir_.getInt32(number), next);
  ir_.SetInsertPoint(next);
  take_back(border);
  // No lane of the warp waits elsewhere. Its state is that of the start, without the lanes that have exited.
  Value* all = masks_.alive();
  masks_.set_active(all);
  masks_.set_live(all);
  stack_.set_depth(ir_.getInt32(0));
  stack_.set_current(ir_.getInt32(ptx::kNoId));
}

void Regions::leave() {
  BasicBlock* no_warp = f_.new_block("no_warp");
  if (!borders_.empty())
    hand_over_at_end(no_warp);
  else if (f_.is_kernel)
    go_on_in_place(no_warp);
  else
    ir_.CreateBr(no_warp);
  ir_.SetInsertPoint(no_warp);
  ir_.CreateRetVoid();
}

void Regions::hand_over_at_end(BasicBlock* no_warp) {
  BasicBlock* turn = f_.new_block("turn");
  Value* warp = ir_.CreateLoad(ir_.getPtrTy(), in_context(offsetof(WarpContext, successor)));
  ir_.CreateCondBr(ir_.CreateIsNull(warp), no_warp, turn);
  ir_.SetInsertPoint(turn);
  ir_.CreateStore(ir_.getInt32(kEndedRegion), in_context(offsetof(WarpContext, region)));
  Value* ended = f_.at(store_running(warp), offsetof(RunningWarp, ended));
  ir_.CreateStore(ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), ended), ir_.getInt64(1)), ended);
  go_on_as(warp);
}

void Regions::go_on_in_place(BasicBlock* no_warp) {
  BasicBlock* next = f_.new_block("next_warp");
  llvm::Type* words = llvm::FixedVectorType::get(ir_.getInt32Ty(), 4);
  Value* shape = ir_.CreateLoad(ir_.getPtrTy(), in_context(offsetof(WarpContext, next_shape)));
  Value* last = ir_.CreateLoad(ir_.getPtrTy(), in_context(offsetof(WarpContext, last_shape)));
  ir_.CreateCondBr(ir_.CreateICmpEQ(shape, last), no_warp, next);
  ir_.SetInsertPoint(next);
  ir_.CreateStore(f_.at(shape, sizeof(WarpShape)), in_context(offsetof(WarpContext, next_shape)));
  ir_.CreateAlignedStore(ir_.CreateAlignedLoad(words, shape, llvm::Align(16)),
                         in_context(offsetof(WarpContext, tid_base)), llvm::Align(16));
  Value* warp = ir_.CreateLoad(ir_.getInt32Ty(), in_context(offsetof(WarpContext, warp)));
  Value* state = ir_.CreateInsertElement(llvm::Constant::getNullValue(words), ir_.CreateAdd(warp, ir_.getInt32(1)),
                                         std::uint64_t{0});
  ir_.CreateAlignedStore(state, in_context(offsetof(WarpContext, warp)), llvm::Align(16));
  f_.enter_again(f_.context_argument, f_.frame_argument);
}

}  // namespace warpgrind::jit
