// What a name means where a lane has stopped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/expression_tree.h"
#include "debugger/value.h"

namespace warpgrind::debugger {

// By C++'s rules as far as a debugger knows the scopes: local variables, innermost first; members of *this; global
// variables, also without their namespace if that is unique. Error: says what is in scope.
Result<ResolvedName> resolve_name(LaneContext context, const Node& name);

// As place_variable(), and for variables that have no place yet. A kernel's parameter that the prologue has not copied
// yet has the value that the launch gave. What will be in registers that no path has written yet is undefined.
Result<Value> find_variable(LaneContext context, const debuginfo::Variable& variable,
                            const debuginfo::Location& location);

// threadIdx, blockIdx, blockDim, gridDim, warpSize, and enumerators `Colour::red`.
std::optional<Value> built_in_value(LaneContext context, std::string_view name);
// An enumerator's value in its type.
std::optional<Value> enumerator_value(TypeTable& types, TypeId enumeration, std::string_view name);

// Names that code without variables of the source (-lineinfo) still has. PTX variables are one number or bytes. The
// kernel's parameters are `param_0`, `param_1`, ..., with the types in the kernel's name.
std::vector<std::string> ptx_variables(LaneContext context);
std::vector<std::string> kernel_parameters(LaneContext context);

// `%r5`, and `%tid.x` as threadIdx.x has it: `%tid` is a uint3.
Result<Value> register_value(LaneContext context, std::string_view name);

}  // namespace warpgrind::debugger
