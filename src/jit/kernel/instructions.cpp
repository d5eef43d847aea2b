// FunctionLowering: one instruction: its guard, its site, and the opcodes that belong to the core rather than to a
// family.
#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include <algorithm>

#include "base/assert.h"
#include "jit/families/families.h"
#include "jit/families/matrix.h"
#include "jit/kernel/access_facts.h"
#include "jit/kernel/function_lowering.h"
#include "jit/kernel/instruction_class.h"
#include "ptx/printer.h"

namespace warpgrind::jit {

using llvm::BasicBlock;
using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

namespace {

// Instructions that must not run for an empty set of lanes, or whose effect is not a register.
bool acts(const ptx::Instruction& i) {
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  return info.reads_memory || info.writes_memory || info.convergent || info.may_trap || i.opcode == Opcode::call ||
         i.opcode == Opcode::st || i.opcode == Opcode::ld;
}

events::SiteKind site_kind(const ptx::Instruction& i) {
  using K = events::SiteKind;
  switch (i.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::ldmatrix:
    case Opcode::wmma_load:
      return K::load;
    case Opcode::st:
    case Opcode::stmatrix:
    case Opcode::wmma_store:
      return K::store;
    case Opcode::atom:
      return K::atomic;
    case Opcode::red:
      return K::reduction;
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::txq:
      return K::texture;
    case Opcode::suld:
    case Opcode::sust:
    case Opcode::sured:
    case Opcode::suq:
      return K::surface;
    case Opcode::cp_async:
      return K::async_copy;
    case Opcode::cp_async_bulk:
      return K::bulk_copy;
    case Opcode::mbarrier_init:
    case Opcode::mbarrier_inval:
    case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx:
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop:
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait:
    case Opcode::cp_async_mbarrier_arrive:
      return K::mbarrier;
    case Opcode::membar:
    case Opcode::fence:
    case Opcode::fence_proxy:
    case Opcode::cp_async_commit_group:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
    case Opcode::cp_async_bulk_commit_group:
    case Opcode::cp_async_bulk_wait_group:
      return K::fence;
    case Opcode::call:
      return K::call;
    case Opcode::bra:
    case Opcode::brx_idx:
      return K::branch;
    default:
      return K::barrier;
  }
}

// ptxas makes a reduction of such an atomic, and the hardware counts it as one.
bool result_is_never_read(const ptx::Function& function, const ptx::Instruction& atom) {
  std::vector<ptx::RegId> results, read;
  flow::registers_written(atom, results);
  for (const ptx::Instruction& i : function.body) {
    read.clear();
    flow::registers_read(i, read);
    for (const ptx::RegId r : results)
      if (std::find(read.begin(), read.end(), r) != read.end()) return false;
  }
  return true;
}

bool mentions(const Operand& o, ptx::RegId reg) {
  const bool names = o.kind == OperandKind::reg || (o.kind == OperandKind::address && o.base == OperandKind::reg);
  if (names && o.index == reg) return true;
  return std::any_of(o.elements.begin(), o.elements.end(), [&](const Operand& e) { return mentions(e, reg); });
}

}  // namespace

// Any mention elsewhere counts as a read: registers have one definition each in what compilers write.
bool FunctionLowering::is_read(const Operand& destination) const {
  if (destination.kind == OperandKind::sink) return false;
  if (destination.kind == OperandKind::vector)
    return std::any_of(destination.elements.begin(), destination.elements.end(),
                       [&](const Operand& e) { return is_read(e); });
  if (destination.kind != OperandKind::reg) return true;
  const ptx::RegId reg = destination.index;
  for (const ptx::Instruction& i : function_.body) {
    if (i.guard && i.guard.reg == reg) return true;
    for (const Operand& o : i.operands)
      if (!(&i == instruction_ && &o == &i.operands[0]) && mentions(o, reg)) return true;
    for (const auto* list : {&i.arguments, &i.results})
      for (const Operand& o : *list)
        if (mentions(o, reg)) return true;
  }
  return false;
}

Value* FunctionLowering::site_number() {
  if (site_ == ptx::kNoId) {
    const ptx::Instruction& i = *instruction_;
    events::Site site;
    site.kind = site_kind(i);
    site.space = i.space == StateSpace::none ? StateSpace::generic : i.space;
    site.element_bytes = static_cast<std::uint8_t>(std::max(1u, ptx::bytes(i.type())));
    site.vector = i.vector;
    if (i.opcode == Opcode::cp_async && i.operands.size() > 2) {  // the size is an operand: cp_async_bytes
      site.element_bytes = static_cast<std::uint8_t>(std::min<std::uint64_t>(16, i.operands[2].bits));
      site.space = StateSpace::global;
    }
    if (i.opcode == Opcode::cp_async_bulk) {  // the destination's space
      site.element_bytes = 1;
      site.space = i.has(Modifier::mbarrier_complete_tx_bytes) ? StateSpace::shared : StateSpace::global;
    }
    if (const unsigned bytes = matrix_request_bytes(i)) {  // wmma, ldmatrix, stmatrix: not what the type says
      site.element_bytes = static_cast<std::uint8_t>(std::min(bytes, i.type() == ptx::ScalarType::f64 ? 8u : 4u));
      site.vector = static_cast<std::uint8_t>(bytes / site.element_bytes);
    }
    site.is_volatile = i.has(Modifier::volatile_);
    // Exchanges have no form without a result: there is no red.exch or red.cas.
    site.no_return = i.opcode == Opcode::red || (i.opcode == Opcode::atom && !i.has(Modifier::exch) &&
                                                 !i.has(Modifier::cas) && result_is_never_read(function_, i));
    site.order = memory_order(i);
    site.scope = memory_scope(i);
    if (i.opcode == Opcode::atom || i.opcode == Opcode::red) site.shared_atomic = shared_atomic(i, site.no_return);
    site.ptx_line = i.range.line;
    if (i.location != ptx::kNoId) {
      // The outermost line of an inlined chain is the kernel's own; the innermost is where the access is written.
      site.line = function_.locations[i.location].line;
      site.file = function_.locations[i.location].file;
    }
    site.instruction = instruction_index_;
    site.function = function_.name;
    site.text = ptx::print(i, function_, *unit_.module);
    site_ = static_cast<std::uint32_t>(unit_.facts.sites.size());
    unit_.facts.sites.push_back(std::move(site));
  }
  return ir_.getInt32(site_);
}

std::string FunctionLowering::place() const {
  const ptx::Instruction& i = *instruction_;
  std::string where = fmt::format("PTX line {}", i.range.line);
  if (i.location != ptx::kNoId) {
    const ptx::SourceLocation& at = function_.locations[i.location];
    if (at.file < unit_.module->files.size()) where += fmt::format(", {}:{}", unit_.module->files[at.file], at.line);
  }
  return fmt::format("{}, function {}", where, function_.name);
}

void FunctionLowering::fail(Error error) {
  if (unit_.all_refusals)
    unit_.all_refusals->push_back(std::move(error));
  else if (!unit_.error)
    unit_.error = std::move(error);
}

void FunctionLowering::unsupported(const char* why) {
  fail({ErrorKind::unsupported,
        fmt::format("{} is not supported by the virtual GPU: {} ({})", ptx::opcode_spelling(*instruction_), why,
                    place()),
        "`warpgrind scan` lists every such instruction of a program before it is run"});
}

void FunctionLowering::refuse(const std::string& problem) {
  fail({ErrorKind::bad_input, fmt::format("{}: {} ({})", ptx::opcode_spelling(*instruction_), problem, place()), ""});
}

void FunctionLowering::lower_instruction(std::uint32_t index) {
  instruction_ = &function_.body[index];
  instruction_index_ = index;
  site_ = ptx::kNoId;
  guard_bits_ = nullptr;
  free_scratch();
  if (wait_points_.overtakes(index)) call("wg_let_others_pass", ir_.getVoidTy(), {context_argument_});
  const ptx::Guard& guard = instruction_->guard;
  if (!guard) return lower_unguarded();

  Operand p;
  p.kind = OperandKind::reg;
  p.index = guard.reg;
  p.negated = guard.negated;
  const auto count = [&](Value* lanes) {
    if (!unit_.options.counters) return;
    events::GuardFacts facts;
    facts.instruction = index;
    facts.block = static_cast<std::uint32_t>(unit_.facts.blocks.size() - 1);
    facts.instruction_class = instruction_class(*instruction_);
    facts.flop_kind = flop_kind(*instruction_);
    llvm::GlobalVariable* base = unit_.llvm->getGlobalVariable("wg_guard_base", true);
    Value* slot = ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), base), ir_.getInt64(unit_.facts.guards.size()));
    unit_.facts.guards.push_back(facts);
    bump(scoreboard_slot(slot),
         ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes), ir_.getInt64Ty()));
  };
  BasicBlock* next = BasicBlock::Create(context(), "guarded_end", llvm_function_);
  if (is_scalar(p)) {
    BasicBlock* on = BasicBlock::Create(context(), "guarded", llvm_function_);
    ir_.CreateCondBr(read_scalar(p, ScalarType::pred), on, next);
    ir_.SetInsertPoint(on);
    count(active());
    lower_unguarded();
  } else {
    guard_bits_ = ir_.CreateAnd(active(), lanes_to_bits(read_vector(p, ScalarType::pred)));
    count(guard_bits_);
    if (acts(*instruction_)) {
      BasicBlock* on = BasicBlock::Create(context(), "guarded", llvm_function_);
      ir_.CreateCondBr(ir_.CreateICmpNE(guard_bits_, ir_.getInt32(0)), on, next);
      ir_.SetInsertPoint(on);
    }
    lower_unguarded();
    guard_bits_ = nullptr;
  }
  if (!ir_.GetInsertBlock()->getTerminator()) ir_.CreateBr(next);
  ir_.SetInsertPoint(next);
}

