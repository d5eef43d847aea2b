// Classification of PTX instructions: the choice of a row of costs.inc for each, and counts of floating-point
// operations.
#include "sass/classify.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "ptx/types.h"
#include "sass/registers.h"

namespace warpgrind::sass {
namespace {

using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

enum class Cost : std::uint8_t {
#define WG_MACHINE_COST(identifier, ...) identifier,
#include "sass/costs.inc"
#undef WG_MACHINE_COST
};

struct CostRow {
  Pipe pipe;
  float issue, latency;
};

CostRow row_of(Cost cost, const TimingConstants& t) {
  switch (cost) {
#define WG_MACHINE_COST(identifier, pipe, issue, latency, source) \
  case Cost::identifier:                                          \
    return {Pipe::pipe, static_cast<float>(issue), static_cast<float>(latency)};
#include "sass/costs.inc"
#undef WG_MACHINE_COST
  }
  WG_ASSERT(false);
  return {};
}

bool is_half(ScalarType t) {
  return ptx::is_float(t) && t != ScalarType::f32 && t != ScalarType::f64 && t != ScalarType::f32x2;
}

bool wide(const ptx::Instruction& i) {
  return ptx::bits(i.type()) == 64 && i.type() != ScalarType::f32x2;
}

Cost load(const ptx::Instruction& i) {
  switch (i.space) {
    case StateSpace::param:
      return Cost::nothing;
    case StateSpace::constant:
      return Cost::load_constant;
    case StateSpace::shared:
      return Cost::load_shared;
    case StateSpace::local:
      return Cost::load_local;
    default:
      return Cost::load_global;
  }
}

Cost store(const ptx::Instruction& i) {
  switch (i.space) {
    case StateSpace::param:
      return Cost::nothing;
    case StateSpace::shared:
      return Cost::store_shared;
    case StateSpace::local:
      return Cost::store_local;
    default:
      return Cost::store_global;
  }
}

Cost convert(const ptx::Instruction& i) {
  if (is_saturation(i)) return Cost::single_precision;
  bool floating = false, with_double = false;
  for (const ScalarType t : i.types) {
    floating |= ptx::is_float(t);
    with_double |= t == ScalarType::f64;
  }
  if (with_double) return Cost::convert_double;
  return floating ? Cost::convert : Cost::resize;
}

// Conversions of 32-bit integers and smaller unsigned ones to single precision: faster than others since Volta, and
// I2FP instead of I2F since compute capability 8.6.
bool is_integer_to_single(const ptx::Instruction& i) {
  if (i.opcode != Opcode::cvt || i.types.size() != 2 || i.types[0] != ScalarType::f32) return false;
  const ScalarType from = i.types[1];
  return ptx::is_integer(from) && (ptx::bits(from) == 32 || (ptx::bits(from) < 32 && !ptx::is_signed(from)));
}

// Conversions between single precision and 16 bits. To single precision: HADD2.F32 of a half, a shift of a bfloat16.
// From it, since Ampere: F2FP, at the rate of integers. On an H200, a product with two such conversions a step (hgemm,
// rung tile, 2048) takes 7 cycles a step with halves and 10 with bfloat16; on the unit for special functions it would
// be 16.
bool is_conversion(const ptx::Instruction& i, ScalarType to, ScalarType from) {
  return i.opcode == Opcode::cvt && i.types.size() == 2 && i.types[0] == to && i.types[1] == from;
}
bool is_small(ScalarType t) {
  return ptx::is_float(t) && t != ScalarType::f32 && t != ScalarType::f64;
}
std::optional<Cost> half_conversion(const ptx::Instruction& i, unsigned capability) {
  // Pairs, and FP8: F2FP packs and unpacks them.
  const bool pairs = i.opcode == Opcode::cvt && i.types.size() == 2 && is_small(i.types[0]) && i.vector == 1;
  if (pairs && (i.operands.size() > 2 || is_small(i.types[1])) && capability >= 80) return Cost::integer;
  if (is_conversion(i, ScalarType::f32, ScalarType::f16) && capability >= 53) return Cost::half_precision;
  if (is_conversion(i, ScalarType::f32, ScalarType::bf16)) return Cost::integer;
  const bool from_single =
      is_conversion(i, ScalarType::f16, ScalarType::f32) || is_conversion(i, ScalarType::bf16, ScalarType::f32);
  if (from_single && capability >= 80) return Cost::integer;
  return std::nullopt;
}

Cost arithmetic(const ptx::Instruction& i) {
  const ScalarType t = i.type();
  if (t == ScalarType::f64) return Cost::double_precision;
  if (t == ScalarType::f32 || t == ScalarType::f32x2) return Cost::single_precision;
  if (is_half(t)) return ptx::info(i.opcode).cost == ptx::CostRule::sum ? Cost::half_precision : Cost::half_product;
  return wide(i) ? Cost::integer_64 : Cost::integer;
}

Cost extreme(const ptx::Instruction& i) {
  const bool single = i.type() == ScalarType::f32 || i.type() == ScalarType::f32x2;
  if (i.type() == ScalarType::f64) return Cost::extreme_double;
  if (is_half(i.type())) return Cost::integer;  // HMNMX2
  return single ? Cost::single_select : arithmetic(i);
}

Cost multiplication(const ptx::Instruction& i) {
  if (ptx::is_float(i.type())) return arithmetic(i);
  if (i.has(Modifier::wide)) return Cost::multiply_wide;
  if (!wide(i)) return Cost::multiply;
  return i.has(Modifier::hi) ? Cost::multiply_64_high : Cost::multiply_64;
}

Cost comparison(const ptx::Instruction& i) {
  // set.lt.u32.f64: the second type is compared.
  if (i.type(i.types.size() - 1) == ScalarType::f64) return Cost::compare_double;
  return wide(i) ? Cost::compare_64 : Cost::compare;
}

Cost division(const ptx::Instruction& i) {
  const ScalarType t = i.type();
  if (t == ScalarType::f64) return Cost::division_double;
  if (ptx::is_float(t)) {
    if (i.has(Modifier::approx) || i.has(Modifier::full)) return Cost::division_approximate;
    return i.operands[2].kind == ptx::OperandKind::immediate ? Cost::division_by_constant : Cost::division;
  }
  if (i.opcode == Opcode::rem) return wide(i) ? Cost::integer_remainder_64 : Cost::integer_remainder;
  return wide(i) ? Cost::integer_division_64 : Cost::integer_division;
}

Cost root(const ptx::Instruction& i) {
  if (i.type() == ScalarType::f64) return Cost::root_double;
  return i.has(Modifier::approx) ? Cost::root_approximate : Cost::root;
}

// MUFU works without subnormals: numbers are scaled where those are kept.
Cost special(const ptx::Instruction& i) {
  return i.type() == ScalarType::f32 && !i.has(Modifier::ftz) ? Cost::special_subnormals : Cost::special;
}

Cost reciprocal(const ptx::Instruction& i) {
  const bool twice = i.type() == ScalarType::f64;
  if (i.opcode == Opcode::rsqrt && twice && !i.has(Modifier::ftz)) return Cost::inverse_root_double;
  if (i.has(Modifier::approx)) return special(i);
  return twice ? Cost::special_exact_double : Cost::special_exact;
}

Cost matrix(const ptx::Instruction& i) {
  for (const ScalarType t : i.types)
    if (t == ScalarType::f64) return Cost::tensor_double;
  return Cost::tensor_half;
}

// Work of a matrix product in units of the model's m16n8k16 (mma of 16-bit types) or m8n8k4 (doubles).
float matrix_work(const TensorUse& use, const TimingConstants& t) {
  constexpr float kUsual = 6, kUsualDouble = 16;  // cycles of these
  constexpr double kSchedulers = 4;
  if (use.pipe == TensorPipe::none || t.tensor_cycles <= 0) return 1;
  if (use.pipe == TensorPipe::dmma) return use.cycles / kUsualDouble;
  return use.group ? tensor_time(use) / static_cast<float>(kSchedulers * t.tensor_cycles) : use.cycles / kUsual;
}

bool any_result(const ptx::Instruction& i) {
  return i.opcode == Opcode::atom && !i.operands.empty() && i.operands[0].kind != ptx::OperandKind::sink;
}

Cost atomic(const ptx::Instruction& i) {
  if (i.space == StateSpace::shared) {
    if (!any_result(i)) return Cost::reduction_shared;
    return ptx::is_float(i.type()) ? Cost::atomic_shared_loop : Cost::atomic_shared;
  }
  return any_result(i) ? Cost::atomic_global : Cost::reduction_global;
}

// A later instruction waits for the copy.
Cost asynchronous_copy(const ptx::Instruction& i) {
  if (i.opcode == Opcode::cp_async_bulk || i.opcode == Opcode::cp_reduce_async_bulk) return Cost::bulk_copy;
  const bool tensor = i.opcode == Opcode::cp_async_bulk_tensor || i.opcode == Opcode::cp_reduce_async_bulk_tensor;
  return tensor ? Cost::tensor_copy : Cost::store_global;
}

Cost cost_of(const ptx::Instruction& i) {
  using Rule = ptx::CostRule;
  const bool shared = i.space == StateSpace::shared;
  switch (Rule{ptx::info(i.opcode).cost}) {
    // Rules that are one row of costs.inc, of the same name.
#define WG_ROW(name) \
  case Rule::name:   \
    return Cost::name;
    WG_ROW(move)
    WG_ROW(integer)
    WG_ROW(dot_product)
    WG_ROW(nth_bit)
    WG_ROW(cache_policy)
    WG_ROW(pending_count)
    WG_ROW(stack_allocation)
    WG_ROW(barrier)
    WG_ROW(fence)
    WG_ROW(proxy_fence)
    WG_ROW(shuffle)
    WG_ROW(vote)
    WG_ROW(warp_reduction)
    WG_ROW(return_)
    WG_ROW(mbarrier_wait)
    WG_ROW(mbarrier_init)
    WG_ROW(mbarrier_update)
    WG_ROW(control)
    WG_ROW(line_hint)
    WG_ROW(texture)
    WG_ROW(video_sum)
    WG_ROW(video_order)
    WG_ROW(video_difference)
    WG_ROW(video_shift)
    WG_ROW(video_product)
    WG_ROW(video_comparison)
    WG_ROW(video_halves)
    WG_ROW(video_halves_difference)
    WG_ROW(video_bytes)
    WG_ROW(video_bytes_difference)
#undef WG_ROW
    case Rule::none:
    case Rule::nothing:
      return Cost::nothing;
    case Rule::conversion:
      return convert(i);
    case Rule::special:
      return Cost::special;
    case Rule::exponential:
      return special(i);
    case Rule::trigonometric:
      return Cost::special_scaled;
    case Rule::surface:
      return Cost::texture;
    case Rule::reciprocal:
      return reciprocal(i);
    case Rule::root:
      return root(i);
    case Rule::division:
      return division(i);
    case Rule::bit_count:
    case Rule::leading_zeros:
      return wide(i) ? Cost::bit_count_64 : Cost::special;
    case Rule::sum:
    case Rule::sign:
    case Rule::arithmetic:
      return arithmetic(i);
    case Rule::extreme:
      return extreme(i);
    case Rule::product:
    case Rule::multiplication:
      return multiplication(i);
    case Rule::multiplication_24:
      return i.has(Modifier::hi) ? Cost::multiply_24_high : Cost::multiply_24;
    case Rule::absolute_difference:
      return wide(i) ? Cost::absolute_difference_64 : Cost::integer;
    case Rule::comparison:
    case Rule::comparison_value:
      return comparison(i);
    case Rule::logic:
    case Rule::shift:
    case Rule::choice:
      return wide(i) ? Cost::logic_64 : Cost::integer;
    case Rule::zero_test:
      return wide(i) ? Cost::zero_test_64 : Cost::zero_test;
    case Rule::float_test:
      return wide(i) ? Cost::float_test_64 : Cost::float_test;
    case Rule::bit_extract:
      return !wide(i) ? Cost::bit_extract : ptx::is_signed(i.type()) ? Cost::bit_extract_s64 : Cost::bit_extract_u64;
    case Rule::bit_insert:
      return wide(i) ? Cost::bit_insert_64 : Cost::bit_insert;
    case Rule::matrix:
      return matrix(i);
    case Rule::load:
      return load(i);
    case Rule::store:
      return store(i);
    case Rule::matrix_load:
      return shared ? Cost::load_shared : Cost::load_global;
    case Rule::matrix_store:
      return shared ? Cost::store_shared : Cost::store_global;
    case Rule::remote_store:
      return Cost::store_shared;
    case Rule::atomic:
    case Rule::remote_reduction:
      return atomic(i);
    case Rule::asynchronous_copy:
      return asynchronous_copy(i);
  }
  WG_ASSERT(false);
  return Cost::nothing;
}

// Time on the pipe, in units of the pipe's usual instruction, for what it does more slowly.
float slowness(Cost cost, bool integer_to_single, bool high, const TimingConstants& t) {
  const auto ratio = [](double usual, double lanes) { return lanes > 0 ? static_cast<float>(usual / lanes) : 1; };
  if (cost == Cost::half_precision || cost == Cost::half_product) return ratio(t.fp32_lanes, t.fp16_pair_lanes);
  if (cost == Cost::convert)
    return ratio(t.special_lanes, integer_to_single ? t.integer_to_float_lanes : t.conversion_lanes);
  if (cost == Cost::convert_to_single) return ratio(t.integer_lanes, t.integer_to_float_lanes);
  if (cost == Cost::convert_double) return ratio(t.special_lanes, t.fp64_conversion_lanes);
  if (cost == Cost::multiply_64) return ratio(t.integer_multiply_lanes / 4, t.multiply64_lanes);  // four IMAD
  // IMAD.WIDE and IMAD.HI take two turns: on an H200, a warp of 32 x 32 to 64 bits one cycle of an SM.
  constexpr float kWide = 2, kHigh = 1.3f;
  if (cost == Cost::multiply_64_high) return kHigh;
  if (cost == Cost::multiply_wide || (cost == Cost::multiply && high)) return kWide;
  return 1;
}

void add_operation(Instruction& m, Operation kind, unsigned n) {
  m.operations[static_cast<std::size_t>(kind)] = static_cast<std::uint8_t>(n);
}

// Addition (0), multiplication (1) or FMA (2) of the type.
Operation of_type(ScalarType t, unsigned which) {
  const unsigned group = t == ScalarType::f32 || t == ScalarType::f32x2 ? 0 : t == ScalarType::f64 ? 3 : 6;
  return static_cast<Operation>(group + which);
}

// Operations on the path of normal operands. div.rn.f32 and div.rn.f64 as counted on an H200 (5 FFMA; 1 FFMA, 1 DMUL, 7
// DFMA). The others follow NVIDIA's documented sequences: MUFU and Newton steps.
void add_expansion(Instruction& m, const ptx::Instruction& i) {
  const bool with_double = i.type() == ScalarType::f64;
  const bool exact = !i.has(Modifier::approx) && !i.has(Modifier::full);
  if (i.opcode == Opcode::div && with_double) {
    add_operation(m, Operation::ffma, 1);
    add_operation(m, Operation::dmul, 1);
    add_operation(m, Operation::dfma, 7);
  } else if (i.opcode == Opcode::div) {
    if (exact)
      add_operation(m, Operation::ffma, 5);
    else
      add_operation(m, Operation::fmul, 1);
  } else if (i.opcode == Opcode::sqrt && with_double) {
    add_operation(m, Operation::dmul, 3);
    add_operation(m, Operation::dfma, 5);
  } else if (i.opcode == Opcode::sqrt && exact) {
    add_operation(m, Operation::fmul, 2);
    add_operation(m, Operation::ffma, 2);
  } else if (i.opcode == Opcode::rcp && with_double) {
    add_operation(m, Operation::dfma, exact ? 5 : 0);
  } else if (i.opcode == Opcode::rsqrt && with_double && !i.has(Modifier::ftz)) {
    add_operation(m, Operation::dmul, 2);
    add_operation(m, Operation::dfma, 3);
  } else if (i.opcode == Opcode::rcp && exact) {
    add_operation(m, Operation::fadd, 1);
    add_operation(m, Operation::ffma, 2);
  }
}

bool is_two(const ptx::Operand& o) {
  if (o.kind != ptx::OperandKind::immediate) return false;
  if (o.literal == ptx::Literal::f32) return o.bits == 0x40000000u;
  return o.literal == ptx::Literal::f64 && o.bits == 0x4000000000000000u;
}

void add_operations(Instruction& m, const ptx::Instruction& i) {
  const ScalarType t = i.type();
  if (!ptx::is_float(t)) return;
  using ptx::CostRule;
  const CostRule rule = ptx::info(i.opcode).cost;
  if (rule == CostRule::sum) return add_operation(m, of_type(t, 0), 1);
  if (rule == CostRule::product)  // x * 2 is x + x in single precision
    return add_operation(m, of_type(t, t == ScalarType::f32 && is_two(i.operands[2]) ? 0 : 1), 1);
  if (rule == CostRule::multiplication || rule == CostRule::arithmetic)  // of floats: mad, fma
    return add_operation(m, of_type(t, 2), 1);
  add_expansion(m, i);
}

}  // namespace

static bool has_slow_path(Cost cost) {
  return cost == Cost::division || cost == Cost::division_by_constant || cost == Cost::division_double ||
         cost == Cost::root || cost == Cost::root_double || cost == Cost::inverse_root_double ||
         cost == Cost::special_exact || cost == Cost::special_exact_double || cost == Cost::integer_division_64 ||
         cost == Cost::integer_remainder_64;
}

static void add_async_step(Instruction& m, const ptx::Instruction& i) {
  if (i.opcode == Opcode::cp_async) m.async = AsyncStep::copy;
  if (i.opcode == Opcode::cp_async_commit_group) m.async = AsyncStep::commit;
  if (i.opcode == Opcode::cp_async_wait_all) m.async = AsyncStep::wait_all;
  if (i.opcode != Opcode::cp_async_wait_group) return;
  constexpr std::uint64_t kMost = 255;
  m.async = AsyncStep::wait;
  m.groups_left = static_cast<std::uint8_t>(std::min<std::uint64_t>(i.operands[0].bits, kMost));
}

Instruction classify(const ptx::Instruction& i, const GpuModel& model) {
  const bool integer_to_single = is_integer_to_single(i);
  const auto capability = static_cast<unsigned>(model.cc_major * 10 + model.cc_minor);
  const bool quick = capability >= 86 && integer_to_single;
  const Cost cost = quick ? Cost::convert_to_single : half_conversion(i, capability).value_or(cost_of(i));
  const CostRow row = row_of(cost, model.timing);
  Instruction m;
  m.pipe = row.pipe;
  m.issue = row.issue;
  m.latency = row.latency;
  m.tensor = tensor_use(i);
  if (m.tensor.group) m.latency = 2;  // M: products of a group follow each other without a pause
  m.work = matrix_work(m.tensor, model.timing) * slowness(cost, integer_to_single, i.has(Modifier::hi), model.timing);
  if (i.opcode == Opcode::wmma_mma && m.tensor.pipe != TensorPipe::none) {
    m.issue = m.tensor.instructions + m.tensor.beside;
    m.work /= m.issue;
  }
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  const bool memory = m.pipe >= Pipe::global && m.pipe <= Pipe::atomic_shared;
  m.atomic = m.pipe == Pipe::atomic_global || m.pipe == Pipe::atomic_shared;
  m.load = memory && info.has(ptx::Effects::reads);
  m.of_constants = m.load && i.has(ptx::Modifier::nc);
  m.store = memory && info.has(ptx::Effects::writes);
  m.guarded = static_cast<bool>(i.guard);
  m.polls = i.opcode == Opcode::mbarrier_test_wait || i.opcode == Opcode::mbarrier_try_wait;
  m.observes = i.opcode == Opcode::ld &&
               (i.has(ptx::Modifier::volatile_) || i.has(ptx::Modifier::relaxed) || i.has(ptx::Modifier::acquire));
  m.votes = cost == Cost::vote;
  m.selects = info.cost == ptx::CostRule::choice;
  m.branches = has_slow_path(cost);
  add_async_step(m, i);
  add_operations(m, i);
  return m;
}

}  // namespace warpgrind::sass
