#include "debuginfo/scope_reader.h"

#include <algorithm>

#include "debuginfo/readable_names.h"

namespace warpgrind::debuginfo {

void ScopeReader::describe_function(EntryIndex entry, Scope& scope) {
  scope.linkage_name = part_.linkage_name(entry);
  if (!scope.linkage_name.empty()) {
    scope.name = readable_name(scope.linkage_name).name;
  } else {
    const EntryIndex origin = part_.target(entry, dw::at_abstract_origin);
    scope.name = TypeReader::qualified_name(part_, origin == kNoEntry ? entry : origin);
    scope.linkage_name = part_.text(entry, dw::at_name);
  }
  scope.declared = part_.declared(entry);
  scope.result = types_.type_of(part_, entry);
}

Variable ScopeReader::variable(EntryIndex entry, std::uint32_t function) {
  Variable v;
  v.name = part_.text(entry, dw::at_name);
  v.linkage_name = part_.linkage_name(entry);
  v.type = types_.type_of(part_, entry);
  v.is_artificial = part_.flag(entry, dw::at_artificial) || v.name == "this";  // nvcc has no flag
  v.declared = part_.declared(entry);
  const std::uint16_t tag = part_.entries()[entry].tag;
  v.kind = tag == dw::tag_formal_parameter           ? VariableKind::parameter
           : tag == dw::tag_template_value_parameter ? VariableKind::template_value
                                                     : VariableKind::local;
  locations_.read(entry, function, v);
  // Constants are as long as their type.
  if (auto* constant = std::get_if<ConstantValue>(&v.location)) {
    const std::uint64_t size = types_.type(v.type).size;
    if (size != 0 && size < constant->bytes.size()) constant->bytes.resize(size);
  }
  return v;
}

void ScopeReader::add_children(EntryIndex entry, std::uint32_t function, Scope& scope) {
  const std::vector<Entry>& all = part_.entries();
  const EntryIndex end = std::min<EntryIndex>(all[entry].next, static_cast<EntryIndex>(all.size()));
  for (EntryIndex child = entry + 1; child < end; child = std::max(all[child].next, child + 1)) {
    const std::uint16_t tag = all[child].tag;
    if (tag == dw::tag_formal_parameter || tag == dw::tag_variable || tag == dw::tag_template_value_parameter) {
      scope.variables.push_back(variable(child, function));
      continue;
    }
    if (tag != dw::tag_lexical_block && tag != dw::tag_inlined_subroutine) continue;
    Scope inner;
    inner.kind = tag == dw::tag_lexical_block ? ScopeKind::block : ScopeKind::inlined;
    std::uint32_t code_function = function;
    inner.code = part_.code(child, code_function);
    if (code_function != function) continue;
    if (inner.kind == ScopeKind::inlined) {
      describe_function(child, inner);
      inner.called = part_.place(child, dw::at_call_file, dw::at_call_line, dw::at_call_column);
    } else if (inner.code.empty()) {
      inner.code = scope.code;
    }
    add_children(child, function, inner);
    scope.inner.push_back(std::move(inner));
  }
  std::stable_partition(scope.variables.begin(), scope.variables.end(),
                        [](const Variable& v) { return v.kind == VariableKind::parameter; });
}

Scope ScopeReader::function_scope(EntryIndex entry, std::uint32_t function) {
  Scope scope;
  scope.kind = ScopeKind::function;
  describe_function(entry, scope);
  std::uint32_t same = ptx::kNoId;
  scope.code = part_.code(entry, same);
  add_children(entry, function, scope);
  place_parameters(function, scope);
  return scope;
}

// clang gives no place for a kernel's parameter that is a structure: it is where the launch has put it.
void ScopeReader::place_parameters(std::uint32_t function, Scope& scope) const {
  const ptx::Function& f = part_.module().functions[function];
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(scope.variables, [](const Variable& v) { return v.kind == VariableKind::parameter; }));
  if (!f.is_entry || count != f.parameter_count) return;
  std::uint32_t number = 0;
  for (Variable& v : scope.variables) {
    if (v.kind != VariableKind::parameter) continue;
    const std::uint32_t at = number++;
    const bool fits = types_.type(types_.strip(v.type)).size == f.variables[at].size;
    if (fits && v.ranges.empty() && std::holds_alternative<NoValue>(v.location))
      v.location = InVariable{StateSpace::param, ptx::Scope::function, at, 0};
  }
}

void ScopeReader::add_globals(std::vector<Variable>& out) {
  const std::vector<Entry>& all = part_.entries();
  for (EntryIndex e = 0; e < all.size(); ++e) {
    if (all[e].tag != dw::tag_variable || all[e].parent == kNoEntry || !part_.find(e, dw::at_location)) continue;
    const std::uint16_t around = all[all[e].parent].tag;
    if (around == dw::tag_subprogram || around == dw::tag_lexical_block || around == dw::tag_inlined_subroutine)
      continue;
    Variable v = variable(e, ptx::kNoId);
    v.kind = VariableKind::global;
    v.name =
        v.linkage_name.starts_with("_Z") ? readable_name(v.linkage_name).name : TypeReader::qualified_name(part_, e);
    out.push_back(std::move(v));
  }
}

}  // namespace warpgrind::debuginfo