void FunctionLowering::lower_unguarded() {
  const ptx::Instruction& i = *instruction_;
  scalar_ = false;
  if (lower_affine()) return;
  const LowerFunction lower = find_lowering(i.opcode);
  if (!lower) return unsupported("no lowering for this instruction yet");
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  const std::size_t destinations = i.has_second_destination ? 2 : info.destinations;
  scalar_ = !info.convergent && !info.reads_memory && !info.writes_memory;
  for (std::size_t k = destinations; scalar_ && k < i.operands.size(); ++k) scalar_ = is_scalar(i.operands[k]);
  if (i.opcode == Opcode::addc || i.opcode == Opcode::subc || i.opcode == Opcode::madc || i.has(Modifier::cc))
    scalar_ = false;
  lower(*this);
}

// The opcodes that need more than a family sees.
struct CoreLowering {
  static FunctionLowering& core(Lowering& l) { return static_cast<FunctionLowering&>(l); }

  static void mov(Lowering& l) {
    const auto& operands = l.instruction().operands;
    const bool packs = operands[0].kind == OperandKind::vector || operands[1].kind == OperandKind::vector;
    packs ? lower_mov_vector(l) : core(l).lower_mov();
  }
  static void cvta(Lowering& l) { core(l).lower_cvta(); }
  static void load(Lowering& l) { core(l).lower_load(); }
  static void store(Lowering& l) { core(l).lower_store(); }
  static void barrier(Lowering& l) { core(l).lower_barrier(); }
  static void call(Lowering& l) { core(l).lower_call(); }
  static void fence(Lowering& l) { core(l).lower_fence(); }
  // Lanes that run in step are in step: all that remains is the order of memory accesses.
  static void warp_barrier(Lowering& l) {
    core(l).meet(&l.instruction().operands[0], nullptr);
    l.ir().CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
  }
  static void sleep(Lowering& l) { l.call("wg_yield", l.ir().getInt32Ty(), {l.context_pointer(), l.mask_bits()}); }
  static void cluster_address(Lowering& l) { core(l).lower_cluster_address(); }
  static void cluster_barrier(Lowering& l) {
    l.call(l.instruction().has(Modifier::arrive) ? "wg_cluster_arrive" : "wg_cluster_wait", l.ir().getVoidTy(),
           {l.context_pointer(), l.site_number(), l.mask_bits()});
  }
  static void nothing(Lowering&) {}
  static void control_flow(Lowering&) { WG_ASSERT(!"such instructions end their block: lower_terminator()"); }
};

