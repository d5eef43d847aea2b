#include "codegen/kernel/verifier.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <optional>
#include <set>

#include "flow/cfg.h"
#include "jit/calls/slow_paths.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

namespace {

constexpr const char* kMark = "warpgrind.instruction";

struct Mark {
  std::uint32_t function, instruction;
};

std::optional<Mark> mark_of(const llvm::Instruction& i) {
  const llvm::MDNode* node = i.getMetadata(kMark);
  if (!node) return std::nullopt;
  const auto number = [&](unsigned k) {
    return static_cast<std::uint32_t>(
        llvm::cast<llvm::ConstantInt>(llvm::cast<llvm::ConstantAsMetadata>(node->getOperand(k))->getValue())
            ->getZExtValue());
  };
  return Mark{number(0), number(1)};
}

std::string text_of(llvm::StringRef name) {
  return name.str();
}

class KernelVerifier {
 public:
  KernelVerifier(const llvm::Module& module, const KernelUnit& unit) : module_(module), unit_(unit) {}
  std::string run();

 private:
  bool good() const { return problem_.empty(); }
  void broken(std::uint32_t ptx_line, const std::string& rule);
  void broken(const llvm::Instruction& at, const std::string& rule) { broken(line_of(at), rule); }
  std::uint32_t line_of(const llvm::Instruction& i) const;
  std::uint32_t line_of(std::uint32_t function, std::uint32_t instruction) const;
  std::optional<std::uint32_t> function_named(const std::string& name) const;
  const ptx::Instruction* instruction_at(std::uint32_t function, std::uint32_t index) const;

  void check_llvm();
  void check_block_ends(const llvm::Function& function);
  void check_entry(const llvm::Function& function);
  void check_instruction(const llvm::Function& function, const llvm::Instruction& i);
  void check_call(const llvm::Function& function, const llvm::CallBase& call);
  void check_site_argument(const llvm::Function& function, const llvm::CallBase& call);
  void check_path_stack(const llvm::Function& function);
  void check_depth_store(const llvm::AllocaInst& depth, const llvm::StoreInst& store);
  void check_sites();
  void check_blocks();
  void check_guards();
  void check_slow_paths();
  void check_branches();
  void check_edges();
  void check_bases();

  const llvm::Module& module_;
  const KernelUnit& unit_;
  std::string problem_;
};

// The first one is kept: later ones may follow from it.
void KernelVerifier::broken(std::uint32_t ptx_line, const std::string& rule) {
  if (!good()) return;
  problem_ = fmt::format("kernel {}", unit_.facts.name);
  if (ptx_line) problem_ += fmt::format(", PTX line {}", ptx_line);
  problem_ += ": " + rule;
}

const ptx::Instruction* KernelVerifier::instruction_at(std::uint32_t function, std::uint32_t index) const {
  if (function >= unit_.module->functions.size()) return nullptr;
  const std::vector<ptx::Instruction>& body = unit_.module->functions[function].body;
  return index < body.size() ? &body[index] : nullptr;
}

std::uint32_t KernelVerifier::line_of(std::uint32_t function, std::uint32_t index) const {
  const ptx::Instruction* instruction = instruction_at(function, index);
  return instruction ? instruction->range.line : 0;
}

// Code without a mark belongs to the last marked instruction before it in its block, if there is one.
std::uint32_t KernelVerifier::line_of(const llvm::Instruction& i) const {
  for (const llvm::Instruction* at = &i; at; at = at->getPrevNode())
    if (const std::optional<Mark> mark = mark_of(*at)) return line_of(mark->function, mark->instruction);
  return 0;
}

std::optional<std::uint32_t> KernelVerifier::function_named(const std::string& name) const {
  for (const auto& [index, made] : unit_.functions)
    if (unit_.module->functions[index].name == name) return index;
  return std::nullopt;
}

// ---- LLVM IR

void KernelVerifier::check_block_ends(const llvm::Function& function) {
  for (const llvm::BasicBlock& block : function)
    if (!block.getTerminator())
      broken(block.empty() ? 0 : line_of(block.back()),
             fmt::format("block {} of {} does not end", text_of(block.getName()), text_of(function.getName())));
}

void KernelVerifier::check_llvm() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module_, &stream)) broken(0, "LLVM's verifier: " + text);
}

void KernelVerifier::check_entry(const llvm::Function& function) {
  for (const llvm::Instruction& i : function.getEntryBlock()) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (call && call->getIntrinsicID() == llvm::Intrinsic::x86_sse_ldmxcsr) continue;  // tiny_results.h
    const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&i);
    if (alloca ? !llvm::isa<llvm::ConstantInt>(alloca->getArraySize()) : !i.isTerminator())
      broken(i, fmt::format("the entry block of {} has more than allocas of constant size: {}",
                            text_of(function.getName()), i.getOpcodeName()));
  }
}

