// Address sums: evaluation of integer PTX instructions to sums of registers and variables, and trailing zero bits by
// fixed-point iteration.
#include "sass/address_sums.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/wrapping.h"
#include "flow/forms.h"
#include "flow/transfer.h"

namespace warpgrind::sass {
namespace {

using ptx::Operand;
using ptx::OperandKind;
using Op = ptx::IntegerOperation;

constexpr std::uint8_t kMost = AddressSum::kMostZeros;
constexpr std::size_t kMostTerms = 8;
constexpr unsigned kDeepest = 64;

std::uint8_t zeros_of_number(std::int64_t n) {
  if (n == 0) return kMost;
  return static_cast<std::uint8_t>(std::min<int>(kMost, std::countr_zero(static_cast<std::uint64_t>(n))));
}

std::uint8_t capped(unsigned zeros) {
  return static_cast<std::uint8_t>(std::min<unsigned>(zeros, kMost));
}

bool is_integer_add(const ptx::Instruction& i) {
  return ptx::is_integer(i.type()) && !i.has(ptx::Modifier::sat) && !i.has(ptx::Modifier::cc);
}

}  // namespace

std::optional<AddressSum::Root> AddressSum::variable() const {
  std::optional<Root> found;
  for (const auto& [root, times] : terms) {
    if (root.kind != Root::Kind::function_variable && root.kind != Root::Kind::module_variable) continue;
    if (found || times != 1) return std::nullopt;
    found = root;
  }
  return found;
}

AddressSums::AddressSums(const ptx::Module& module, const flow::Definitions& definitions)
    : module_(module), definitions_(definitions) {
  find_zeros();
}

namespace {

// Whether the instruction writes exactly one register, with its whole result. `mov.b64 {_, %hi}, %pair` writes one
// register too, but only a part of the source.
bool gives_whole_result(const ptx::Instruction& i) {
  return !i.operands.empty() && i.operands[0].kind == OperandKind::reg && !i.has_second_destination;
}

}  // namespace

// Starts with full alignment and lowers it until all definitions agree.
void AddressSums::find_zeros() {
  const ptx::Function& f = definitions_.function;
  zeros_.assign(f.registers.size(), kMost);
  std::vector<ptx::RegId> written;
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instruction& i : f.body) {
      written.clear();
      flow::registers_written(i, written);
      if (written.empty()) continue;
      const std::uint8_t zeros = written.size() == 1 ? zeros_of_result(i) : 0;
      for (const ptx::RegId r : written)
        if (zeros < zeros_[r]) zeros_[r] = zeros, changed = true;
    }
  }
  for (ptx::RegId r = 0; r < zeros_.size(); ++r)
    if (definitions_.unwritten[r]) zeros_[r] = 0;
}

std::uint8_t AddressSums::zeros_of_variable(Root root) const {
  const ptx::Variable& v = root.kind == Root::Kind::module_variable ? module_.variables[root.index]
                                                                    : definitions_.function.variables[root.index];
  // ptxas places shared variables, with arrays at multiples of 16 bytes.
  const bool placed_by_ptxas = v.space == StateSpace::shared && (v.unsized || v.size >= 16);
  return zeros_of_number(placed_by_ptxas ? std::max(v.alignment, 16u) : v.alignment);
}

std::uint8_t AddressSums::zeros_of(const Operand& o) const {
  if (o.kind == OperandKind::reg) return o.component == 0xff ? zeros_[o.index] : std::uint8_t{0};
  if (const auto number = flow::literal(o)) return zeros_of_number(*number);
  if (o.kind == OperandKind::variable) {
    const Root root{o.scope == ptx::Scope::module ? Root::Kind::module_variable : Root::Kind::function_variable,
                    o.index};
    return std::min(zeros_of_variable(root), zeros_of_number(o.offset));
  }
  return 0;
}