std::initializer_list<LoweringEntry> core_lowerings() {
  using C = CoreLowering;
  static const std::initializer_list<LoweringEntry> table = {
      {Opcode::mov, C::mov},
      {Opcode::cvta, C::cvta},
      {Opcode::ld, C::load},
      {Opcode::ldu, C::load},
      {Opcode::st, C::store},
      {Opcode::bar, C::barrier},
      {Opcode::barrier, C::barrier},
      {Opcode::bar_warp_sync, C::warp_barrier},
      {Opcode::membar, C::fence},
      {Opcode::fence, C::fence},
      {Opcode::fence_proxy, C::fence},
      {Opcode::call, C::call},
      {Opcode::nanosleep, C::sleep},
      {Opcode::barrier_cluster, C::cluster_barrier},
      {Opcode::mapa, C::cluster_address},
      {Opcode::getctarank, C::cluster_address},
      {Opcode::brkpt, C::nothing},
      {Opcode::pmevent, C::nothing},
      {Opcode::setmaxnreg, C::nothing},
      {Opcode::bra, C::control_flow},
      {Opcode::brx_idx, C::control_flow},
      {Opcode::ret, C::control_flow},
      {Opcode::exit, C::control_flow},
      {Opcode::trap, C::control_flow},
  };
  return table;
}

void FunctionLowering::lower_mov() {
  const ptx::Instruction& i = *instruction_;
  scalar_ = is_scalar(i.operands[1]);
  write(i.operands[0], read(i.operands[1], i.type()), i.type());
}

