// Names in a function body: registers, variables, labels, nested scopes.
#include <fmt/format.h>

#include <charconv>

#include "base/assert.h"
#include "ptx/function_parser.h"

namespace warpgrind::ptx {

namespace {
constexpr std::size_t kDeepestScope = 100;
constexpr std::uint64_t kDenseRange = 1u << 16;  // numbers of a register range kept in a vector
constexpr std::uint64_t kMostVariables = 4096;   // for one `name<N>` that is not a register
}  // namespace

bool FunctionParser::open_scope() {
  if (scopes_.size() >= kDeepestScope) return t_.error(t_.token().range(), "the scopes are nested too deeply");
  scopes_.emplace_back();
  return true;
}

void FunctionParser::close_scope() {
  WG_ASSERT(!scopes_.empty());
  NameScope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (const auto& [name, reference] : scope.label_references) {
    if (const auto label = scope.labels.find(name); label != scope.labels.end()) {
      label_references_[reference].label = label->second;
    } else if (!scopes_.empty()) {
      const auto [outer, is_new] = scopes_.back().label_references.try_emplace(name, reference);
      if (!is_new) label_references_[reference].same_as = outer->second;
    }
  }
}

std::uint32_t FunctionParser::label_reference(const Token& name) {
  const auto [entry, is_new] =
      scopes_.back().label_references.try_emplace(name.text, static_cast<std::uint32_t>(label_references_.size()));
  if (is_new) label_references_.push_back({name.text, name.range(), kNoId, kNoId});
  return entry->second;
}

// Replaces the indices of label references in operands and tables by those of the labels.
void FunctionParser::resolve_labels() {
  WG_ASSERT(scopes_.empty());
  for (LabelReference& r : label_references_) {
    std::uint32_t same = r.same_as;
    while (same != kNoId && label_references_[same].label == kNoId) same = label_references_[same].same_as;
    if (same != kNoId) r.label = label_references_[same].label;
    if (r.label == kNoId && r.same_as == kNoId)
      t_.error(r.range, fmt::format("label '{}' is not defined", r.name.substr(0, 60)));
  }
  for (Instruction& i : f_->body) {
    for (Operand& o : i.operands)
      if (o.kind == OperandKind::label) o.index = label_references_[o.index].label;
  }
  for (Table& table : f_->tables)
    for (LabelId& label : table.labels) label = label_references_[label].label;
}

bool FunctionParser::declare(const Declarator& d, Symbol symbol) {
  if (d.variable.name.empty()) return true;  // `_` in a prototype
  if (scopes_.back().names.try_emplace(d.name, symbol).second) return true;
  return t_.error(d.variable.range, fmt::format("'{}' is declared twice in this scope", d.name.substr(0, 60)));
}

RegId FunctionParser::add_register(std::string name, ScalarType type) {
  f_->registers.push_back({std::move(name), type});
  return static_cast<RegId>(f_->registers.size() - 1);
}

RegId FunctionParser::add_registers(std::string_view name, ScalarType type, unsigned components) {
  WG_ASSERT(components <= 8);
  if (components <= 1) return add_register(std::string(name), type);
  const auto first = static_cast<RegId>(f_->registers.size());
  static constexpr char kNames[] = "xyzwabcd";
  for (unsigned i = 0; i < components; ++i) add_register(fmt::format("{}.{}", name, kNames[i]), type);
  return first;
}

bool FunctionParser::declare_registers(Declarator& d) {
  if (d.count == 0) {
    return declare(
        d, {SymbolKind::register_, d.variable.vector, add_registers(d.name, d.variable.type, d.variable.vector)});
  }
  RegisterRange range;
  range.count = d.count;
  range.type = d.variable.type;
  range.components = d.variable.vector;
  if (scopes_.back().ranges.try_emplace(d.name, std::move(range)).second) return true;
  return t_.error(d.variable.range,
                  fmt::format("the range '{}' is declared twice in this scope", d.name.substr(0, 60)));
}

bool FunctionParser::declare_variable(Declarator& d) {
  if (d.variable.space == StateSpace::reg) return declare_registers(d);
  const auto add = [&](Declarator& one) {
    if (!declare(one, {SymbolKind::variable, 1, static_cast<std::uint32_t>(f_->variables.size())})) return false;
    f_->variables.push_back(std::move(one.variable));
    return true;
  };
  if (d.count == 0) return add(d);
  if (d.count > kMostVariables) return t_.error(d.variable.range, "too many variables in one declaration");
  for (std::uint64_t i = 0; i < d.count; ++i) {
    Declarator one = d;
    one.name = m_.module().ranges.emplace_back(fmt::format("{}{}", d.name, i));
    one.variable.name = one.name;
    if (!add(one)) return false;
  }
  return true;
}

bool FunctionParser::find_in_range(NameScope& scope, std::string_view name, Symbol& out) {
  constexpr std::size_t kMostDigits = 18;
  std::size_t digits = 0;
  while (digits < name.size() && digits < kMostDigits && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9')
    ++digits;
  for (; digits > 0; --digits) {
    const std::string_view number = name.substr(name.size() - digits);
    if (digits > 1 && number[0] == '0') continue;
    const auto found = scope.ranges.find(name.substr(0, name.size() - digits));
    if (found == scope.ranges.end()) continue;
    RegisterRange& range = found->second;
    std::uint64_t n = 0;
    std::from_chars(number.data(), number.data() + digits, n);
    if (n >= range.count) continue;
    if (n < kDenseRange && n >= range.dense.size())
      range.dense.resize(std::min(kDenseRange, std::max<std::uint64_t>(n + 1, 2 * range.dense.size())), kNoId);
    RegId& id = n < kDenseRange ? range.dense[n] : range.sparse.try_emplace(n, kNoId).first->second;
    if (id == kNoId) id = add_registers(name, range.type, range.components);
    WG_ASSERT(id < f_->registers.size());
    out = {SymbolKind::register_, range.components, id};
    return true;
  }
  return false;
}

// Finds the meaning of a name: innermost scope first, the module's names last.
bool FunctionParser::lookup(std::string_view name, Symbol& out, Scope& where) {
  where = Scope::function;
  const bool numbered = !name.empty() && name.back() >= '0' && name.back() <= '9';
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    if (numbered && !scopes_[i].ranges.empty() && find_in_range(scopes_[i], name, out)) return true;
    if (scopes_[i].names.empty()) continue;
    if (const auto found = scopes_[i].names.find(name); found != scopes_[i].names.end()) {
      out = found->second;
      return true;
    }
  }
  where = Scope::module;
  const auto found = m_.symbols().find(name);
  if (found == m_.symbols().end()) return false;
  out = found->second;
  return true;
}

bool FunctionParser::declare_parameters(std::vector<Declarator>& parameters, std::vector<Declarator>& results) {
  f_->parameter_count = static_cast<std::uint32_t>(parameters.size());
  f_->result_count = static_cast<std::uint32_t>(results.size());
  bool good = true;
  for (std::vector<Declarator>* list : {&parameters, &results}) {
    for (Declarator& d : *list) {
      Symbol symbol{SymbolKind::variable, 1, static_cast<std::uint32_t>(f_->variables.size())};
      if (d.variable.space == StateSpace::reg) {  // also a register of the same name
        symbol = {SymbolKind::register_, d.variable.vector, add_registers(d.name, d.variable.type, d.variable.vector)};
      }
      good = declare(d, symbol) && good;
      f_->variables.push_back(std::move(d.variable));
    }
  }
  return good;
}

}  // namespace warpgrind::ptx
