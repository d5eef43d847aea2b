// Classification of PTX instructions: the choice of a row of costs.inc for each, and counts of floating-point
// operations.
#include "sass/classify.h"

#include <algorithm>

#include "ptx/types.h"

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
constexpr CostRow kCosts[] = {
#define WG_MACHINE_COST(identifier, pipe, issue, latency, source) \
  {Pipe::pipe, static_cast<float>(issue), static_cast<float>(latency)},
#include "sass/costs.inc"
#undef WG_MACHINE_COST
};

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
  bool floating = false, with_double = false;
  for (const ScalarType t : i.types) {
    floating |= ptx::is_float(t);
    with_double |= t == ScalarType::f64;
  }
  if (with_double) return Cost::convert_double;
  return floating ? Cost::convert : Cost::resize;
}

// Conversions of 32-bit integers and smaller unsigned ones to single precision: I2FP instead of I2F.
bool is_quick_conversion(const ptx::Instruction& i) {
  if (i.opcode != Opcode::cvt || i.types.size() != 2 || i.types[0] != ScalarType::f32) return false;
  const ScalarType from = i.types[1];
  return ptx::is_integer(from) && (ptx::bits(from) == 32 || (ptx::bits(from) < 32 && !ptx::is_signed(from)));
}

// add, sub, mul, mad, fma, min, max and similar instructions.
Cost arithmetic(const ptx::Instruction& i) {
  const ScalarType t = i.type();
  const bool select = i.opcode == Opcode::min || i.opcode == Opcode::max;
  if (t == ScalarType::f64) return Cost::double_precision;
  if (t == ScalarType::f32 || t == ScalarType::f32x2) return select ? Cost::single_select : Cost::single_precision;
  if (is_half(t)) return Cost::half_precision;
  const bool multiplies = i.opcode == Opcode::mul || i.opcode == Opcode::mad || i.opcode == Opcode::madc ||
                          i.opcode == Opcode::mul24 || i.opcode == Opcode::mad24;
  if (!multiplies) return wide(i) ? Cost::integer_64 : Cost::integer;
  if (i.has(Modifier::wide)) return Cost::multiply_wide;
  return wide(i) ? Cost::multiply_64 : Cost::multiply;
}

Cost division(const ptx::Instruction& i) {
  const ScalarType t = i.type();
  if (t == ScalarType::f64) return Cost::division_double;
  if (ptx::is_float(t))
    return i.has(Modifier::approx) || i.has(Modifier::full) ? Cost::division_approximate : Cost::division;
  if (i.opcode == Opcode::rem) return wide(i) ? Cost::integer_remainder_64 : Cost::integer_remainder;
  return wide(i) ? Cost::integer_division_64 : Cost::integer_division;
}

Cost root(const ptx::Instruction& i) {
  if (i.type() == ScalarType::f64) return Cost::root_double;
  return i.has(Modifier::approx) ? Cost::root_approximate : Cost::root;
}

Cost matrix(const ptx::Instruction& i) {
  for (const ScalarType t : i.types)
    if (t == ScalarType::f64) return Cost::tensor_double;
  return Cost::tensor_half;
}

// Work of a wgmma in units of m16n8k16: a warp's 16 rows by its columns; the depth takes equally long for every type.
// The tensor cores do 512 multiply-adds of 16-bit types per cycle and quarter of an SM (H100 and H200, NVIDIA's
// datasheets): 4 cycles, where mma is measured with 6.1 (timing/terms/sm.cpp).
float matrix_work(const ptx::Instruction& i) {
  constexpr float kCyclesOfMma = 6.1f, kCycles = 4;
  constexpr unsigned kRegistersOfEight = 4;  // of D per eight columns; half as many for f16
  if (i.opcode != Opcode::wgmma_mma_async) return 1;
  const auto registers = static_cast<float>(i.operands[0].elements.size());
  return registers / (i.type() == ScalarType::f16 ? kRegistersOfEight / 2 : kRegistersOfEight) * kCycles / kCyclesOfMma;
}

bool any_result(const ptx::Instruction& i) {
  return i.opcode == Opcode::atom && !i.operands.empty() && i.operands[0].kind != ptx::OperandKind::sink;
}

Cost atomic(const ptx::Instruction& i) {
  if (i.space == StateSpace::shared) return any_result(i) ? Cost::atomic_shared : Cost::reduction_shared;
  return any_result(i) ? Cost::atomic_global : Cost::reduction_global;
}

Cost cost_of_memory(const ptx::Instruction& i) {
  switch (i.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
      return load(i);
    case Opcode::wmma_load:
    case Opcode::ldmatrix:
      return i.space == StateSpace::shared ? Cost::load_shared : Cost::load_global;
    case Opcode::wmma_store:
    case Opcode::stmatrix:
      return i.space == StateSpace::shared ? Cost::store_shared : Cost::store_global;
    case Opcode::st:
      return store(i);
    case Opcode::st_async:
      return Cost::store_shared;
    case Opcode::prefetch:
    case Opcode::prefetchu:
      return Cost::store_global;
    case Opcode::red:
    case Opcode::red_async:
    case Opcode::atom:
      return atomic(i);
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::suld:
    case Opcode::sust:
    case Opcode::txq:
    case Opcode::suq:
      return Cost::texture;
    case Opcode::cp_async:
    case Opcode::cp_async_bulk:
    case Opcode::cp_async_bulk_prefetch:
      return Cost::store_global;  // a later instruction waits for it
    default:
      return wide(i) ? Cost::other_64 : Cost::other;
  }
}

