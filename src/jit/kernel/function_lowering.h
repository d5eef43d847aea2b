// One PTX function becoming one LLVM function: registers, control flow, memory. The opcode families (lower.h) see only
// its base class.
#pragma once

#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "events/site.h"
#include "flow/forms.h"
#include "flow/transfer.h"
#include "flow/wait_points.h"
#include "jit/abi.h"
#include "jit/compile/compiler.h"
#include "jit/kernel/layout.h"
#include "jit/kernel/lower.h"

namespace warpgrind::jit {

struct Signature;  // jit/kernel/signatures.h

// What all functions of one kernel share.
struct KernelUnit {
  const ptx::Module* module = nullptr;
  CompileOptions options;
  llvm::Module* llvm = nullptr;
  events::KernelFacts facts;
  const KernelLayout* layout = nullptr;
  std::map<std::uint32_t, llvm::Function*> functions;  // by ptx function index
  std::optional<Error> error;                          // first unsupported thing
  std::vector<Error>* all_refusals = nullptr;          // set: a dry run, which goes on behind the first
};

LowerFunction find_lowering(ptx::Opcode opcode);        // nullptr: none
std::initializer_list<LoweringEntry> core_lowerings();  // instructions.cpp

class FunctionLowering final : public Lowering {
 public:
  FunctionLowering(KernelUnit& unit, std::uint32_t function_index, bool is_kernel);
  void run();

  // Lowering
  llvm::Value* source(std::size_t index, ptx::ScalarType type) override;
  llvm::Value* read(const ptx::Operand& operand, ptx::ScalarType type) override;
  llvm::Value* read_vector(const ptx::Operand& operand, ptx::ScalarType type) override;
  bool is_scalar(const ptx::Operand& operand) const override;
  bool is_read(const ptx::Operand& destination) const override;
  bool is_predicate(const ptx::Operand& operand) const override {
    return operand.kind == ptx::OperandKind::reg && function_.registers[operand.index].type == ptx::ScalarType::pred;
  }
  void result(std::size_t index, llvm::Value* value, ptx::ScalarType type) override;
  void write(const ptx::Operand& operand, llvm::Value* value, ptx::ScalarType type) override;
  llvm::Value* mask_bits() override;
  llvm::Value* mask_vector() override;
  llvm::Value* context_pointer() override { return context_argument_; }
  llvm::Value* site_number() override;
  bool synchronization_observed() const override { return unit_.options.synchronization; }
  llvm::Value* carry_slot() override;
  Meeting meet(const ptx::Operand* members, llvm::Value* value) override;  // waiting.cpp
  void unsupported(const char* why) override;
  void refuse(const std::string& problem);  // the PTX is wrong: ends the compilation too

 private:
  // How a register is kept; see flow/forms.h. Allocas become SSA values later.
  struct Slot {
    llvm::AllocaInst* scalar = nullptr;  // uniform value; affine and wide: b
    llvm::AllocaInst* base = nullptr;    // wide: base
    llvm::AllocaInst* kx = nullptr;      // only when not a compile-time constant
    llvm::AllocaInst* ky = nullptr;
    llvm::AllocaInst* vector = nullptr;  // varying
  };
  // b + kx*X + ky*Y in 32 bits (affine), and the 64-bit frame around it (wide).
  struct Affine {
    llvm::Value* b = nullptr;   // i32
    llvm::Value* kx = nullptr;  // i32
    llvm::Value* ky = nullptr;
    llvm::Value* base = nullptr;  // i64, wide only
    std::int64_t scale = 1;
    bool is_signed = false, wide = false;
    bool carries_lanes = false;  // wide: not just a uniform base
  };
  // A memory operand's lane addresses.
  struct Address {
    enum class Kind { uniform, affine, varying } kind = Kind::uniform;
    llvm::Value* base = nullptr;  // i64: lane 0's address (uniform: the address)
    llvm::Value* kx = nullptr;    // i64
    llvm::Value* ky = nullptr;
    std::optional<std::int64_t> constant_kx, constant_ky;
    llvm::Value* exact = nullptr;   // i1: the affine form holds for all lanes; null: always
    llvm::Value* vector = nullptr;  // <32 x i64>, made on demand
    const ptx::Operand* operand = nullptr;
  };

  // setup.cpp
  void create_slots();
  void clear_unwritten_registers();
  void create_blocks();
  void lower_blocks();
  llvm::AllocaInst* entry_alloca(llvm::Type* type, const char* name, unsigned alignment = 0);
  llvm::Value* context_field(std::size_t offset, llvm::Type* type, const char* name);  // loaded once, in the prologue
  llvm::Value* context_address(std::size_t offset);
  void record_block_facts(std::uint32_t block);
  void count_block(std::uint32_t block);
  void record_edge(std::uint32_t block, std::uint32_t target);  // the block's only way out
  void count_edge(std::uint32_t block, std::uint32_t target, llvm::Value* lanes);
  llvm::Value* scoreboard_slot(llvm::Value* index);
  void bump(llvm::Value* slot_address, llvm::Value* amount);

