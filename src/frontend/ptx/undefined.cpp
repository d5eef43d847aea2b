#include "ptx/undefined.h"

#include <algorithm>
#include <array>
#include <set>

namespace warpgrind::ptx {

namespace {

struct Used {
  std::set<std::uint32_t> functions, variables;  // indices into the module's
};

void add(const Operand& o, Used& out) {
  if (o.kind == OperandKind::function) out.functions.insert(o.index);
  const bool variable =
      o.kind == OperandKind::variable || (o.kind == OperandKind::address && o.base == OperandKind::variable);
  if (variable && o.scope == Scope::module) out.variables.insert(o.index);
  for (const Operand& element : o.elements) add(element, out);
}

}  // namespace

std::vector<Undefined> undefined_references(const Module& module) {
  Used used;
  for (const Function& f : module.functions)
    for (const Instruction& i : f.body)
      for (const Operand& o : i.operands) add(o, used);
  std::vector<Undefined> out;
  for (const std::uint32_t index : used.functions) {
    const Function& f = module.functions[index];
    if (!f.has_body && f.alias_of == kNoId) out.push_back({f.name, true});
  }
  for (const std::uint32_t index : used.variables) {
    const Variable& v = module.variables[index];
    if (v.linkage == Linkage::external && v.space != StateSpace::shared) out.push_back({v.name, false});
  }
  return out;
}

bool is_always_there(std::string_view function) {
  constexpr std::array<std::string_view, 5> kOfKernels = {"vprintf", "malloc", "free", "__assertfail", "__assert_fail"};
  return std::find(kOfKernels.begin(), kOfKernels.end(), function) != kOfKernels.end() ||
         function.starts_with("cuda") || function.starts_with("__cudaCDP2");
}

}  // namespace warpgrind::ptx
