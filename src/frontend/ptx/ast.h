// Syntax tree of one PTX module. The parser resolves names: registers, labels, variables and functions are indices, so
// later stages need no symbol tables. Everything keeps its source range for diagnostics.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "gpu/types.h"
#include "ptx/opcode.h"
#include "ptx/types.h"

namespace warpgrind::ptx {

struct SourceRange {
  std::uint32_t line = 0;    // 1-based line of the PTX text
  std::uint32_t column = 0;  // 1-based
  std::uint32_t length = 0;
};

// One `.loc`: a CUDA source line; `inlined_at` indexes Function::locations (-1: not inlined).
struct SourceLocation {
  std::uint32_t file = 0;  // index into Module::files
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::int32_t inlined_at = -1;
  std::string function;  // name of the inlined function, mangled or not, from `.loc ... function_name`
};

using RegId = std::uint32_t;    // index into Function::registers
using LabelId = std::uint32_t;  // index into Function::labels
inline constexpr std::uint32_t kNoId = 0xffffffffu;

struct Register {
  std::string name;  // "%r12"
  ScalarType type = ScalarType::b32;
};

// Special registers, with the component as part of the name: %tid.x. The parser splits vector reads (mov.v4 of %tid).
enum class SpecialRegister : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  dynamic_smem_size,
  total_smem_size,
  aggr_smem_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  reserved_smem_offset_begin,
  reserved_smem_offset_end,
  reserved_smem_offset_cap,
  reserved_smem_offset_0,
  reserved_smem_offset_1,
  current_graph_exec,
  envreg,
  pm,
  pm64,  // envreg and pm: number in Operand::index
};

enum class OperandKind : std::uint8_t {
  none,
  reg,        // register `index`; `negated` for `!%p`
  sreg,       // special register
  immediate,  // `bits`: integers sign-extended to 64 bit; f32 / f64 literals as their bit pattern, see `literal`
  variable,   // the address of variable `index` (module-level or function-level, see `scope`) plus `offset`
  function,   // the address of Module::functions[index]
  label,      // Function::labels[index]
  address,    // memory operand [base + offset]; base = reg, variable or absolute (no base): see `base`
  vector,     // {a, b, c, d}: `elements`
  sink,       // `_`
  table,      // name of a .branchtargets / .calltargets / .callprototype declaration: `index` into Function::tables
};

enum class Scope : std::uint8_t { function, module };  // table that a variable index refers to
enum class Literal : std::uint8_t { integer, f32, f64 };

struct Operand {
  OperandKind kind = OperandKind::none;
  bool negated = false;                  // `!%p`
  OperandKind base = OperandKind::none;  // for an address: reg, variable, or none (absolute address)
  Scope scope = Scope::function;         // for a variable, or an address whose base is a variable
  Literal literal = Literal::integer;    // for an immediate
  std::uint32_t index = kNoId;           // reg / variable / function / label / table; of the base for an address
  SpecialRegister sreg = SpecialRegister::tid_x;
  std::int64_t offset = 0;        // for a variable or address: bytes added
  std::uint64_t bits = 0;         // for an immediate
  std::uint8_t component = 0xff;  // %r.x of a vector register: 0..3 (the parser splits these where it can)
  std::uint32_t selector = 0;  // video instructions: `.b0`, `.h10`, `.b3210` as written, see selector_text(); 0: none
  bool has_sampler = false;    // address [t, sampler, {x, y}]: elements[0] is the sampler
  std::vector<Operand> elements;  // for a vector; also the coordinates inside a tex/surf/tensor address [t, {x, y}]
  SourceRange range;
};

// `@%p` or `@!%p`.
struct Guard {
  RegId reg = kNoId;
  bool negated = false;
  explicit operator bool() const { return reg != kNoId; }
};

struct Instruction {
  Opcode opcode{};
  StateSpace space = StateSpace::none;  // ld.global -> global; none if not written (memory instructions: generic)
  std::uint8_t vector = 1;              // .v2 .v4 .v8
  std::vector<ScalarType> types;        // the type suffixes in order: cvt.rn.f32.s32 -> {f32, s32}
  // All other suffixes in order: {rn, ftz}. .shared::cta: space shared and modifier shared_cta.
  std::vector<Modifier> modifiers;
  // Order of space, vector, types and modifiers in the text (ptx/spelling.h); 0: unknown.
  std::uint64_t suffix_order = 0;
  Guard guard;
  // Destinations first, in the order written. `d|p` (shfl, setp with two outputs) gives two operands, d then p, and
  // sets `has_second_destination`. call: operands = {callee, [table]}; see `arguments` and `results`.
  std::vector<Operand> operands;
  bool has_second_destination = false;
  std::vector<Operand> results;    // call only: (ret0, ...): param variables or registers
  std::vector<Operand> arguments;  // call only: (arg0, ...)
  std::uint32_t location = kNoId;  // Function::locations
  SourceRange range;