void KernelVerifier::check_instruction(const llvm::Function& function, const llvm::Instruction& i) {
  if (llvm::isa<llvm::AllocaInst>(i) && i.getParent() != &function.getEntryBlock())
    broken(i, fmt::format("an alloca stands outside the entry block of {}", text_of(function.getName())));
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i)) return check_call(function, *call);
  if (!i.isTerminator()) return;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&i);
  const auto* jump = llvm::dyn_cast<llvm::SwitchInst>(&i);
  const llvm::Value* condition = branch && branch->isConditional() ? branch->getCondition()
                                 : jump                            ? jump->getCondition()
                                                                   : nullptr;
  if (condition && llvm::isa<llvm::UndefValue>(condition)) broken(i, "a branch depends on an undefined value");
}

void KernelVerifier::check_call(const llvm::Function& function, const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  // getCalledFunction() is null too if the type of the call is not that of the function.
  if (!callee) {
    const auto* other = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
    return broken(call, other ? fmt::format("{} is called with two signatures", text_of(other->getName()))
                              : "a call through a pointer");
  }
  if (callee->isIntrinsic()) return;
  const std::string name = text_of(callee->getName());
  if (callee->isDeclaration() && !find_call_symbol(name))
    return broken(call, fmt::format("{} is called and not registered (jit/calls/symbols.h)", name));
  for (const llvm::Value* argument : call.args())
    if (llvm::isa<llvm::UndefValue>(argument))
      return broken(call, fmt::format("the call of {} passes an undefined value", name));
  if (callee->isDeclaration()) check_site_argument(function, call);
}

// A constant after the context is the number of a site (jit/abi.h): masks, the other numbers at this place, are never
// constant.
void KernelVerifier::check_site_argument(const llvm::Function& function, const llvm::CallBase& call) {
  if (call.arg_size() < 2 || !call.getArgOperand(0)->getType()->isPointerTy()) return;
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
  if (!number || !number->getType()->isIntegerTy(32)) return;
  const std::string callee = text_of(call.getCalledFunction()->getName());
  const std::uint64_t site = number->getZExtValue();
  if (site >= unit_.facts.sites.size())
    return broken(call, fmt::format("the call of {} passes site {}, which does not exist", callee, site));
  const std::optional<Mark> mark = mark_of(call);
  if (!mark) return;
  const events::Site& facts = unit_.facts.sites[site];
  const auto made = unit_.functions.find(mark->function);
  if (made == unit_.functions.end() || made->second != &function)
    return broken(
        call, fmt::format("the call of {} belongs to another function than {}", callee, text_of(function.getName())));
  if (facts.instruction != mark->instruction || facts.function != unit_.module->functions[mark->function].name)
    broken(call, fmt::format("the call of {} passes site {}, which is of PTX line {}", callee, site, facts.ptx_line));
}

// ---- Path stack (codegen/kernel/path_stack.h)

bool is_load_of(const llvm::Value* value, const llvm::Value* address) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  return load && load->getPointerOperand() == address;
}

// `value` is `depth` plus or minus one entry.
bool is_step(const llvm::Value* value, const llvm::Value* depth, unsigned opcode) {
  const auto* step = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!step || step->getOpcode() != opcode || !is_load_of(step->getOperand(0), depth)) return false;
  const auto* by = llvm::dyn_cast<llvm::ConstantInt>(step->getOperand(1));
  return by && by->isOne();
}

// Fields of entries that the block writes before `end`.
unsigned fields_written(const llvm::Instruction& end) {
  std::set<const llvm::Value*> fields;
  for (const llvm::Instruction* i = end.getPrevNode(); i; i = i->getPrevNode())
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(i))
      if (llvm::isa<llvm::GetElementPtrInst>(store->getPointerOperand())) fields.insert(store->getPointerOperand());
  return static_cast<unsigned>(fields.size());
}

// The block is entered only if `depth` is not zero.
bool entered_if_any(const llvm::BasicBlock& block, const llvm::Value* depth) {
  const llvm::BasicBlock* before = block.getSinglePredecessor();
  const auto* branch = before ? llvm::dyn_cast<llvm::BranchInst>(before->getTerminator()) : nullptr;
  if (!branch || !branch->isConditional() || branch->getSuccessor(1) != &block) return false;
  const auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  const auto* zero = test ? llvm::dyn_cast<llvm::ConstantInt>(test->getOperand(1)) : nullptr;
  return zero && zero->isZero() && test->getPredicate() == llvm::ICmpInst::ICMP_EQ &&
         is_load_of(test->getOperand(0), depth);
}

