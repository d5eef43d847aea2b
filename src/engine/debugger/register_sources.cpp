#include "debugger/register_sources.h"

#include <algorithm>
#include <bit>

#include "flow/forms.h"

namespace warpgrind::debugger {

using ptx::Opcode;
using ptx::OperandKind;

RegisterSources::RegisterSources(const ptx::Function& function) : cfg_(flow::build_control_flow(function)) {
  only_.resize(function.registers.size());
  std::vector<std::uint32_t> writes(only_.size());
  std::vector<flow::WrittenRegister> results;
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    results.clear();
    flow::results_written(function.body[i], results);
    for (const flow::WrittenRegister& r : results) {
      if (r.reg >= only_.size()) continue;
      const bool first = writes[r.reg]++ == 0 && !function.body[i].guard;
      only_[r.reg] = first ? Source{i, static_cast<std::uint32_t>(r.place)} : Source{};
    }
  }
  // Cooper, Harvey and Kennedy: the common dominator of all ways into a block.
  dominator_.assign(cfg_.blocks.size(), ptx::kNoId);
  if (cfg_.order.empty()) return;
  std::vector<std::uint32_t> number(cfg_.blocks.size());
  for (std::uint32_t k = 0; k < cfg_.order.size(); ++k) number[cfg_.order[k]] = k;
  const std::uint32_t entry = cfg_.order[0];
  dominator_[entry] = entry;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 1; k < cfg_.order.size(); ++k) {
      std::uint32_t common = ptx::kNoId;
      for (std::uint32_t before : cfg_.blocks[cfg_.order[k]].predecessors) {
        if (dominator_[before] == ptx::kNoId) continue;
        if (common == ptx::kNoId) common = before;
        while (common != before) {
          std::uint32_t& later = number[common] > number[before] ? common : before;
          later = dominator_[later];
        }
      }
      if (std::uint32_t& known = dominator_[cfg_.order[k]]; known != common) {
        known = common;
        changed = true;
      }
    }
  }
}

bool RegisterSources::dominates(std::uint32_t block, std::uint32_t other) const {
  while (other != block) {
    const std::uint32_t up = dominator_[other];
    if (up == ptx::kNoId || up == other) return false;
    other = up;
  }
  return true;
}

RegisterSources::Source RegisterSources::written_before(std::uint32_t at, ptx::RegId reg) const {
  if (reg >= only_.size() || at >= cfg_.block_of.size()) return {};
  const Source& source = only_[reg];
  if (source.instruction == ptx::kNoId) return {};
  const std::uint32_t from = cfg_.block_of[source.instruction], to = cfg_.block_of[at];
  return (from == to ? source.instruction < at : dominates(from, to)) ? source : Source{};
}