  bool has(Modifier m) const {
    for (Modifier x : modifiers)
      if (x == m) return true;
    return false;
  }
  // The i-th type suffix; none if there are fewer.
  ScalarType type(std::size_t i = 0) const { return i < types.size() ? types[i] : ScalarType::none; }
};

// Address in an initialiser: `.global .u64 t[] = {f, x + 8, generic(y)}`.
struct Relocation {
  std::uint64_t offset = 0;  // within the variable's bytes
  std::uint8_t size = 8;     // bytes written
  bool is_function = false;
  bool generic = false;          // generic(sym)
  std::uint32_t target = kNoId;  // Module::variables or Module::functions
  std::int64_t addend = 0;
  std::uint64_t mask = ~0ull;  // mask(sym, 0xff..): selects a byte
};

enum class Linkage : std::uint8_t { internal, visible, external, weak, common };

struct Variable {
  std::string name;
  StateSpace space = StateSpace::global;
  ScalarType type = ScalarType::b8;  // element type
  std::uint8_t vector = 1;           // .v2/.v4 elements
  std::uint64_t size = 0;            // total bytes; 0 if `unsized`
  std::uint32_t alignment = 1;
  bool unsized = false;  // `.extern .shared .b8 s[];` : dynamic shared memory
  bool managed = false;  // .attribute(.managed)
  Linkage linkage = Linkage::internal;
  std::vector<std::uint8_t> initial;  // empty: zeroes; otherwise `size` bytes
  std::vector<Relocation> relocations;
  SourceRange range;
};

// .branchtargets / .calltargets: labels or functions; .callprototype: parameter sizes.
struct Table {
  std::string name;
  std::vector<LabelId> labels;
  std::vector<std::uint32_t> functions;
  std::vector<Variable> prototype_results;
  std::vector<Variable> prototype_parameters;
};

// Instruction with an unknown opcode or suffix: newer than our table, or misspelt. Only kernels that may reach it are
// refused.
struct UnknownInstruction {
  std::string why;  // "unknown suffix 'frob' in 'cvt.frob.u32.u64'"
  SourceRange range;
};

struct Label {
  std::string name;
  std::uint32_t instruction = 0;  // instruction behind the label (body.size() at the end)
  bool no_unroll = false;         // `.pragma "nounroll";` follows: do not unroll the loop that begins here
};

struct PerformanceDirectives {  // 0 if not written
  std::uint32_t maxnreg = 0, minnctapersm = 0, maxnctapersm = 0;
  std::uint32_t maxntid[3] = {0, 0, 0}, reqntid[3] = {0, 0, 0};
  std::uint32_t reqnctapercluster[3] = {0, 0, 0};
  bool noreturn = false;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  // `.alias`: index of the function that this name stands for (references are already redirected).
  std::uint32_t alias_of = kNoId;
  Linkage linkage = Linkage::internal;
  std::vector<Register> registers;  // nested scopes flattened; `.reg` parameters of a .func are registers too
  // Parameters first, in declaration order (entries: the order of launch arguments). Then the return parameters of a
  // .func. Then local, shared and call-sequence .param variables declared inside, with nested scopes flattened.
  std::vector<Variable> variables;
  std::uint32_t parameter_count = 0;
  std::uint32_t result_count = 0;
  std::vector<Label> labels;
  std::vector<Table> tables;
  std::vector<Instruction> body;
  std::vector<UnknownInstruction> unknown;  // not in `body`
  std::vector<SourceLocation> locations;
  PerformanceDirectives performance;
  SourceRange range;
};

// A `.section .debug_info {...}` of the text: bytes begin ... end-1 of Module::text, without the braces.
struct DebugSection {
  std::string name;  // ".debug_info"
  std::size_t begin = 0, end = 0;
};

// What one of the linked modules says about its source. Its functions and variables have ranges in its lines.
struct DebugPart {
  std::uint32_t first_line = 1, end_line = 0xffffffffu;  // lines first_line ... end_line-1 of Module::text
  std::uint32_t first_file = 0;                          // its `.file 0`: an index into Module::files
  std::vector<DebugSection> sections;
};

struct Module {
  std::uint32_t version_major = 0, version_minor = 0;
  std::string target;  // "sm_90"
  std::uint32_t address_size = 64;
  bool debug = false;
  std::string name;                    // file or fatbin entry of the text, for messages
  std::string text;                    // the PTX text, which diagnostics and source views quote
  std::deque<std::string> ranges;      // names of .param x<2> (x0, x1), which are not in the text
  std::vector<std::string> files;      // .file table, index as in .loc (entry 0 may be empty)
  std::vector<DebugPart> debug_parts;  // one for each linked module; debuginfo/debug_info.h reads them
  std::vector<Variable> variables;     // module scope: global, const, shared, texref ...
  std::vector<Function> functions;     // entries and device functions, declarations included
};

}  // namespace warpgrind::ptx
