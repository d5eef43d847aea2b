#include "debugger/names.h"

#include <algorithm>
#include <array>

#include "debugger/expression.h"
#include "debugger/kept_values.h"
#include "debugger/members.h"
#include "debuginfo/readable_names.h"

namespace warpgrind::debugger {

using namespace debuginfo;

namespace {

const Location& place_of_global(const Variable& variable, CodePlace code) {
  for (const Variable::Range& range : variable.ranges)
    if (range.code.contains(code.instruction)) return range.location;
  return variable.location;
}

bool names_file(std::string_view path, std::string_view file) {
  return path.ends_with(file) &&
         (path.size() == file.size() || file.starts_with('/') || path[path.size() - file.size() - 1] == '/');
}

ResolvedName resolved(const Variable& variable, const Location& location) {
  ResolvedName result;
  result.is_known = true;
  result.name = variable.name;
  result.type = variable.type;
  result.location = location;
  result.variable = &variable;
  return result;
}

Error unknown_name(LaneContext context, const std::string& name) {
  const std::vector<std::string> names = visible_names(context);
  std::string message = "there is no variable '" + name + "' here";
  if (!names.empty()) {
    constexpr std::size_t limit = 12;
    message += ": in scope are ";
    for (std::size_t i = 0; i < std::min(names.size(), limit); ++i) message += (i ? ", " : "") + names[i];
    if (names.size() > limit) message += ", and " + std::to_string(names.size() - limit) + " more";
  } else if (const std::string why = context.types.symbols().why_no_variables(context.lane.code().function);
             !why.empty()) {
    message += ": " + why;
  }
  return {ErrorKind::bad_input, message, {}};
}

Value triple(TypeTable& types, Builtin type, Dim3 d) {
  Value value;
  value.type = types.builtin(type);
  value.bytes.resize(12);
  put_bits(static_cast<unsigned __int128>(d.z) << 64 | static_cast<unsigned __int128>(d.y) << 32 | d.x, value.bytes);
  return value;
}

Builtin type_of_register(ptx::ScalarType type) {
  switch (type) {
    case ptx::ScalarType::pred:
      return Builtin::boolean;
    case ptx::ScalarType::b8:
    case ptx::ScalarType::u8:
      return Builtin::unsigned_char;
    case ptx::ScalarType::s8:
      return Builtin::signed_char;
    case ptx::ScalarType::b16:
    case ptx::ScalarType::u16:
      return Builtin::unsigned_short;
    case ptx::ScalarType::s16:
      return Builtin::short_int;
    case ptx::ScalarType::s32:
      return Builtin::int_;
    case ptx::ScalarType::s64:
      return Builtin::long_int;
    case ptx::ScalarType::b64:
    case ptx::ScalarType::u64:
      return Builtin::unsigned_long;
    case ptx::ScalarType::b128:
      return Builtin::unsigned_int128;
    case ptx::ScalarType::f16:
      return Builtin::half;
    case ptx::ScalarType::bf16:
      return Builtin::bf16;
    case ptx::ScalarType::f32:
      return Builtin::float_;
    case ptx::ScalarType::f64:
      return Builtin::double_;
    default:
      return Builtin::unsigned_int;  // b32, u32, and formats that only instructions name
  }
}

// The namespace or class around a type; empty: none.
std::string_view scope_of(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? std::string_view{} : name.substr(0, colons);
}

// An enumerator without its enumeration: `red`, or `geo::red`. Without a scope, one in any scope will do if no other
// has another value.
std::optional<Value> enumerator_in_scope(TypeTable& types, std::string_view scope, std::string_view name) {
  std::optional<Value> found;
  bool is_exact = false;
  for (const TypeId id : types.symbols().enumerations_with(std::string(name))) {
    const bool exact = scope_of(types.stripped(id).name) == scope;
    if ((!exact && !scope.empty()) || (is_exact && !exact)) continue;
    std::optional<Value> value = enumerator_value(types, id, name);
    if (!value) continue;
    const bool same = found && exact == is_exact && found->bytes == value->bytes;
    if (found && exact == is_exact && !same) return std::nullopt;
    if (!same) found = std::move(value);
    is_exact = exact;
  }
  return found;
}

constexpr std::string_view kParameter = "param_";

// The types in `(float*, int, Item const*)`.
std::vector<std::string> types_in(std::string_view parameters) {
  std::vector<std::string> out;
  int depth = 0;
  for (const char c : parameters) {
    if (c == '(' || c == '<' || c == '[') {
      if (depth++ == 0) out.emplace_back();
      if (depth == 1) continue;
    } else if ((c == ')' || c == '>' || c == ']') && --depth == 0) {
      break;
    } else if (c == ',' && depth == 1) {
      out.emplace_back();
      continue;
    }
    if (!out.empty()) out.back() += c;
  }
  return out;
}

TypeId type_of_parameter(TypeTable& types, const ptx::Function& kernel, std::size_t index) {
  const std::uint64_t size = kernel.variables[index].size;
  const std::vector<std::string> texts = types_in(readable_name(kernel.name).parameters);
  if (index < texts.size() && texts.size() == kernel.parameter_count) {
    const TypeId type = parse_type(texts[index], types);
    if (type != kVoidType && types.size(type) == size) return type;
    if (texts[index].ends_with('*') && size == 8) return types.pointer_to(kVoidType);
  }
  return types.array_of(types.builtin(Builtin::unsigned_char), {size});
}

const ptx::Function* kernel_of(LaneContext context) {
  const ptx::Module* module = context.types.symbols().module();
  const ptx::Function* f = module ? &module->functions[context.lane.code().function] : nullptr;
  const bool shows =
      f && f->is_entry && !context.types.symbols().why_no_variables(context.lane.code().function).empty();
  return shows ? f : nullptr;
}

// clang's modules have variables of these names, whose memory is never written.
bool is_built_in(std::string_view name) {
  return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim" || name == "warpSize";
}

bool is_of_user(const ptx::Variable& v) {
  return (v.space == StateSpace::global || v.space == StateSpace::constant || v.space == StateSpace::shared) &&
         !v.name.starts_with('$') && !v.name.starts_with("__unnamed") && !is_built_in(v.name);
}

// `use(variable, scope, index)` for what the source may know.
template <class F>
void for_ptx_variables(LaneContext context, const F& use) {
  const ptx::Module* module = context.types.symbols().module();
  if (!module) return;
  const std::vector<ptx::Variable>& own = module->functions[context.lane.code().function].variables;
  for (std::uint32_t i = 0; i < own.size(); ++i)
    if (is_of_user(own[i])) use(own[i], ptx::Scope::function, i);
  for (std::uint32_t i = 0; i < module->variables.size(); ++i)
    if (is_of_user(module->variables[i])) use(module->variables[i], ptx::Scope::module, i);
}

std::optional<ResolvedName> ptx_variable(LaneContext context, const std::string& name) {
  std::optional<ResolvedName> found;
  TypeTable& types = context.types;
  if (const ptx::Function* kernel = kernel_of(context); kernel && name.starts_with(kParameter)) {
    for (std::uint32_t i = 0; i < kernel->parameter_count; ++i) {
      if (name != std::string(kParameter) + std::to_string(i)) continue;
      found.emplace();
      found->type = type_of_parameter(types, *kernel, i);
      found->location = InVariable{StateSpace::param, ptx::Scope::function, i, 0};
    }
  }
  for_ptx_variables(context, [&](const ptx::Variable& v, ptx::Scope scope, std::uint32_t index) {
    if (found || (v.name != name && last_name(v.name) != name)) return;
    found.emplace();
    const TypeId element = types.builtin(type_of_register(v.type));
    const std::uint64_t size = std::max<std::uint64_t>(types.size(element), 1);
    found->type = v.size > size ? types.array_of(element, {v.size / size}) : element;
    found->location = InVariable{v.space, scope, index, 0};
  });
  if (!found) return std::nullopt;
  found->is_known = true;
  found->name = name;
  return found;
}

Result<ResolvedName> resolve_global(LaneContext context, const Node& name) {
  const CodePlace code = context.lane.code();
  std::vector<const Variable*> inside;  // a namespace or class
  for (const Variable& variable : context.types.symbols().globals()) {
    if (!name.file.empty() && !names_file(variable.declared.file, name.file)) continue;
    if (variable.name == name.text) return resolved(variable, place_of_global(variable, code));
    if (variable.name.size() > name.text.size() + 2 && variable.name.ends_with(name.text) &&
        std::string_view(variable.name).substr(variable.name.size() - name.text.size() - 2, 2) == "::")
      inside.push_back(&variable);
  }
  if (inside.empty() && name.file.empty())
    if (std::optional<ResolvedName> found = ptx_variable(context, name.text)) return *std::move(found);
  if (name.only_global || inside.empty()) return unknown_name(context, name.text);
  if (inside.size() == 1) return resolved(*inside[0], place_of_global(*inside[0], code));
  std::string message = "'" + name.text + "' may be ";
  for (std::size_t i = 0; i < std::min<std::size_t>(inside.size(), 6); ++i)
    message += (i ? ", or " : "") + inside[i]->name;
  return Error{ErrorKind::bad_input, message, {}};
}

}  // namespace

Result<ResolvedName> resolve_name(LaneContext context, const Node& name) {
  if (name.only_global || !name.file.empty()) return resolve_global(context, name);
  const std::vector<VisibleVariable> variables =
      context.types.symbols().variables(context.lane.code(), context.lane.frame());
  const VisibleVariable* best = nullptr;
  const VisibleVariable* self = nullptr;
  for (const VisibleVariable& v : variables) {
    if (v.variable->name == "this" && !self) self = &v;
    if (v.variable->name == name.text && (!best || v.depth < best->depth)) best = &v;
  }
  if (best) return resolved(*best->variable, best->location);
  if (self) {
    const TypeId object = context.types.stripped(self->variable->type).target;
    if (std::vector<const Member*> way = find_member(context.types, object, name.text); !way.empty()) {
      ResolvedName result = resolved(*self->variable, self->location);
      result.members = std::move(way);
      return result;
    }
  }
  return resolve_global(context, name);
}

namespace {

bool is_kernel_parameter(LaneContext context, const Variable& variable) {
  const ptx::Module* module = context.types.symbols().module();
  return variable.kind == VariableKind::parameter && module && module->functions[context.lane.code().function].is_entry;
}

// A kernel's parameter as the launch gave it, while the warp is in the kernel's prologue.
std::optional<Value> launch_parameter(LaneContext context, const Variable& variable) {
  if (!is_kernel_parameter(context, variable)) return std::nullopt;
  const CodePlace code = context.lane.code();
  const DebugInfo& info = context.lane.info();
  if (code.instruction >= info.body_begin(code.function)) return std::nullopt;
  const ptx::Function& kernel = context.types.symbols().module()->functions[code.function];
  if (context.lane.frame() + 1 != info.frames(code).size()) return std::nullopt;
  std::uint32_t index = 0, count = 0;
  for (const VisibleVariable& one : context.types.symbols().variables(code, context.lane.frame())) {
    if (one.variable->kind != VariableKind::parameter) continue;
    if (one.variable == &variable) index = count;
    ++count;
  }
  if (count != kernel.parameter_count || kernel.variables[index].size != context.types.size(variable.type))
    return std::nullopt;
  const Result<Address> place = context.lane.address_of({StateSpace::param, ptx::Scope::function, index, 0});
  if (!place.ok()) return std::nullopt;
  Value value = place_at(variable.type, *place);
  if (!load(context, value).ok()) return std::nullopt;
  value.address.reset();  // no place of the variable's
  return value;
}

// The variable will be in registers, and none of them is written on a way to here.
bool is_before_its_registers(LaneContext context, const Variable& variable) {
  bool has_register = false;
  for (const Variable::Range& range : variable.ranges) {
    const auto* in = std::get_if<InRegister>(&range.location);
    if (!in) continue;
    has_register = true;
    if (!context.lane.is_unset(in->reg)) return false;
  }
  return has_register;
}

}  // namespace

Result<Value> find_variable(LaneContext context, const Variable& variable, const Location& location) {
  Result<Value> value = place_variable(context, variable.name, variable.type, location);
  if (value.ok() && value->reg) value->variable = &variable;
  if (value.ok() && !is_kernel_parameter(context, variable)) return value;
  if (value.ok()) {
    Value now = *value;
    if (!load(context, now).ok() || !now.is_undefined()) return value;
  }
  if (std::optional<Value> given = launch_parameter(context, variable)) {
    if (!value.ok()) return *std::move(given);
    value->bytes = std::move(given->bytes);
    return value;
  }
  if (value.ok() || !std::holds_alternative<NoValue>(location) || !is_before_its_registers(context, variable))
    return value;
  const std::uint64_t size = context.types.size(variable.type);
  if (size == 0 || size > kLoadedBytes) return value;
  Value unset;
  unset.type = variable.type;
  unset.bytes.assign(size, 0);
  unset.undefined.assign(size, 0xff);
  return unset;
}

std::optional<Value> built_in_value(LaneContext context, std::string_view name) {
  if (name == "threadIdx") return triple(context.types, Builtin::uint3, context.lane.thread_index());
  if (name == "blockIdx") return triple(context.types, Builtin::uint3, context.lane.block_index());
  if (name == "blockDim") return triple(context.types, Builtin::dim3, context.lane.block_dim());
  if (name == "gridDim") return triple(context.types, Builtin::dim3, context.lane.grid_dim());
  if (name == "warpSize") return make_number(context.types, Builtin::int_, Number::from(kWarpSize));
  const std::size_t colons = name.rfind("::");
  if (colons == std::string_view::npos) return enumerator_in_scope(context.types, "", name);
  const std::string_view scope = name.substr(0, colons);
  if (auto value = enumerator_value(context.types, context.types.find(scope), name.substr(colons + 2))) return value;
  return enumerator_in_scope(context.types, scope, name.substr(colons + 2));
}

std::optional<Value> enumerator_value(TypeTable& types, TypeId enumeration, std::string_view name) {
  const Type& type = types.stripped(enumeration);
  if (type.kind != TypeKind::enumeration) return std::nullopt;
  const auto layout = number_layout(types, enumeration);
  for (const Enumerator& enumerator : type.enumerators) {
    if (enumerator.name != name || !layout) continue;
    Value value;
    value.type = enumeration;
    value.bytes.resize(layout->bytes);
    put_bits(encode_bits(*layout, Number::from(enumerator.value)), value.bytes);
    return value;
  }
  return std::nullopt;
}

Result<Value> register_value(LaneContext context, std::string_view name) {
  const LaneView& lane = context.lane;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> triples = {
      {{"%tid", "threadIdx"}, {"%ctaid", "blockIdx"}, {"%ntid", "blockDim"}, {"%nctaid", "gridDim"}}};
  for (const auto& [special, in_c] : triples)
    if (name == special) return *built_in_value(context, in_c);
  if (name == "%pc") return make_number(context.types, Builtin::unsigned_int, Number::from(lane.code().instruction));
  if (name == "%laneid") return make_number(context.types, Builtin::unsigned_int, Number::from(lane.lane()));
  const std::vector<ptx::Register>& registers = context.types.symbols().registers(lane.code().function);
  for (std::size_t i = 0; i < registers.size(); ++i) {
    if (registers[i].name != name) continue;
    Value value;
    value.type = context.types.builtin(type_of_register(registers[i].type));
    value.reg = static_cast<ptx::RegId>(i);
    return value;
  }
  if (context.kept) return context.kept->find(name.substr(1), context.types);
  return Error{ErrorKind::bad_input, "this PTX function has no register '" + std::string(name) + "'", {}};
}

std::vector<std::string> ptx_variables(LaneContext context) {
  std::vector<std::string> names;
  for_ptx_variables(context, [&](const ptx::Variable& v, ptx::Scope, std::uint32_t) {
    if (const std::string name = last_name(v.name); std::ranges::find(names, name) == names.end())
      names.push_back(name);
  });
  return names;
}

std::vector<std::string> kernel_parameters(LaneContext context) {
  std::vector<std::string> names;
  if (const ptx::Function* kernel = kernel_of(context))
    for (std::uint32_t i = 0; i < kernel->parameter_count; ++i)
      names.push_back(std::string(kParameter) + std::to_string(i));
  return names;
}

std::vector<std::string> visible_names(LaneContext context) {
  std::vector<std::string> names;
  for (const VisibleVariable& v : context.types.symbols().variables(context.lane.code(), context.lane.frame()))
    if (!v.is_hidden && !v.variable->name.empty() && std::ranges::find(names, v.variable->name) == names.end())
      names.push_back(v.variable->name);
  return names;
}

}  // namespace warpgrind::debugger