void KernelVerifier::check_depth_store(const llvm::AllocaInst& depth, const llvm::StoreInst& store) {
  const llvm::Value* value = store.getValueOperand();
  if (store.getPointerOperand() != &depth) return broken(store, "the address of the path stack's depth is stored");
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    if (!constant->isZero()) broken(store, "the path stack gets a constant depth other than zero");
    return;
  }
  constexpr unsigned kFields = 3;  // PathStack::kFields
  if (is_step(value, &depth, llvm::Instruction::Add)) {
    if (fields_written(store) < kFields) broken(store, "an entry of the path stack is pushed before it is written");
  } else if (is_step(value, &depth, llvm::Instruction::Sub)) {
    if (!entered_if_any(*store.getParent(), &depth)) broken(store, "an entry is taken from an empty path stack");
  } else if (!llvm::isa<llvm::LoadInst>(value) || is_load_of(value, &depth)) {  // else: the device's (Paths::depth)
    broken(store, "the depth of the path stack changes by other than one entry");
  }
}

void KernelVerifier::check_path_stack(const llvm::Function& function) {
  const llvm::AllocaInst* depth = nullptr;
  for (const llvm::Instruction& i : function.getEntryBlock())
    if (const auto* a = llvm::dyn_cast<llvm::AllocaInst>(&i); a && a->getName() == "depth") depth = a;
  if (!depth) return;
  for (const llvm::User* user : depth->users()) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
      check_depth_store(*depth, *store);
    else if (!llvm::isa<llvm::LoadInst>(user))
      broken(*depth, "the depth of the path stack is used by other than loads and stores");
  }
}

// ---- Facts

void KernelVerifier::check_sites() {
  for (std::size_t n = 0; n < unit_.facts.sites.size(); ++n) {
    const events::Site& site = unit_.facts.sites[n];
    const std::optional<std::uint32_t> function = function_named(site.function);
    if (!function || !instruction_at(*function, site.instruction))
      return broken(site.ptx_line, fmt::format("site {} is of no instruction", n));
    if (site.ptx_line != line_of(*function, site.instruction))
      return broken(site.ptx_line, fmt::format("site {} has another PTX line than its instruction", n));
    if (site.bytes() == 0) return broken(site.ptx_line, fmt::format("site {} has no bytes", n));
    if (site.leader == events::Site::kAlone) continue;
    if (site.leader >= n || unit_.facts.sites[site.leader].leader != events::Site::kAlone)
      return broken(site.ptx_line, fmt::format("site {} has a leader that is none: {}", n, site.leader));
  }
}

void KernelVerifier::check_blocks() {
  std::set<std::pair<std::string, std::uint32_t>> seen;
  for (const events::BlockFacts& block : unit_.facts.blocks) {
    const std::optional<std::uint32_t> function = function_named(block.function);
    if (!function) return broken(0, fmt::format("a counted block is of no function: {}", block.function));
    const std::uint32_t line = line_of(*function, block.first_instruction);
    if (block.instruction_count == 0 ||
        !instruction_at(*function, block.first_instruction + block.instruction_count - 1))
      return broken(line, "a counted block does not lie in its function");
    if (!seen.emplace(block.function, block.first_instruction).second) return broken(line, "a block is counted twice");
  }
}

void KernelVerifier::check_guards() {
  const std::vector<events::BlockFacts>& blocks = unit_.facts.blocks;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const events::GuardFacts& guard : unit_.facts.guards) {
    if (guard.block >= blocks.size()) return broken(0, "a guard is of no block");
    const events::BlockFacts& block = blocks[guard.block];
    const std::optional<std::uint32_t> function = function_named(block.function);
    const ptx::Instruction* instruction = function ? instruction_at(*function, guard.instruction) : nullptr;
    if (!instruction || guard.instruction - block.first_instruction >= block.instruction_count)
      return broken(0, "a guard does not stand in its block");
    if (!instruction->guard) return broken(instruction->range.line, "an instruction without a guard counts one");
    if (!seen.emplace(guard.block, guard.instruction).second)
      return broken(instruction->range.line, "a guard is counted twice");
  }
}

void KernelVerifier::check_slow_paths() {
  const std::vector<events::BlockFacts>& blocks = unit_.facts.blocks;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const events::SlowPathFacts& path : unit_.facts.slow_paths) {
    if (path.block >= blocks.size()) return broken(0, "a slow path is of no block");
    const events::BlockFacts& block = blocks[path.block];
    const std::optional<std::uint32_t> function = function_named(block.function);
    const ptx::Instruction* instruction = function ? instruction_at(*function, path.instruction) : nullptr;
    if (!instruction || path.instruction - block.first_instruction >= block.instruction_count)
      return broken(0, "a slow path does not stand in its block");
    if (slow_path_of(*instruction) != path.kind)
      return broken(instruction->range.line, "an instruction counts another slow path");
    if (!seen.emplace(path.block, path.instruction).second)
      return broken(instruction->range.line, "a slow path is counted twice");
  }
}