Cost cost_of_synchronization(const ptx::Instruction& i) {
  switch (i.opcode) {
    case Opcode::bar:
    case Opcode::barrier:
    case Opcode::barrier_cluster:
      return Cost::barrier;
    case Opcode::membar:
    case Opcode::fence:
      return Cost::fence;
    case Opcode::shfl:
    case Opcode::vote:
    case Opcode::match:
    case Opcode::redux:
    case Opcode::elect:
    case Opcode::movmatrix:
      return Cost::shuffle;
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop:
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait:
      return Cost::wait_shared;
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::call:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::brkpt:
      return Cost::control;
    default:
      return cost_of_memory(i);
  }
}

Cost cost_of(const ptx::Instruction& i) {
  switch (i.opcode) {
    case Opcode::mov:
      return Cost::move;
    case Opcode::cvta:
    case Opcode::isspacep:
    case Opcode::pmevent:
      return Cost::nothing;
    case Opcode::cvt:
    case Opcode::cvt_pack:
      return convert(i);
    case Opcode::rcp:
    case Opcode::rsqrt:
    case Opcode::tanh:
      return i.has(Modifier::approx) ? Cost::special : Cost::special_exact;
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::ex2:
    case Opcode::lg2:
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::brev:
    case Opcode::bfind:
      return Cost::special;
    case Opcode::sqrt:
      return root(i);
    case Opcode::div:
    case Opcode::rem:
      return division(i);
    case Opcode::add:
    case Opcode::sub:
    case Opcode::addc:
    case Opcode::subc:
    case Opcode::mul:
    case Opcode::mul24:
    case Opcode::mad:
    case Opcode::mad24:
    case Opcode::madc:
    case Opcode::fma:
    case Opcode::min:
    case Opcode::max:
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::sad:
      return arithmetic(i);
    case Opcode::setp:
    case Opcode::set:
      // set.lt.u32.f64: the second type is compared.
      if (i.type(i.types.size() - 1) == ScalarType::f64) return Cost::compare_double;
      return wide(i) ? Cost::compare_64 : Cost::compare;
    case Opcode::selp:
    case Opcode::slct:
      return wide(i) ? Cost::logic_64 : Cost::integer;
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::shl:
    case Opcode::shr:
      return wide(i) ? Cost::logic_64 : Cost::integer;
    case Opcode::wmma_mma:
    case Opcode::mma:
    case Opcode::wgmma_mma_async:
      return matrix(i);
    default:
      return cost_of_synchronization(i);
  }
}

// Factor from the cost table's latencies, which are Hopper's, to those of the model. GPUs since Volta have nearly the
// same (4 to 4.5 cycles); those of older ones are as many times longer as their integer latency is.
float latency_factor(const GpuModel& model) {
  if (model.cc_major >= 7) return 1;
  return static_cast<float>(model.timing.integer_latency_cycles) / kCosts[static_cast<unsigned>(Cost::integer)].latency;
}

bool of_fixed_latency(Pipe pipe) {
  return pipe == Pipe::alu || pipe == Pipe::fma || pipe == Pipe::imad || pipe == Pipe::fp64 || pipe == Pipe::half ||
         pipe == Pipe::xu;
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
    add_operation(m, Operation::dfma, 4);
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
  switch (i.opcode) {
    case Opcode::add:
    case Opcode::sub:
      return add_operation(m, of_type(t, 0), 1);
    case Opcode::mul:  // x * 2 is x + x in single precision
      return add_operation(m, of_type(t, t == ScalarType::f32 && is_two(i.operands[2]) ? 0 : 1), 1);
    case Opcode::fma:
    case Opcode::mad:
      return add_operation(m, of_type(t, 2), 1);
    default:
      return add_expansion(m, i);
  }
}

}  // namespace

Instruction classify(const ptx::Instruction& i, const GpuModel& model) {
  const bool quick = model.cc_major * 10 + model.cc_minor >= 86 && is_quick_conversion(i);
  const CostRow& row = kCosts[static_cast<unsigned>(quick ? Cost::convert_to_single : cost_of(i))];
  Instruction m;
  m.pipe = row.pipe;
  m.issue = row.issue;
  m.latency = row.latency;
  m.work = matrix_work(i);
  if (of_fixed_latency(m.pipe)) m.latency *= latency_factor(model);
  const ptx::OpcodeInfo& info = ptx::info(i.opcode);
  const bool memory = m.pipe >= Pipe::global && m.pipe <= Pipe::atomic_shared;
  m.atomic = m.pipe == Pipe::atomic_global || m.pipe == Pipe::atomic_shared;
  m.load = memory && info.reads_memory;
  m.store = memory && info.writes_memory;
  m.guarded = static_cast<bool>(i.guard);
  add_operations(m, i);
  return m;
}

}  // namespace warpgrind::sass