  // registers.cpp
  const flow::Form& form(ptx::RegId r) const { return analysis_.forms[r]; }
  flow::Form form(const ptx::Operand& o) const { return flow::operand_form(o, analysis_.forms, layout_, function_); }
  llvm::Value* read_scalar(const ptx::Operand& operand, ptx::ScalarType type);
  llvm::Value* special_register(ptx::SpecialRegister s, bool vector, const ptx::Operand& operand);
  llvm::Value* cluster_register(ptx::SpecialRegister s);
  llvm::Value* register_vector(ptx::RegId r);
  llvm::Value* affine_vector(const Affine& a);
  Affine read_affine(const ptx::Operand& operand, unsigned width);
  void write_affine(ptx::RegId r, const Affine& a);
  llvm::Value* variable_address(const ptx::Operand& operand);
  llvm::Value* convert_bits(llvm::Value* value, ptx::ScalarType from, ptx::ScalarType to);
  llvm::Value* lane_pattern(bool y, unsigned width);  // constant <32 x iN>
  llvm::Type* slot_type(ptx::ScalarType type);

  // affine.cpp: arithmetic whose result the analysis promised to be affine or wide. False: not one of them.
  bool lower_affine();
  Affine affine_of(std::size_t operand, unsigned width);
  Affine affine_sum(const Affine& a, const Affine& b, bool minus);
  Affine affine_scaled(Affine a, llvm::Value* by32, std::optional<std::int64_t> by);
  Affine affine_product(bool widening);
  Affine affine_multiply_add(unsigned width);
  Affine affine_converted(unsigned width);
  Affine affine_negated(Affine a);
  Affine affine_address(unsigned width);
  std::optional<Affine> make_affine(unsigned width);

  // instructions.cpp
  void lower_instruction(std::uint32_t index);
  std::string place() const;  // of the current instruction, for messages
  void fail(Error error);
  void lower_unguarded();
  friend struct CoreLowering;  // instructions.cpp: the opcodes of the core as rows of a table
  void lower_mov();
  void lower_cvta();
  void lower_barrier();
  void lower_cluster_address();
  void lower_fence();
  void lower_isspacep();

  // control_flow.cpp
  void create_divergence_state();
  llvm::BasicBlock* arrival(std::uint32_t block);  // where an edge to `block` goes
  void emit_arrival(std::uint32_t block);
  void lower_terminator(std::uint32_t block);
  void lower_branch(std::uint32_t block, const ptx::Instruction& i);
  void lower_indexed_branch(std::uint32_t block, const ptx::Instruction& i);
  void lower_exit(std::uint32_t block, const ptx::Instruction& i);
  void split(std::uint32_t block, llvm::Value* taken, llvm::Value* not_taken, std::uint32_t target,
             std::uint32_t fallthrough);
  void push(llvm::Value* mask, std::uint32_t target, llvm::Value* reconverge);
  void push_reconvergence(std::uint32_t point);
  void count_exited(llvm::Value* lanes);
  void emit_leave_block();
  void emit_dispatch();
  void dispatch_to(llvm::Value* target);
  void poll_loop_head(std::uint32_t block);
  void count_branch(const ptx::Instruction& i, llvm::Value* taken, llvm::Value* not_taken);
  void count_ways(std::uint32_t block, std::uint32_t target, llvm::Value* taken, std::uint32_t fallthrough,
                  llvm::Value* not_taken);
  llvm::Value* active() { return builder_->CreateLoad(builder_->getInt32Ty(), mask_); }

  // waiting.cpp
  void create_paths();
  llvm::Value* paths_field(std::size_t offset);
  template <class F>
  void for_saved(std::uint32_t instruction, std::uint64_t* scalar_bytes, std::uint64_t* bytes, F&& f);
  void save_registers(std::uint32_t instruction);
  void put_paths();
  std::uint32_t begin_place();
  void emit_restore(std::uint32_t place, std::uint32_t instruction);
  void emit_go_on();
  llvm::Value* alive();  // lanes of the warp that have not left the kernel
  llvm::Value* barrier_of_some(llvm::Value* id, llvm::Value* threads, const std::function<llvm::Value*()>& whole_warp,
                               llvm::Value* predicate, std::uint32_t operation);
  void spin_turn(std::uint32_t block);