std::uint8_t AddressSums::zeros_of_result(const ptx::Instruction& i) const {
  const bool high = i.has(ptx::Modifier::hi), floating = ptx::is_float(i.type());
  if (!gives_whole_result(i) || floating || high || i.has(ptx::Modifier::sat)) return 0;
  const auto z = [&](std::size_t k) -> unsigned { return k < i.operands.size() ? zeros_of(i.operands[k]) : 0; };
  switch (Op{ptx::info(i.opcode).integer}) {
    case Op::copy:
    case Op::address:
    case Op::negative:
      return capped(z(1));
    case Op::conversion:
      return i.types.size() == 2 && ptx::is_integer(i.types[0]) && ptx::is_integer(i.types[1]) ? capped(z(1))
                                                                                               : std::uint8_t{0};
    case Op::sum:
    case Op::difference:
    case Op::disjunction:
    case Op::exclusive:
    case Op::extreme:
    case Op::selection:
      return capped(std::min(z(1), z(2)));
    case Op::conjunction:
      return capped(std::max(z(1), z(2)));
    case Op::product:
    case Op::product_24:
      return capped(z(1) + z(2));
    case Op::product_and_sum:
    case Op::product_24_and_sum:
      return capped(std::min(z(1) + z(2), z(3)));
    case Op::shift_left:
      if (const auto by = flow::literal(i.operands[2]))
        return capped(z(1) + static_cast<unsigned>(std::clamp<std::int64_t>(*by, 0, 31)));
      return capped(z(1));
    case Op::other:
    case Op::load:
    case Op::complement:
    case Op::table:
    case Op::shift_right:
    case Op::remainder:
    case Op::comparison:
      return 0;
  }
  WG_ASSERT(false);
  return 0;
}

AddressSum AddressSums::opaque(Root root, std::uint8_t zeros) const {
  AddressSum s;
  s.terms.push_back({root, 1});
  s.zeros = zeros;
  return s;
}

AddressSum AddressSums::sum(const AddressSum& a, const AddressSum& b, std::int64_t sign) {
  AddressSum s;
  s.constant = wrapping_add(a.constant, wrapping_multiply(sign, b.constant));
  s.zeros = std::min(a.zeros, b.zeros);
  WG_ASSERT(std::is_sorted(a.terms.begin(), a.terms.end()) && std::is_sorted(b.terms.begin(), b.terms.end()));
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->first < y->first)) {
      s.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->first < x->first) {
      s.terms.push_back({y->first, wrapping_multiply(sign, y->second)});
      ++y;
    } else {
      const std::int64_t times = wrapping_add(x->second, wrapping_multiply(sign, y->second));
      if (times != 0) s.terms.push_back({x->first, times});
      ++x, ++y;
    }
  }
  WG_ASSERT(s.zeros <= kMost);
  if (s.terms.empty()) s.zeros = kMost;
  return s;
}

AddressSum AddressSums::scaled(const AddressSum& a, std::int64_t by) {
  AddressSum s = a;
  s.constant = wrapping_multiply(s.constant, by);
  for (auto& [root, times] : s.terms) times = wrapping_multiply(times, by);
  s.zeros = capped(a.zeros + zeros_of_number(by));
  if (by == 0) s.terms.clear(), s.zeros = kMost;
  return s;
}

std::optional<AddressSum> AddressSums::product(const AddressSum& a, const AddressSum& b) const {
  if (b.terms.empty()) return scaled(a, b.constant);
  if (a.terms.empty()) return scaled(b, a.constant);
  return std::nullopt;
}

AddressSum AddressSums::of(const Operand& o, bool outside) {
  if (o.kind == OperandKind::reg && o.component == 0xff) return of_register(o.index, outside);
  if (const auto number = flow::literal(o)) {
    AddressSum s;
    s.constant = *number;
    s.zeros = kMost;
    return s;
  }
  if (o.kind == OperandKind::variable) {
    const Root root{o.scope == ptx::Scope::module ? Root::Kind::module_variable : Root::Kind::function_variable,
                    o.index};
    AddressSum s = opaque(root, zeros_of_variable(root));
    s.constant = o.offset;
    return s;
  }
  return opaque({Root::Kind::value, values_++}, 0);
}

