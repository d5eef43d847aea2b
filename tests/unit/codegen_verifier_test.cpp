// The verifier of lowered kernels finds each broken rule. Every test builds a function that is right but for one thing.
#include <gtest/gtest.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/kernel/verifier.h"
#include "jit/calls/symbols.h"
#include "ptx/parser.h"

namespace warpgrind::jit {
namespace {

// Instruction 1 is the load on line 9, instruction 2 the barrier on line 10.
constexpr const char* kText = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.global.u64 %rd2, [%rd1];
  @%p bar.sync 0;
  ret;
}
)";

class Verifier : public testing::Test {
 protected:
  Verifier() : module("kernel", context), ir(context) {
    ptx = *ptx::parse(kText, "test");
    unit.module = ptx.get();
    unit.facts.name = "k";
    unit.facts.blocks.push_back(block_facts());
    unit.facts.sites = {site(1), site(2)};
    base("wg_guard_base", 2);
    base("wg_branch_base", 2);
    base("wg_edge_base", 2);
    base("wg_slow_path_base", 2);
    static const CallSymbol known[] = {{"wg_load_of_the_test", reinterpret_cast<void*>(1)}};
    register_call_symbols(known);
    llvm::Type* pointer = llvm::PointerType::getUnqual(context);
    function = llvm::Function::Create(llvm::FunctionType::get(ir.getVoidTy(), {pointer, pointer}, false),
                                      llvm::GlobalValue::ExternalLinkage, "kernel", module);
    unit.functions[0] = function;
    entry = llvm::BasicBlock::Create(context, "entry", function);
    start = llvm::BasicBlock::Create(context, "start", function);
    ir.SetInsertPoint(entry);
    depth = ir.CreateAlloca(ir.getInt32Ty(), nullptr, "depth");
    stack = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt32Ty(), 240), nullptr, "stack");
    ir.CreateBr(start);
    ir.SetInsertPoint(start);
    ir.CreateStore(ir.getInt32(0), depth);
  }

  static events::BlockFacts block_facts() {
    events::BlockFacts facts;
    facts.function = "k";
    facts.instruction_count = 4;
    return facts;
  }
  events::Site site(std::uint32_t instruction) const {
    events::Site made;
    made.function = "k";
    made.instruction = instruction;
    made.ptx_line = ptx->functions[0].body[instruction].range.line;
    return made;
  }
  void base(const char* name, std::uint64_t value) {
    new llvm::GlobalVariable(module, ir.getInt64Ty(), true, llvm::GlobalValue::InternalLinkage, ir.getInt64(value),
                             name);
  }
  void call(const char* name, llvm::ArrayRef<llvm::Value*> arguments) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* a : arguments) types.push_back(a->getType());
    ir.CreateCall(module.getOrInsertFunction(name, llvm::FunctionType::get(ir.getVoidTy(), types, false)), arguments);
  }
  void load_site(std::uint32_t number) {
    mark_instruction(ir, 0, 1);
    call("wg_load_of_the_test", {function->getArg(0), ir.getInt32(number)});
  }
  void push(bool whole) {
    llvm::Value* top = ir.CreateLoad(ir.getInt32Ty(), depth);
    for (unsigned field = 0; field < (whole ? 3u : 2u); ++field)
      ir.CreateStore(ir.getInt32(1),
                     ir.CreateInBoundsGEP(ir.getInt32Ty(), stack, ir.CreateAdd(top, ir.getInt32(field))));
    ir.CreateStore(ir.CreateAdd(top, ir.getInt32(1)), depth);
  }
  std::string verify() { return find_broken_rule(module, unit); }
  std::string ended() { return ir.CreateRetVoid(), verify(); }

  llvm::LLVMContext context;
  llvm::Module module;
  llvm::IRBuilder<> ir;
  std::shared_ptr<ptx::Module> ptx;
  KernelUnit unit;
  llvm::Function* function = nullptr;
  llvm::BasicBlock *entry = nullptr, *start = nullptr;
  llvm::AllocaInst *depth = nullptr, *stack = nullptr;
};

TEST_F(Verifier, AcceptsAWholeFunction) {
  load_site(0);
  push(true);
  EXPECT_EQ(ended(), "");
}

TEST_F(Verifier, RemovesItsMarks) {
  load_site(0);
  ir.CreateRetVoid();
  remove_marks(module);
  EXPECT_EQ(verify(), "");
  for (const llvm::BasicBlock& block : *function)
    for (const llvm::Instruction& i : block) EXPECT_FALSE(i.hasMetadata());
}

TEST_F(Verifier, NamesABlockThatDoesNotEnd) {
  load_site(0);
  EXPECT_EQ(verify(), "kernel k, PTX line 9: block start of kernel does not end");
}

TEST_F(Verifier, RunsLlvmsVerifier) {
  ir.CreateRet(ir.getInt32(1));
  EXPECT_EQ(verify().rfind("kernel k: LLVM's verifier: ", 0), 0u) << verify();
}

TEST_F(Verifier, NamesAnUnknownSymbol) {
  mark_instruction(ir, 0, 2);
  call("wg_laod", {function->getArg(0)});
  EXPECT_EQ(ended(), "kernel k, PTX line 10: wg_laod is called and not registered (jit/calls/symbols.h)");
}

