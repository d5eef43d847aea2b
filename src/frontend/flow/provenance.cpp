// Data flow over all instructions until nothing changes.
#include "flow/provenance.h"

#include <algorithm>

#include "flow/forms.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

constexpr unsigned kPointerBits = 64;

// A number that is multiplied or shifted is an index, not a pointer. A value made from several pointers stays unknown:
// a distance in elements is a divided difference of pointers.
template <class Value>
Value as_number(Value value) {
  if (value.sources.empty()) value.unknown = false;
  return value;
}

}  // namespace

Provenance::Provenance(const ptx::Function& function, const ControlFlow& cfg)
    : function_(function), values_(function.registers.size()) {
  while (pass(cfg)) {
  }
}

std::uint16_t Provenance::number(const AddressSource& source) {
  const auto known = std::find(sources_.begin(), sources_.end(), source) - sources_.begin();
  if (static_cast<std::size_t>(known) == sources_.size()) sources_.push_back(source);
  return static_cast<std::uint16_t>(known);
}

void Provenance::add(Value& to, const Value& more) const {
  to.unknown |= more.unknown;
  for (const std::uint16_t s : more.sources) {
    const auto at = std::lower_bound(to.sources.begin(), to.sources.end(), s);
    if (at != to.sources.end() && *at == s) continue;
    if (to.sources.size() == kMost) {
      to.unknown = true;
      return;
    }
    to.sources.insert(at, s);
  }
}

Provenance::Value Provenance::from_variable(const Operand& o) {
  const bool of_module = o.scope == ptx::Scope::module;
  if (!of_module && function_.variables[o.index].space == StateSpace::param) return {{}, true};
  if (sources_.size() >= kMostInAll) return {{}, true};
  const auto kind = of_module ? AddressSource::Kind::module_variable : AddressSource::Kind::function_variable;
  return {{number({kind, o.index, 0})}, false};
}

Provenance::Value Provenance::of_operand(const Operand& o) {
  switch (o.kind) {
    case OperandKind::reg:
      return values_[o.index];
    case OperandKind::variable:
      return from_variable(o);
    case OperandKind::vector: {
      // The two halves of a pointer may come from memory, where they are not recognized as pointers.
      Value out{{}, true};
      for (const Operand& e : o.elements) add(out, of_operand(e));
      return out;
    }
    default:
      return {};
  }
}

Provenance::Value Provenance::sum(const Instruction& i, std::size_t first, std::size_t end) {
  Value out;
  for (std::size_t k = first; k < std::min(end, i.operands.size()); ++k) add(out, of_operand(i.operands[k]));
  return out;
}

Provenance::Value Provenance::loaded(const Instruction& i, std::size_t element, unsigned bits) {
  if (bits < kPointerBits) return {};
  const Operand& from = i.operands[1];
  const bool argument = i.space == StateSpace::param && function_.is_entry && from.base == OperandKind::variable &&
                        from.scope == ptx::Scope::function && from.index < function_.parameter_count;
  if (!argument || bits != kPointerBits || sources_.size() >= kMostInAll) return {{}, true};
  const std::uint64_t at = static_cast<std::uint64_t>(from.offset) + element * (kPointerBits / 8);
  return {{number({AddressSource::Kind::parameter, from.index, at})}, false};
}

Provenance::Value Provenance::result(const Instruction& i, std::size_t element, unsigned bits) {
  const std::size_t first = destination_operands(i), all = i.operands.size();
  using ptx::PointerFlow;
  switch (PointerFlow{ptx::info(i.opcode).pointers}) {
    case PointerFlow::none:
      return {};
    case PointerFlow::loaded:
      return loaded(i, element, bits);
    case PointerFlow::memory:
      return {{}, bits >= kPointerBits};
    case PointerFlow::numbers:
      return as_number(sum(i, first, all));
    case PointerFlow::converted:
      return bits < kPointerBits ? as_number(sum(i, first, all)) : sum(i, first, all);
    case PointerFlow::product_and_sum: {
      Value out = as_number(sum(i, first, first + 2));
      add(out, sum(i, first + 2, all));
      return out;
    }
    case PointerFlow::two_sources:
      return sum(i, first, first + 2);
    case PointerFlow::first_source:
      return sum(i, first, first + 1);
    case PointerFlow::all_sources:
      return sum(i, first, all);
    case PointerFlow::any:
      break;
  }
  Value out = sum(i, first, all);
  out.unknown |= bits >= kPointerBits;
  return out;
}

bool Provenance::pass(const ControlFlow& cfg) {
  bool changed = false;
  std::vector<WrittenRegister> written;
  for (const std::uint32_t b : cfg.order)
    for (std::uint32_t n = cfg.blocks[b].first; n < cfg.blocks[b].end; ++n) {
      const Instruction& i = function_.body[n];
      results_written(i, written);
      for (const WrittenRegister& w : written) {
        const unsigned bits = ptx::bits(function_.registers[w.reg].type);
        if (bits < 32) continue;  // predicates and short numbers
        Value& known = values_[w.reg];
        Value next = known;
        add(next, result(i, w.place, bits));
        if (next == known) continue;
        known = std::move(next);
        changed = true;
      }
    }
  return changed;
}

std::vector<AddressSource> Provenance::of(const Operand& address) const {
  std::vector<AddressSource> out;
  if (address.base == OperandKind::variable) {
    const bool of_module = address.scope == ptx::Scope::module;
    if (!of_module && function_.variables[address.index].space == StateSpace::param) return out;
    using Kind = AddressSource::Kind;
    out.push_back({of_module ? Kind::module_variable : Kind::function_variable, address.index, 0});
  } else if (address.base == OperandKind::reg && !values_[address.index].unknown) {
    for (const std::uint16_t s : values_[address.index].sources) out.push_back(sources_[s]);
  }
  return out;
}

}  // namespace warpgrind::flow