AddressSum AddressSums::of_register(ptx::RegId r, bool outside) {
  WG_ASSERT(r < zeros_.size() && r < definitions_.of.size());
  if (!outside)
    if (const auto it = here_.find(r); it != here_.end()) return it->second;
  AddressSum itself = opaque({Root::Kind::register_, r}, zeros_[r]);
  const auto& writers = definitions_.of[r];
  if (writers.size() != 1 || definitions_.unwritten[r]) return itself;
  if (const auto it = outside_.find(r); it != outside_.end()) return it->second;
  const ptx::Instruction& i = definitions_.function.body[writers[0]];
  if (i.guard || depth_ >= kDeepest) return itself;
  outside_[r] = itself;
  ++depth_;
  std::optional<AddressSum> s = result(i, true);
  --depth_;
  if (!s || s->terms.size() > kMostTerms) return itself;
  // A register that is written more than once may have changed since.
  for (const auto& [root, times] : s->terms)
    if (root.kind == Root::Kind::value ||
        (root.kind == Root::Kind::register_ && definitions_.of[root.index].size() != 1))
      return itself;
  // A long sum may have lost alignment bits that the definitions still have.
  s->zeros = s->terms.empty() ? kMost : s->zeros;
  return outside_[r] = *s;
}

std::optional<AddressSum> AddressSums::result(const ptx::Instruction& i, bool outside) {
  if (!gives_whole_result(i)) return std::nullopt;
  const auto at = [&](std::size_t k) { return of(i.operands[k], outside); };
  switch (Op{ptx::info(i.opcode).integer}) {
    case Op::copy:
      if (i.operands.size() != 2 || i.operands[1].kind == OperandKind::sreg ||
          i.operands[1].kind == OperandKind::vector)
        return std::nullopt;
      return at(1);
    case Op::address:
      return at(1);
    case Op::sum:
      if (!is_integer_add(i)) return std::nullopt;
      return sum(at(1), at(2));
    case Op::difference:
      if (!is_integer_add(i)) return std::nullopt;
      return sum(at(1), at(2), -1);
    case Op::disjunction:  // an addition if the bits are known to be 0
      if (const auto bits = flow::literal(i.operands[2]);
          bits && *bits >= 0 && *bits < (std::int64_t{1} << zeros_of(i.operands[1])))
        return sum(at(1), at(2));
      return std::nullopt;
    case Op::product:
      if (!ptx::is_integer(i.type()) || !i.has(ptx::Modifier::lo)) return std::nullopt;
      return product(at(1), at(2));
    case Op::product_and_sum: {
      if (!ptx::is_integer(i.type()) || !i.has(ptx::Modifier::lo) || i.has(ptx::Modifier::cc)) return std::nullopt;
      const auto p = product(at(1), at(2));
      if (!p) return std::nullopt;
      return sum(*p, at(3));
    }
    case Op::shift_left: {
      const auto by = flow::literal(i.operands[2]);
      if (!by || *by < 0 || *by > 31) return std::nullopt;
      return scaled(at(1), std::int64_t{1} << *by);
    }
    case Op::other:
    case Op::load:
    case Op::conversion:
    case Op::negative:
    case Op::complement:
    case Op::conjunction:
    case Op::exclusive:
    case Op::table:
    case Op::product_24:
    case Op::product_24_and_sum:
    case Op::shift_right:
    case Op::extreme:
    case Op::remainder:
    case Op::selection:
    case Op::comparison:
      return std::nullopt;
  }
  WG_ASSERT(false);
  return std::nullopt;
}

void AddressSums::pass(const ptx::Instruction& i) {
  std::vector<ptx::RegId> written;
  flow::registers_written(i, written);
  if (written.empty()) return;
  std::optional<AddressSum> s;
  if (written.size() == 1 && !i.guard) s = result(i, false);
  for (const ptx::RegId r : written) {
    if (s && s->terms.size() <= kMostTerms) {
      here_[r] = *s;
      continue;
    }
    // Written once: the register's own number identifies the value. Otherwise each write gets a new value.
    if (definitions_.of[r].size() == 1)
      here_[r] = opaque({Root::Kind::register_, r}, zeros_[r]);
    else
      here_[r] = opaque({Root::Kind::value, values_++}, zeros_[r]);
  }
}

AddressSum AddressSums::address(const Operand& o) {
  AddressSum s;
  if (o.base == OperandKind::reg) {
    s = of_register(o.index, false);
  } else if (o.base == OperandKind::variable) {
    const Root root{o.scope == ptx::Scope::module ? Root::Kind::module_variable : Root::Kind::function_variable,
                    o.index};
    s = opaque(root, zeros_of_variable(root));
  } else {
    s.zeros = kMost;
  }
  s.constant = wrapping_add(s.constant, o.offset);
  return s;
}

}  // namespace warpgrind::sass
