#include "ptx/references.h"

#include <algorithm>

namespace warpgrind::ptx {

namespace {

bool is_good(const Variable& v, const Module& m) {
  return std::all_of(v.relocations.begin(), v.relocations.end(), [&](const Relocation& r) {
    return r.target < (r.is_function ? m.functions.size() : m.variables.size());
  });
}

bool is_good(const Operand& o, const Function& f, const Module& m) {
  const auto elements = [&] {
    return std::all_of(o.elements.begin(), o.elements.end(), [&](const Operand& e) { return is_good(e, f, m); });
  };
  const OperandKind kind = o.kind == OperandKind::address ? o.base : o.kind;
  std::size_t size = 0;
  switch (kind) {
    case OperandKind::reg:
      size = f.registers.size();
      break;
    case OperandKind::variable:
      size = o.scope == Scope::module ? m.variables.size() : f.variables.size();
      break;
    case OperandKind::function:
      size = m.functions.size();
      break;
    case OperandKind::label:
      size = f.labels.size();
      break;
    case OperandKind::table:
      size = f.tables.size();
      break;
    default:
      return elements();
  }
  return o.index < size && elements();
}

bool is_good(const Instruction& i, const Function& f, const Module& m) {
  if (i.guard && i.guard.reg >= f.registers.size()) return false;
  if (i.location != kNoId && i.location >= f.locations.size()) return false;
  for (const auto* list : {&i.operands, &i.results, &i.arguments})
    for (const Operand& o : *list)
      if (!is_good(o, f, m)) return false;
  return true;
}

bool is_good(const Function& f, const Module& m) {
  const auto all = [](const auto& list, auto&& good) { return std::all_of(list.begin(), list.end(), good); };
  return f.parameter_count + f.result_count <= f.variables.size() && (f.body.empty() || f.has_body) &&
         (f.alias_of == kNoId || f.alias_of < m.functions.size()) &&
         all(f.variables, [&](const Variable& v) { return is_good(v, m); }) &&
         all(f.labels, [&](const Label& l) { return l.instruction <= f.body.size(); }) &&
         all(f.tables,
             [&](const Table& t) {
               return all(t.labels, [&](LabelId l) { return l < f.labels.size(); }) &&
                      all(t.functions, [&](std::uint32_t callee) { return callee < m.functions.size(); });
             }) &&
         all(f.locations,
             [&](const SourceLocation& l) {
               return l.inlined_at < static_cast<std::int64_t>(f.locations.size()) && l.inlined_at >= -1;
             }) &&
         all(f.body, [&](const Instruction& i) { return is_good(i, f, m); });
}

}  // namespace

bool references_hold(const Module& m) {
  return std::all_of(m.variables.begin(), m.variables.end(), [&](const Variable& v) { return is_good(v, m); }) &&
         std::all_of(m.functions.begin(), m.functions.end(), [&](const Function& f) { return is_good(f, m); });
}

}  // namespace warpgrind::ptx