  // memory.cpp
  void lower_load();
  void lower_store();
  Address address_of(const ptx::Operand& operand, StateSpace space);
  llvm::Value* address_vector(Address& a);
  llvm::Value* no_wrap(const Affine& a);
  llvm::Value* site_state(std::uint32_t site);
  llvm::Value* fast_condition(const Address& a, llvm::Value* state, unsigned alignment);
  void count_fast(const Address& a, llvm::Value* state);
  struct Ways {
    llvm::BasicBlock *fast, *masked, *slow;
  };
  void branch_on_condition(const Address& a, llvm::Value* state, unsigned alignment, const Ways& ways,
                           llvm::MDNode* weights);
  llvm::Value* host_pointer(llvm::Value* address, StateSpace space);
  std::vector<llvm::Value*> fast_load(const Address& a, StateSpace space, llvm::Type* element, unsigned count);
  void fast_store(const Address& a, StateSpace space, llvm::Type* element, const std::vector<llvm::Value*>& values);
  std::vector<llvm::Value*> slow_load(Address& a, llvm::Type* element, unsigned count);
  void slow_store(Address& a, llvm::Type* element, const std::vector<llvm::Value*>& values);
  std::vector<llvm::Value*> load_rows(const Address& a, llvm::Value* pointer, llvm::Type* element, unsigned count);
  llvm::Value* interleave_row(const std::vector<llvm::Value*>& values, unsigned row);
  llvm::Value* lane_pointers(const Address& a, llvm::Value* pointer);
  std::vector<llvm::Value*> load_local(llvm::Value* offset, llvm::Type* element, unsigned count);
  void store_local(llvm::Value* offset, llvm::Type* element, const std::vector<llvm::Value*>& values);
  bool is_volatile() const;

  // masked_memory.cpp: accesses of some lanes by the inline cache
  bool masked_path_possible(const Address& a, StateSpace space, unsigned element_bytes, unsigned count, bool store);
  void count_masked(const Address& a, llvm::Value* state);
  void masked_store(const Address& a, StateSpace space, llvm::Type* element, llvm::Value* value);
  bool fast_path_possible(const Address& a, StateSpace space, unsigned bytes) const;
  llvm::Value* scratch_area();
  llvm::Value* address_area();

  // calls.cpp: parameters of functions live in planes of 32-bit words: word w of lane l at [w*32 + l].
  void lower_call();
  std::optional<Signature> callee_signature();
  void call_each(llvm::Value* functions, const Signature& signature, llvm::Value* mask, llvm::Value* arguments,
                 llvm::Value* results);
  bool parameter_access_fits(const ptx::Operand& address);
  void lower_param_load();
  void lower_param_store();
  llvm::Value* param_planes(std::uint32_t variable);
  llvm::Value* load_plane(llvm::Value* planes, std::uint64_t offset, llvm::Type* element);
  void store_plane(llvm::Value* planes, std::uint64_t offset, llvm::Type* element, llvm::Value* vector, bool masked);
  void copy_planes(llvm::Value* to, llvm::Value* from, std::uint64_t words);
  void after_call(llvm::Value* exited_before);

  KernelUnit& unit_;
  const std::uint32_t function_index_;
  const ptx::Function function_;  // a copy whose registers hold one web each (flow/webs.h)
  const bool is_kernel_;
  flow::LaneLayout layout_;
  flow::ControlFlow cfg_;
  flow::FormAnalysis analysis_;
  flow::WaitPoints wait_points_;
  unsigned row_length_ = 32;

  llvm::IRBuilder<> ir_;
  llvm::IRBuilder<> prologue_;  // appends to the entry block, before its final branch
  llvm::Function* llvm_function_ = nullptr;
  llvm::Value* context_argument_ = nullptr;
  llvm::Value* mask_argument_ = nullptr;
  llvm::Value* arguments_ = nullptr;  // planes
  llvm::Value* results_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<llvm::BasicBlock*> bodies_, arrivals_;
  std::vector<std::uint32_t> block_numbers_;  // in KernelFacts::blocks
  std::vector<llvm::AllocaInst*> param_planes_;
  std::unordered_map<std::size_t, llvm::Value*> context_fields_;
  std::unordered_map<std::uint32_t, llvm::Value*> global_addresses_;
  llvm::Value* frame_base_ = nullptr;  // i64: where this function's .local starts in the thread's local memory
  llvm::AllocaInst* carry_ = nullptr;
  llvm::AllocaInst* address_area_ = nullptr;

  // Divergence (control_flow.cpp).
  llvm::AllocaInst* mask_ = nullptr;      // i32: active lanes
  llvm::AllocaInst* live_ = nullptr;      // i32: lanes of this invocation that have not returned
  llvm::AllocaInst* current_ = nullptr;   // i32: reconvergence point waited for (block number), kNoId: none
  llvm::AllocaInst* depth_ = nullptr;     // i32: entries on the stack
  llvm::Value* stack_ = nullptr;          // [kPathEntries x PathEntry]
  llvm::BasicBlock* leave_ = nullptr;     // lanes in mask_ have returned
  llvm::BasicBlock* dispatch_ = nullptr;  // takes the top entry
  llvm::BasicBlock* return_ = nullptr;
  std::vector<bool> is_reconvergence_, is_resume_;
  // Lanes that wait with their registers aside (waiting.cpp); null where none can.
  llvm::Value* paths_ = nullptr;  // Paths
  llvm::AllocaInst* save_area_ = nullptr;
  llvm::BasicBlock* go_on_ = nullptr;  // Paths say who runs and where
  std::vector<llvm::BasicBlock*> places_;
  std::uint64_t saved_bytes_ = 0;
  std::uint32_t current_block_ = 0;
  llvm::Value* guard_bits_ = nullptr;  // varying guard of the current instruction
  std::uint32_t site_ = ptx::kNoId;    // of the current instruction
};

}  // namespace warpgrind::jit