TEST_F(Verifier, NamesASymbolWithTwoSignatures) {
  load_site(0);
  call("wg_load_of_the_test", {function->getArg(0)});
  EXPECT_EQ(ended(), "kernel k, PTX line 9: wg_load_of_the_test is called with two signatures");
}

TEST_F(Verifier, NamesASiteThatDoesNotExist) {
  load_site(2);
  EXPECT_EQ(ended(), "kernel k, PTX line 9: the call of wg_load_of_the_test passes site 2, which does not exist");
}

TEST_F(Verifier, NamesASiteOfAnotherInstruction) {
  load_site(1);
  EXPECT_EQ(ended(), "kernel k, PTX line 9: the call of wg_load_of_the_test passes site 1, which is of PTX line 10");
}

TEST_F(Verifier, NamesAnUndefinedArgument) {
  mark_instruction(ir, 0, 1);
  call("wg_load_of_the_test", {function->getArg(0), llvm::PoisonValue::get(ir.getInt32Ty())});
  EXPECT_EQ(ended(), "kernel k, PTX line 9: the call of wg_load_of_the_test passes an undefined value");
}

TEST_F(Verifier, NamesAnAllocaOutsideTheEntryBlock) {
  mark_instruction(ir, 0, 1);
  ir.CreateAlloca(ir.getInt32Ty());
  EXPECT_EQ(ended(), "kernel k, PTX line 9: an alloca stands outside the entry block of kernel");
}

TEST_F(Verifier, NamesAnEntryBlockThatDoesMore) {
  ir.CreateRetVoid();
  ir.SetInsertPoint(entry->getTerminator());
  ir.CreateStore(ir.getInt32(0), depth);
  EXPECT_EQ(verify(), "kernel k: the entry block of kernel has more than allocas of constant size: store");
}

TEST_F(Verifier, NamesAnEntryPushedInPart) {
  mark_instruction(ir, 0, 2);
  push(false);
  EXPECT_EQ(ended(), "kernel k, PTX line 10: an entry of the path stack is pushed before it is written");
}

TEST_F(Verifier, NamesAnEntryTakenWithoutATest) {
  ir.CreateStore(ir.CreateSub(ir.CreateLoad(ir.getInt32Ty(), depth), ir.getInt32(1)), depth);
  EXPECT_EQ(ended(), "kernel k: an entry is taken from an empty path stack");
}

TEST_F(Verifier, AcceptsAnEntryTakenAfterATest) {
  llvm::BasicBlock* none = llvm::BasicBlock::Create(context, "none", function);
  llvm::BasicBlock* some = llvm::BasicBlock::Create(context, "some", function);
  llvm::Value* entries = ir.CreateLoad(ir.getInt32Ty(), depth);
  ir.CreateCondBr(ir.CreateICmpEQ(entries, ir.getInt32(0)), none, some);
  ir.SetInsertPoint(none);
  ir.CreateRetVoid();
  ir.SetInsertPoint(some);
  ir.CreateStore(ir.CreateSub(entries, ir.getInt32(1)), depth);
  EXPECT_EQ(ended(), "");
}

TEST_F(Verifier, NamesADepthThatChangesByTwo) {
  ir.CreateStore(ir.CreateAdd(ir.CreateLoad(ir.getInt32Ty(), depth), ir.getInt32(2)), depth);
  EXPECT_EQ(ended(), "kernel k: the depth of the path stack changes by other than one entry");
}

TEST_F(Verifier, ChecksTheFacts) {
  ir.CreateRetVoid();
  const events::KernelFacts good = unit.facts;
  const auto with = [&](auto&& change) {
    unit.facts = good;
    change(unit.facts);
    return verify();
  };
  using Facts = events::KernelFacts;
  EXPECT_EQ(with([](Facts&) {}), "");
  EXPECT_EQ(with([](Facts& f) { f.sites[1].instruction = 99; }), "kernel k, PTX line 10: site 1 is of no instruction");
  EXPECT_EQ(with([](Facts& f) { f.sites[1].leader = 1; }),
            "kernel k, PTX line 10: site 1 has a leader that is none: 1");
  EXPECT_EQ(with([](Facts& f) { f.blocks[0].instruction_count = 99; }),
            "kernel k, PTX line 8: a counted block does not lie in its function");
  EXPECT_EQ(with([](Facts& f) {
              f.guards.push_back({1, 0, {}, 0});
            }),
            "kernel k, PTX line 9: an instruction without a guard counts one");
  EXPECT_EQ(with([](Facts& f) { f.guards.push_back({2, 1, {}, 0}); }), "kernel k: a guard is of no block");
  EXPECT_EQ(with([](Facts& f) {
              f.guards.push_back({2, 0, {}, 0});
            }),
            "kernel k: wg_branch_base is not 3, the start of its part of the scoreboard");
  EXPECT_EQ(with([](Facts& f) {
              f.edges.push_back({0, 1, events::EdgeFacts::kNotCounted});
            }),
            "kernel k: the edge from block 0 to 1 joins no blocks");
  EXPECT_EQ(with([](Facts& f) { f.slow_paths.push_back({1, 1, {}}); }), "kernel k: a slow path is of no block");
  EXPECT_EQ(with([](Facts& f) {
              f.slow_paths.push_back({1, 0, {}});
            }),
            "kernel k, PTX line 9: an instruction counts another slow path");
  EXPECT_EQ(with([](Facts& f) { f.edge_counters = 1; }), "kernel k: the edges have another number of counters");
}

}  // namespace
}  // namespace warpgrind::jit
