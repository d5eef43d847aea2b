// Checks of calls and parameter accesses, with the messages for errors.
#include "codegen/kernel/signatures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "jit/abi.h"
#include "jit/layout.h"

namespace warpgrind::jit {

using ptx::Operand;
using ptx::OperandKind;

namespace {

std::uint64_t total(const std::vector<ptx::Variable>& variables) {
  std::uint64_t sum = 0;
  for (const ptx::Variable& v : variables) sum += std::min(v.size, kLargestParameters + 1);
  return sum;
}

bool same_places(const std::vector<ptx::Variable>& a, const std::vector<ptx::Variable>& b) {
  const auto same_size = [](const ptx::Variable& x, const ptx::Variable& y) { return x.size == y.size; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_size) &&
         plane_layout(a, 0, a.size()).word == plane_layout(b, 0, b.size()).word;
}

// Bytes that an operand of a call passes or receives; 0: as the callee declares.
std::uint64_t operand_bytes(const ptx::Function& caller, const Operand& o) {
  if (o.kind == OperandKind::reg) return ptx::bytes(caller.registers[o.index].type);
  const bool parameter = o.kind == OperandKind::variable && o.scope == ptx::Scope::function &&
                         caller.variables[o.index].space == StateSpace::param;
  return parameter ? caller.variables[o.index].size : 0;
}

bool is_own_parameter(const ptx::Function& caller, const Operand& o) {
  return o.kind == OperandKind::variable && o.scope == ptx::Scope::function &&
         o.index < caller.parameter_count + caller.result_count && caller.variables[o.index].space == StateSpace::param;
}

}  // namespace

Signature signature_of(const ptx::Function& f) {
  const auto parameters = f.variables.begin(), results = parameters + f.parameter_count;
  return {{parameters, results}, {results, results + f.result_count}};
}

Signature signature_of(const ptx::Table& prototype) {
  return {prototype.prototype_parameters, prototype.prototype_results};
}

bool fits(const Signature& call, const Signature& callee) {
  return same_places(call.parameters, callee.parameters) && same_places(call.results, callee.results);
}

std::string call_problem(const ptx::Function& caller, const ptx::Instruction& call, const Signature& callee,
                         const std::string& name) {
  for (const auto* list : {&callee.parameters, &callee.results}) {
    if (const std::uint64_t bytes = total(*list); bytes > kLargestParameters)
      return fmt::format("{} has {} bytes of parameters; a function takes up to {}", name, bytes, kLargestParameters);
    for (const ptx::Variable& v : *list)
      if (v.unsized) return fmt::format("{} has a parameter of unknown size", name);
  }
  if (call.arguments.size() != callee.parameters.size())
    return fmt::format("the call of {} passes {}, the callee takes {}", name,
                       counted(call.arguments.size(), "argument"), callee.parameters.size());
  if (call.results.size() != callee.results.size())
    return fmt::format("the call of {} takes {}, the callee gives {}", name, counted(call.results.size(), "result"),
                       callee.results.size());
  for (const auto* list : {&call.arguments, &call.results})
    for (const Operand& o : *list)
      if (is_own_parameter(caller, o))
        return fmt::format("'{}' is a parameter of the function itself and cannot be one of a call",
                           caller.variables[o.index].name);
  for (std::size_t k = 0; k < call.arguments.size(); ++k) {
    const std::uint64_t passed = operand_bytes(caller, call.arguments[k]), taken = callee.parameters[k].size;
    if (passed ? passed != taken : taken > 8)
      return fmt::format("argument {} of the call of {} has {} bytes, the parameter {}", k + 1, name,
                         passed ? passed : 8, taken);
  }
  for (std::size_t k = 0; k < call.results.size(); ++k) {
    const std::uint64_t taken = operand_bytes(caller, call.results[k]), given = callee.results[k].size;
    if (taken && taken != given)
      return fmt::format("result {} of the call of {} has {} bytes, the callee's {}", k + 1, name, taken, given);
  }
  return {};
}

std::string parameter_problem(const ptx::Function& function, const Operand& address, unsigned bytes,
                              unsigned element_bytes) {
  const ptx::Variable& v = function.variables[address.index];
  std::int64_t first = address.offset;
  std::uint64_t size = v.size;
  std::string name = fmt::format("'{}'", v.name);
  const bool of_kernel = function.is_entry && address.index < function.parameter_count;
  if (of_kernel) {  // one buffer for all parameters
    const std::vector<ParameterLayout> layout = parameter_layout(function);
    if (first < 0 || first <= std::int64_t{1} << 40) first += static_cast<std::int64_t>(layout[address.index].offset);
    size = layout.back().offset + layout.back().size;
    name = "kernel parameters";
  } else if (v.space != StateSpace::param && v.space != StateSpace::reg) {
    return fmt::format("{} is no parameter", name);
  }
  if (size > kLargestParameters)
    return fmt::format("{} bytes of parameters; a function takes up to {}", size, kLargestParameters);
  if (first < 0 || static_cast<std::uint64_t>(first) > size || size - static_cast<std::uint64_t>(first) < bytes)
    return fmt::format("access to bytes {} to {} of the {} bytes of {}", first, first + bytes - 1, size, name);
  if (!of_kernel && first % std::min(4u, element_bytes) != 0)
    return fmt::format("byte {} of {} is not aligned to {} bytes", first, name, std::min(4u, element_bytes));
  return {};
}

ptx::ScalarType plain_type(const ptx::Variable& parameter) {
  switch (parameter.size) {
    case 1:
      return ptx::ScalarType::b8;
    case 2:
      return ptx::ScalarType::b16;
    case 8:
      return ptx::ScalarType::b64;
    default:
      return ptx::ScalarType::b32;
  }
}

}  // namespace warpgrind::jit
