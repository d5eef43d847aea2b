// Opcodes and modifiers of PTX, generated from the tables opcodes.inc and modifiers.inc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "gpu/instruction_kinds.h"

namespace warpgrind::ptx {

enum class Opcode : std::uint8_t {
#define WG_PTX_OPCODE(identifier, ...) identifier,
#include "ptx/opcodes.inc"
};

enum class Modifier : std::uint16_t {
#define WG_PTX_MODIFIER(identifier, text) identifier,
#include "ptx/modifiers.inc"
#undef WG_PTX_MODIFIER
};

inline constexpr unsigned kOpcodes = 0
#define WG_PTX_OPCODE(identifier, ...) +1
#include "ptx/opcodes.inc"
    ;

inline constexpr unsigned kModifiers = 0
#define WG_PTX_MODIFIER(identifier, text) +1
#include "ptx/modifiers.inc"
#undef WG_PTX_MODIFIER
    ;

// Variation of the result over the lanes (flow/forms.h).
enum class ResultForm : std::uint8_t {
  by_sources,  // uniform if all sources are
  varying,     // always one value per lane
  uniform,     // always one value per warp
  // The first result is uniform if all lanes name the same members (.sync), else varying.
  among_members,
  computed  // by flow/transfer.cpp
};

// Condition under which lanes wait in this instruction until others arrive.
enum class Waits : std::uint8_t { never, with_sync, unless_arrive };

// Way to find the cost of an instruction as machine code: a row of engine/sass/costs.inc, or a choice among several by
// type, space and modifiers (engine/sass/classify.cpp). What neighbours change is in sass/select_instructions.cpp.
// Numbers of instructions are what ptxas 13.0 makes for sm_90.
enum class CostRule : std::uint8_t {
  none,     // never executed: kernels with the opcode are refused
  nothing,  // ptxas removes the instruction
  move,
  conversion,
  reciprocal,
  root,
  division,
  special,  // of one float: MUFU
  exponential,
  trigonometric,
  bit_count,  // POPC, FLO, BREV
  leading_zeros,
  sum,
  sign,  // neg, abs: part of another instruction if floating-point
  arithmetic,
  extreme,  // min, max
  product,
  multiplication,  // with a sum
  multiplication_24,
  absolute_difference,
  comparison,        // to a predicate
  comparison_value,  // to a register
  logic,
  shift,
  choice,   // selp, slct
  integer,  // one instruction of the integer pipe, whatever the type
  zero_test,
  float_test,
  dot_product,
  bit_extract,
  bit_insert,
  nth_bit,
  cache_policy,
  pending_count,
  stack_allocation,
  matrix,
  barrier,
  fence,
  proxy_fence,
  shuffle,
  vote,
  warp_reduction,
  mbarrier_wait,
  mbarrier_init,
  mbarrier_update,
  return_,
  control,  // one instruction that computes nothing: branches, groups of copies, warp barriers
  load,
  store,
  matrix_load,
  matrix_store,
  remote_store,
  line_hint,  // for a line of a cache
  atomic,
  remote_reduction,
  texture,
  surface,  // and queries
  asynchronous_copy,
  video_sum,
  video_order,  // vmin, vmax
  video_difference,
  video_shift,
  video_product,
  video_comparison,
  video_halves,  // of two halves: sums, vmin2, vmax2, vset2
  video_halves_difference,
  video_bytes,  // of four bytes: sums, vmin4, vmax4
  video_bytes_difference
};

// Pointers that the result of an instruction may contain (flow/provenance.h).
enum class PointerFlow : std::uint8_t {
  none,    // no result, or one that is never a pointer: a count, a mask, a truth value, a float
  loaded,  // by ld: a kernel's parameter, or memory
  memory,  // any pointer if it has 64 bits
  // The source's. A source that may be any pointer counts as a number (an index) if it comes from no known object.
  numbers,
  converted,        // by cvt: numbers if the result is short, else all_sources
  product_and_sum,  // the first two sources are numbers
  two_sources,      // those of the first two
  first_source,
  all_sources,
  any  // those of all sources, and any other if it has 64 bits
};

// Undefined bits of a result, from those of the sources (codegen/kernel/definedness_rules.cpp).
enum class UndefinedFlow : std::uint8_t {
  defined,  // none; also for an opcode without a result
  any,      // all bits, if any bit of a source is undefined
  loaded,   // those of the memory
  lanes,    // those of another lane; the lowering writes them itself
  members,  // any, over the members of the mask
  vote,
  addend,      // those of the third source; the factors' are ignored
  moved,       // the first source's bits, at other places
  moved_pair,  // the same of the first two sources
  conversion,  // moved between integers without saturation, else any
  selection,
  logic,
  table,
  sum,
  product,
  comparison
};

// Operands in which an undefined bit is an error by itself (Definedness::check_uses).
enum class CheckedUses : std::uint8_t {
  nothing,
  addresses,
  index,        // of a branch: the first operand
  target,       // of a call: the first operand
  operands,     // all sources
  after_first,  // all sources but the first, which is a value
  members       // with .sync: the mask of members, which is last
};

// Forms of an opcode that need a higher compute capability than its row's `architecture` (ptx/architecture.cpp).
enum class FormNeeds : std::uint8_t {
  row,  // all forms need the row's
  order,
  access,
  atomic,
  redux,
  mbarrier,
  proxy,
  matrix,
  arithmetic,
  fma,
  sign,       // abs, neg
  selection,  // min, max
  special,
  conversion,
  bulk_copy,
  multimem,
  matrix_rows  // ldmatrix, stmatrix
};

// What an instruction computes of integers, for analyses that follow indexes and addresses (flow/transfer.cpp,
// flow/lane_steps.cpp, flow/thread_forms.cpp, sass/address_sums.cpp, checkers/lane_values.cpp). Opcodes that also have
// floating-point types, high halves or saturation keep their operation: the analyses look at types and modifiers.
enum class IntegerOperation : std::uint8_t {
  other,
  load,
  copy,
  address,  // cvta
  conversion,
  sum,
  difference,
  negative,
  complement,
  conjunction,
  disjunction,
  exclusive,
  table,  // lop3
  product,
  product_24,  // of the low 24 bits
  product_and_sum,
  product_24_and_sum,
  shift_left,
  shift_right,
  extreme,  // min, max
  remainder,
  selection,
  comparison
};

// What an instruction does beside computing its result. A set: combine by |.
enum class Effects : std::uint8_t {
  nothing = 0,
  reads = 1,  // memory; also orders earlier reads (barriers, fences)
  writes = 2,
  convergent = 4,   // its result depends on which other lanes execute it together
  may_trap = 8,     // can end the kernel with an error
  updates = 16,     // also reads its destination
  ends_block = 32,  // control may not continue at the next instruction
  stack = 64        // keeps state of its thread that is in no register
};
constexpr Effects operator|(Effects a, Effects b) {
  return static_cast<Effects>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

// Memory order of a form without a qualifier (codegen/kernel/access_facts.cpp).
enum class ImpliedOrder : std::uint8_t {
  weak,
  relaxed,
  release,
  acquire,
  arrive_or_wait,  // release with .arrive, else acquire
  acquire_release,
  sequential
};

struct PtxVersion {
  std::uint8_t major = 1, minor = 0;
  friend auto operator<=>(const PtxVersion&, const PtxVersion&) = default;
};

// Column that each row must give: there is no default value, so a row without it does not compile.
template <class Value>
struct Required {
  Value value;
  // NOLINTNEXTLINE(google-explicit-constructor): a row gives the plain value
  constexpr Required(Value of_row) : value(of_row) {}
  constexpr operator Value() const { return value; }
};

// Facts about one opcode (one row of opcodes.inc).
struct OpcodeInfo {
  std::string_view refused;  // why kernels with this opcode are refused; empty: they are not
  std::string_view text;     // as written in PTX: "cp.async.commit_group"
  std::string_view syntax;   // the manual's syntax line, modifiers and optional parts included
  Required<InstructionClass> op_class;
  // Destination operands of the plain form. `d|p` adds one. bar.red has one: see the parser.
  Required<std::uint8_t> destinations;
  PtxVersion since;               // first PTX ISA version
  std::uint8_t architecture = 0;  // minimum compute capability times 10 (Target ISA Notes); 0: 2.0 or before
  std::string_view description;
  // The macro WG_PTX_REFUSED gives the columns below; WG_PTX_OPCODE expects them from the row.
  Required<ResultForm> result;
  Required<Waits> waits;
  Required<CostRule> cost;
  Required<PointerFlow> pointers;
  Required<UndefinedFlow> undefined;
  Required<CheckedUses> checked;
  Required<FormNeeds> needs;
  Required<IntegerOperation> integer;
  Required<Effects> effects;
  Required<SiteKind> site;
  Required<ImpliedOrder> order;

  // Has one of these effects.
  constexpr bool has(Effects some) const {
    return (static_cast<unsigned>(effects.value) & static_cast<unsigned>(some)) != 0;
  }
};

const OpcodeInfo& info(Opcode opcode);
std::string_view name(Opcode opcode);                               // PTX text
std::string_view name(Modifier modifier);                           // PTX text without the dot: "shared::cta"
std::optional<Opcode> opcode_from_text(std::string_view text);      // exact: "cp.async.bulk"
std::optional<Modifier> modifier_from_text(std::string_view text);  // without the dot

}  // namespace warpgrind::ptx