void KernelVerifier::check_branches() {
  std::set<std::pair<std::string, std::uint32_t>> seen;
  for (const events::BranchFacts& branch : unit_.facts.branches) {
    const std::optional<std::uint32_t> function = function_named(branch.function);
    const ptx::Instruction* instruction = function ? instruction_at(*function, branch.instruction) : nullptr;
    if (!instruction || !flow::ends_block(*instruction))
      return broken(branch.ptx_line, "a counted branch is no branch");
    if (!seen.emplace(branch.function, branch.instruction).second)
      return broken(branch.ptx_line, "a branch is counted twice");
  }
}

void KernelVerifier::check_edges() {
  const auto blocks = static_cast<std::uint32_t>(unit_.facts.blocks.size());
  std::uint32_t counters = 0;
  for (const events::EdgeFacts& edge : unit_.facts.edges) {
    if (edge.from >= blocks || (edge.to != events::EdgeFacts::kLeaves && edge.to >= blocks))
      return broken(0, fmt::format("the edge from block {} to {} joins no blocks", edge.from, edge.to));
    if (edge.counter != events::EdgeFacts::kNotCounted && edge.counter != counters++)
      return broken(0, fmt::format("the counter {} of an edge is not the next one", edge.counter));
  }
  if (counters != unit_.facts.edge_counters) broken(0, "the edges have another number of counters");
}

// Layout of the scoreboard (jit/abi.h, CompiledKernel::guard_slot()).
void KernelVerifier::check_bases() {
  const events::KernelFacts& facts = unit_.facts;
  const std::uint64_t guards = 2 * facts.blocks.size(), branches = guards + facts.guards.size(),
                      edges = branches + events::BranchFacts::kCounters * facts.branches.size(),
                      slow_paths = edges + 2 * facts.edge_counters;
  for (const auto& [name, value] : {std::pair{"wg_guard_base", guards}, std::pair{"wg_branch_base", branches},
                                    std::pair{"wg_edge_base", edges}, std::pair{"wg_slow_path_base", slow_paths}}) {
    const llvm::GlobalVariable* base = module_.getGlobalVariable(name, true);
    const auto* constant =
        base && base->hasInitializer() ? llvm::dyn_cast<llvm::ConstantInt>(base->getInitializer()) : nullptr;
    if (!constant || constant->getZExtValue() != value)
      broken(0, fmt::format("{} is not {}, the start of its part of the scoreboard", name, value));
  }
  const bool counted =
      !facts.guards.empty() || !facts.branches.empty() || facts.edge_counters != 0 || !facts.slow_paths.empty();
  if (!unit_.options.counters && counted) broken(0, "a kernel without counters has some");
}

std::string KernelVerifier::run() {
  for (const llvm::Function& function : module_) check_block_ends(function);
  if (good()) check_llvm();
  if (!good()) return problem_;  // the other checks need whole blocks
  check_sites();
  for (const llvm::Function& function : module_) {
    if (function.isDeclaration()) continue;
    check_entry(function);
    check_path_stack(function);
    for (const llvm::BasicBlock& block : function)
      for (const llvm::Instruction& i : block) check_instruction(function, i);
  }
  check_blocks();
  check_guards();
  check_slow_paths();
  check_branches();
  check_edges();
  check_bases();
  return problem_;
}

void mark(llvm::IRBuilder<>& ir, llvm::MDNode* node) {
  llvm::LLVMContext& context = ir.getContext();
  const unsigned kind = context.getMDKindID(kMark);
  // A builder copies metadata from an instruction only.
  llvm::Instruction* carrier = new llvm::UnreachableInst(context);
  carrier->setMetadata(kind, node);
  ir.CollectMetadataToCopy(carrier, {kind});
  carrier->deleteValue();
}

}  // namespace

void mark_instruction(llvm::IRBuilder<>& ir, std::uint32_t function, std::uint32_t instruction) {
  const auto number = [&](std::uint32_t n) { return llvm::ConstantAsMetadata::get(ir.getInt32(n)); };
  mark(ir, llvm::MDNode::get(ir.getContext(), {number(function), number(instruction)}));
}

void mark_no_instruction(llvm::IRBuilder<>& ir) {
  mark(ir, nullptr);
}

void remove_marks(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& i : block) i.setMetadata(kMark, nullptr);
}

std::string find_broken_rule(const llvm::Module& module, const KernelUnit& unit) {
  return KernelVerifier(module, unit).run();
}

}  // namespace warpgrind::jit