// Global, constant and kernel-parameter addresses are generic addresses already; shared and local have windows.
void FunctionLowering::lower_cvta() {
  const ptx::Instruction& i = *instruction_;
  scalar_ = is_scalar(i.operands[1]);
  Value* address = read(i.operands[1], ScalarType::b64);
  const std::uint64_t window = i.space == StateSpace::shared  ? kSharedWindow
                               : i.space == StateSpace::local ? kLocalWindow
                                                              : 0;
  if (window) {
    Value* w = ir_.getInt64(window);
    if (address->getType()->isVectorTy()) w = splat(w);
    address = i.has(Modifier::to) ? ir_.CreateSub(address, w) : ir_.CreateAdd(address, w);
  }
  write(i.operands[0], address, ScalarType::b64);
}

void FunctionLowering::lower_fence() {
  ir_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  if (synchronization_observed())
    call("wg_fence", ir_.getVoidTy(),
         {context_argument_, site_number(), ir_.getInt32(instruction_->opcode == Opcode::fence_proxy), mask_bits()});
}

// The rank of a block of the cluster stands in an address above its offset (gpu/types.h); 0 there: this block.
void FunctionLowering::lower_cluster_address() {
  const ptx::Instruction& i = *instruction_;
  const bool rank_of = i.opcode == Opcode::getctarank;
  const ScalarType type = i.type();
  scalar_ = is_scalar(i.operands[1]) && (rank_of || is_scalar(i.operands[2]));
  Value* address = read(i.operands[1], type);
  const auto number = [&](std::uint64_t n) { return constant(type, n); };
  constexpr std::uint64_t kRanks = 0xffu;
  if (rank_of) {
    Value* rank = ir_.CreateAnd(ir_.CreateLShr(address, number(kClusterShift)), number(kRanks));
    Value* own = context_field(offsetof(WarpContext, cluster_rank), ir_.getInt32Ty(), "cluster_rank");
    llvm::Type* result = value_type(ScalarType::u32);
    Value* there = ir_.CreateTrunc(ir_.CreateSub(rank, number(1)), result);
    Value* here = ir_.CreateICmpEQ(rank, number(0));
    write(i.operands[0], ir_.CreateSelect(here, scalar_ ? own : splat(own), there), ScalarType::u32);
    return;
  }
  Value* rank = ir_.CreateZExt(read(i.operands[2], ScalarType::u32), value_type(type));
  Value* offset = ir_.CreateAnd(address, number(~(kRanks << kClusterShift)));
  write(i.operands[0], ir_.CreateOr(offset, ir_.CreateShl(ir_.CreateAdd(rank, number(1)), number(kClusterShift))),
        type);
}

void FunctionLowering::lower_barrier() {
  const ptx::Instruction& i = *instruction_;
  const bool reduce = i.has(Modifier::red);
  std::size_t k = reduce ? 1 : 0;
  const auto uniform = [&](const Operand& o) -> Value* {
    if (is_scalar(o)) return read_scalar(o, ScalarType::u32);
    // Lanes that disagree about the barrier number are undefined behaviour; the first active lane's value counts.
    Value* first = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask_bits(), ir_.getInt1(false));
    return ir_.CreateExtractElement(read_vector(o, ScalarType::u32), first);
  };
  Value* id = k < i.operands.size() ? uniform(i.operands[k++]) : ir_.getInt32(0);
  const std::size_t left = i.operands.size() - k;
  Value* threads = left > (reduce ? 1u : 0u) ? uniform(i.operands[k++]) : ir_.getInt32(0);
  const bool some = wait_points_.at(instruction_index_);
  if (!reduce) {
    const char* name = i.has(Modifier::arrive) ? "wg_barrier_arrive" : "wg_barrier";
    const auto whole_warp = [&]() -> Value* {
      return call(name, ir_.getVoidTy(), {context_argument_, site_number(), id, threads, mask_bits()});
    };
    if (some)
      barrier_of_some(id, threads, whole_warp, nullptr, 0);
    else
      whole_warp();
    return;
  }
  const unsigned op = i.has(Modifier::popc) ? 0 : i.has(Modifier::and_) ? 1 : 2;
  Value* predicate = lanes_to_bits(read_vector(i.operands[k], ScalarType::pred));
  const auto whole_warp = [&]() -> Value* {
    return call("wg_barrier_reduce", ir_.getInt32Ty(),
                {context_argument_, site_number(), id, threads, mask_bits(), predicate, ir_.getInt32(op)});
  };
  Value* result = some ? barrier_of_some(id, threads, whole_warp, predicate, op) : whole_warp();
  if (op == 0)
    write(i.operands[0], result, ScalarType::u32);
  else
    write(i.operands[0], ir_.CreateICmpNE(result, ir_.getInt32(0)), ScalarType::pred);
}

}  // namespace warpgrind::jit