namespace {

constexpr unsigned kDeepest = 24;  // instructions behind each other

std::uint64_t all_of(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

class Search {
 public:
  Search(const LaneView& lane, const ptx::Function& function, const RegisterSources& sources, std::uint32_t at,
         const std::function<bool(ptx::RegId)>& is_set)
      : lane_(lane), function_(function), sources_(sources), at_(at), is_set_(is_set) {}

  std::uint64_t of_register(ptx::RegId reg, unsigned depth) const {
    const unsigned width = ptx::bits(function_.registers[reg].type);
    if (depth == kDeepest || width > 64 || width < 8 || is_set_(reg)) return 0;
    const RegisterSources::Source source = sources_.written_before(at_, reg);
    if (source.instruction == ptx::kNoId) return 0;
    return of_result(function_.body[source.instruction], source.result, depth + 1) & all_of(width);
  }

 private:
  std::uint64_t of_operand(const ptx::Operand& o, unsigned depth) const {
    return o.kind == OperandKind::reg ? of_register(o.index, depth) : 0;
  }
  std::uint64_t of_operand(const ptx::Instruction& i, std::size_t n, unsigned depth) const {
    return n < i.operands.size() ? of_operand(i.operands[n], depth) : 0;
  }
  std::uint64_t value_of(const ptx::Operand& o) const {
    return o.kind == OperandKind::reg ? lane_.read_register(o.index).low : o.bits;
  }

  std::uint64_t of_result(const ptx::Instruction& i, std::uint32_t result, unsigned depth) const {
    const unsigned width = ptx::bits(i.type());
    switch (i.opcode) {
      case Opcode::ld:
        return of_memory(i, result);
      case Opcode::mov:
      case Opcode::cvta:
      case Opcode::not_:
        return i.operands.size() == 2 && i.operands[0].kind == OperandKind::reg ? of_operand(i, 1, depth) : 0;
      case Opcode::cvt:
        return of_conversion(i, depth);
      case Opcode::xor_:
        return of_operand(i, 1, depth) | of_operand(i, 2, depth);
      case Opcode::and_:
      case Opcode::or_: {
        if (i.operands.size() != 3) return 0;
        const std::uint64_t a = of_operand(i, 1, depth), b = of_operand(i, 2, depth);
        if ((a | b) == 0) return 0;
        // A defined 0 (of `or`: a defined 1) decides the result.
        const std::uint64_t flip = i.opcode == Opcode::or_ ? ~std::uint64_t{0} : 0;
        return (a & (b | (value_of(i.operands[2]) ^ flip))) | (b & (a | (value_of(i.operands[1]) ^ flip)));
      }
      case Opcode::shl:
        if (i.operands.size() != 3 || i.operands[2].kind != OperandKind::immediate || i.operands[2].bits >= 64)
          return 0;
        return of_operand(i, 1, depth) << i.operands[2].bits;
      case Opcode::shr:
        if (i.operands.size() != 3 || i.operands[2].kind != OperandKind::immediate || i.operands[2].bits >= 64)
          return 0;
        return ptx::is_signed(i.type()) ? 0 : of_operand(i, 1, depth) >> i.operands[2].bits;
      case Opcode::add:
      case Opcode::sub: {
        const std::uint64_t either = of_operand(i, 1, depth) | of_operand(i, 2, depth);
        if (either == 0) return 0;
        if (!ptx::is_integer(i.type())) return all_of(width);
        return all_of(width) & ~(all_of(static_cast<unsigned>(std::countr_zero(either))));  // a carry goes up
      }
      default:
        break;
    }
    const ptx::UndefinedFlow flow = ptx::info(i.opcode).undefined;
    if (flow != ptx::UndefinedFlow::any && flow != ptx::UndefinedFlow::product) return 0;
    for (std::size_t n = 1; n < i.operands.size(); ++n)
      if (of_operand(i, n, depth) != 0) return ~std::uint64_t{0};
    return 0;
  }

  std::uint64_t of_conversion(const ptx::Instruction& i, unsigned depth) const {
    const std::uint64_t source = of_operand(i, 1, depth);
    if (source == 0) return 0;
    const ptx::ScalarType to = i.type(0), from = i.type(1);
    if (!ptx::is_integer(to) || !ptx::is_integer(from) || i.types.size() != 2) return ~std::uint64_t{0};
    const unsigned bits = ptx::bits(from);
    const bool sign = ptx::is_signed(from) && (source >> (bits - 1) & 1) != 0;
    return ((source & all_of(bits)) | (sign ? ~all_of(bits) : 0)) & all_of(ptx::bits(to));
  }

  std::uint64_t of_memory(const ptx::Instruction& i, std::uint32_t result) const {
    const unsigned bytes = ptx::bits(i.type()) / 8;
    if (i.operands.size() < 2 || i.operands[1].kind != OperandKind::address || bytes == 0 || bytes > 8) return 0;
    const ptx::Operand& address = i.operands[1];
    Address at;
    if (address.base == OperandKind::reg) {
      // The address is that of the load only if its own source has not run again since.
      if (sources_.written_before(at_, address.index).instruction == ptx::kNoId) return 0;
      const bool known = i.space == StateSpace::none || i.space == StateSpace::generic ||
                         i.space == StateSpace::global || i.space == StateSpace::shared || i.space == StateSpace::local;
      if (!known || !lane_.why_unknown(address.index).empty()) return 0;
      at.space = i.space == StateSpace::none ? StateSpace::generic : i.space;
      at.value = lane_.read_register(address.index).low + static_cast<std::uint64_t>(address.offset);
    } else if (address.base == OperandKind::variable) {
      const ptx::Variable* variable = nullptr;
      if (address.scope == ptx::Scope::function && address.index < function_.variables.size())
        variable = &function_.variables[address.index];
      if (variable && variable->space == StateSpace::param) return 0;
      const Result<Address> begin =
          lane_.address_of({variable ? variable->space : i.space, address.scope, address.index, address.offset});
      if (!begin.ok()) return 0;
      at = *begin;
    } else {
      return 0;
    }
    at.value += std::uint64_t{result} * bytes;
    std::uint8_t undefined[8] = {};
    lane_.read_undefined(at, std::span(undefined, bytes));
    std::uint64_t out = 0;
    for (unsigned k = 0; k < bytes; ++k) out |= std::uint64_t{undefined[k]} << (8 * k);
    return out;
  }

  const LaneView& lane_;
  const ptx::Function& function_;
  const RegisterSources& sources_;
  const std::uint32_t at_;
  const std::function<bool(ptx::RegId)>& is_set_;
};

}  // namespace

std::uint64_t undefined_bits(const LaneView& lane, const ptx::Function& function, const RegisterSources& sources,
                             std::uint32_t at, ptx::RegId reg, const std::function<bool(ptx::RegId)>& is_set) {
  if (reg >= function.registers.size()) return 0;
  return Search(lane, function, sources, at, is_set).of_register(reg, 0);
}

}  // namespace warpgrind::debugger
