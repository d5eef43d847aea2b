// Steps of registers, from the first definition that has one.
#include "flow/lane_steps.h"

#include "base/assert.h"
#include "base/wrapping.h"
#include "flow/transfer.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

// Longer steps are not between elements, and products of products are meaningless.
constexpr std::int64_t kMost = 1 << 16;

std::int64_t bounded(std::int64_t step) {
  return -kMost <= step && step <= kMost ? step : 0;
}

}  // namespace

LaneSteps::LaneSteps(const ptx::Function& function, const ControlFlow& cfg, const std::vector<Form>& forms)
    : forms_(forms), steps_(function.registers.size()) {
  WG_ASSERT(forms.size() == function.registers.size());
  constexpr unsigned kPasses = 2;  // the second pass knows the values that a loop carries over
  std::vector<ptx::RegId> written;
  for (unsigned pass = 0; pass < kPasses; ++pass)
    for (const std::uint32_t b : cfg.order)
      for (std::uint32_t n = cfg.blocks[b].first; n < cfg.blocks[b].end; ++n) {
        const Instruction& i = function.body[n];
        registers_written(i, written);
        for (const ptx::RegId r : written)
          if (steps_[r] == 0 && forms_[r].kind == FormKind::varying && ptx::bits(function.registers[r].type) >= 32)
            steps_[r] = result(i);
      }
}

std::int64_t LaneSteps::of_register(ptx::RegId r) const {
  WG_DEBUG_ASSERT(r < forms_.size());
  const Form& f = forms_[r];
  if (f.kind == FormKind::varying) return steps_[r];
  return f.kx ? bounded(wrapping_multiply(*f.kx, f.scale)) : 0;
}

std::int64_t LaneSteps::of_value(const Operand& o) const {
  return o.kind == OperandKind::reg ? of_register(o.index) : 0;
}

std::int64_t LaneSteps::of_product(const Operand& a, const Operand& b) const {
  if (const auto by = literal(b)) return bounded(*by) * of_value(a);
  if (const auto by = literal(a)) return bounded(*by) * of_value(b);
  return 0;
}

// Step of the first source that has one.
std::int64_t LaneSteps::first_of(const Instruction& i, std::size_t first) const {
  for (std::size_t k = first; k < i.operands.size(); ++k)
    if (const std::int64_t step = of_value(i.operands[k])) return step;
  return 0;
}

std::int64_t LaneSteps::result(const Instruction& i) const {
  const std::size_t at = destination_operands(i);
  const auto source = [&](std::size_t k) -> const Operand& { return i.operands[at + k]; };
  using Op = ptx::IntegerOperation;
  switch (Op{ptx::info(i.opcode).integer}) {
    case Op::product:
    case Op::product_24:
      return bounded(of_product(source(0), source(1)));
    case Op::product_and_sum:
    case Op::product_24_and_sum:
      return bounded(of_product(source(0), source(1)) + of_value(source(2)));
    case Op::shift_left: {
      const std::int64_t by = literal(source(1)).value_or(-1);
      return by >= 0 && by < 16 ? bounded(of_value(source(0)) << by) : 0;
    }
    case Op::sum:
      return bounded(of_value(source(0)) + of_value(source(1)));
    case Op::difference:
      return bounded(of_value(source(0)) - of_value(source(1)));
    case Op::negative:
    case Op::complement:
      return -of_value(source(0));
    case Op::copy:
    case Op::conversion:
    case Op::address:
    case Op::conjunction:
    case Op::disjunction:
    case Op::exclusive:
    case Op::table:
    case Op::extreme:
    case Op::remainder:
    case Op::selection: {
      const std::int64_t step = first_of(i, at);
      return step == 0 ? 1 : step;
    }
    case Op::shift_right:  // a quotient
    case Op::load:         // an index
    case Op::comparison:
    case Op::other:
      return 1;
  }
  WG_ASSERT(false);
  return 1;
}

std::int64_t LaneSteps::of(const Operand& address) const {
  return address.base == OperandKind::reg ? of_register(address.index) : 0;
}

}  // namespace warpgrind::flow
