// Requests about values: scopes, variables, expressions, watched memory.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "adapter/requests.h"
#include "base/json.h"
#include "dap/base64.h"
#include "debugger/completion.h"
#include "debugger/expression.h"
#include "debugger/format.h"
#include "debugger/names.h"
#include "debugger/number.h"
#include "debugger/tile.h"
#include "debugger/type_text.h"
#include "device/access/peek.h"
#include "device/state.h"

namespace warpgrind::adapter {

using debugger::Format;
using debugger::LaneContext;
using debugger::LaneView;
using debugger::SideEffects;
using debugger::TypeTable;
using debugger::Value;

// A lane of a frame, with the types of its module.
struct Requests::Inspected {
  std::unique_ptr<LaneView> lane;
  TypeTable* types = nullptr;
  debugger::KeptValues* kept = nullptr;
  LaneContext context() const { return {*lane, *types, kept}; }
};

debugger::TypeTable& Requests::types_of(debuginfo::DebugInfo& info) {
  std::unique_ptr<Types>& types = types_[&info];
  if (!types) types = std::make_unique<Types>(info);
  return types->table;
}

Result<Requests::Inspected> Requests::inspect(const Frame& frame) {
  // The view refers to the stopped warp's frames, which live as long as the requests of this stop.
  std::unique_ptr<debugger::StoppedWarp>& look = looks_[frame.warp];
  if (!look) look = std::make_unique<debugger::StoppedWarp>(debugger_.look_at(*frame.warp));
  if (frame.index >= look->frames().size())
    return Error{ErrorKind::bad_input, "this warp has not begun: it has no variables yet", ""};
  return Inspected{look->lane(frame.lane, frame.index), &types_of(look->info()), &kept_};
}

namespace {

Format format_of(const Json& arguments) {
  const auto format = arguments.find("format");
  if (format == arguments.end() || !format->is_object()) return Format::natural;
  if (json::get<bool>(*format, "hex")) return Format::hexadecimal;
  const std::string letter = json::text(*format, "letter");
  return letter.size() == 1 ? debugger::format_of_letter(letter[0]).value_or(Format::natural) : Format::natural;
}

std::string shown(LaneContext context, const Value& value, Format format = Format::natural) {
  debugger::TextOptions options;
  options.format = format;
  return debugger::text_of(context, value, options);
}

}  // namespace

// A reference that `variables` answers; 0: the value has no children.
std::int64_t Requests::list_children(const Frame& frame, LaneContext context, const Value& value,
                                     const std::string& path) {
  if (debugger::child_count(context.types, value) == 0) return 0;
  Listed listed{frame, Listed::Of::children, value, path};
  lists_.push_back(std::move(listed));
  return static_cast<std::int64_t>(lists_.size());
}

Json Requests::show(const Frame& frame, LaneContext context, const std::string& name, const Value& value,
                    const std::string& path, Format format) {
  Json one = {{"name", name},
              {"value", shown(context, value, format)},
              {"type", context.types.name(value.type)},
              {"evaluateName", path},
              {"variablesReference", list_children(frame, context, value, path)}};
  if (const std::uint64_t count = debugger::child_count(context.types, value); count > 0) {
    const bool array = context.types.is_array(value.type);
    one[array ? "indexedVariables" : "namedVariables"] = count;
  }
  if (context.types.is_pointer(value.type) && value.bytes.size() == 8) {
    std::uint64_t address = 0;
    std::copy_n(value.bytes.begin(), 8, reinterpret_cast<std::uint8_t*>(&address));
    one["memoryReference"] = fmt::format("{:#x}", address);
  } else if (value.address) {
    if (const auto address = debugger::generic_address(*value.address))
      one["memoryReference"] = fmt::format("{:#x}", *address);
  }
  return one;
}

std::string Requests::parameter_text(const Frame& frame, const Json& format) {
  if (!json::get<bool>(format, "parameters")) return {};
  const Result<Inspected> inspected = inspect(frame);
  if (!inspected) return {};
  const LaneContext context = inspected->context();
  // Nothing chosen: names and values.
  const bool types = json::get<bool>(format, "parameterTypes");
  bool names = json::get<bool>(format, "parameterNames"), values = json::get<bool>(format, "parameterValues");
  if (!types && !names && !values) names = values = true;
  debugger::TextOptions brief;
  brief.elements = 8;
  brief.describes_pointers = brief.types_pointers = false;
  std::string out;
  for (const auto& visible : context.lane.info().variables(context.lane.code(), context.lane.frame())) {
    const debuginfo::Variable& variable = *visible.variable;
    if (variable.kind != debuginfo::VariableKind::parameter) continue;
    out += out.empty() ? " (" : ", ";
    if (types) out += context.types.name(variable.type);
    if (types && names) out += ' ';
    if (names) out += variable.name;
    if (!values) continue;
    if (types || names) out += '=';
    const Result<Value> value = debugger::read_variable(context, visible);
    out += value ? debugger::text_of(context, *value, brief) : fmt::format("<{}>", value.error().message);
  }
  return out.empty() ? out : out + ")";
}

Requests::Body Requests::scopes(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  Json list = Json::array();
  const auto add = [&](const char* name, const char* hint, Listed::Of of) {
    lists_.push_back({*frame, of, {}, {}});
    Json one = {{"name", name}, {"variablesReference", lists_.size()}, {"expensive", false}};
    if (*hint) one["presentationHint"] = hint;
    list.push_back(std::move(one));
  };
  add("Arguments", "arguments", Listed::Of::arguments);
  add("Locals", "locals", Listed::Of::locals);
  add("Built-in", "", Listed::Of::builtins);
  add("Globals and shared memory", "", Listed::Of::globals);
  add("Registers of the PTX", "registers", Listed::Of::registers);
  return Json{{"scopes", std::move(list)}};
}

Requests::Body Requests::variables(const Json& arguments) {
  const auto reference = json::get<std::int64_t>(arguments, "variablesReference");
  if (reference < 1 || reference > static_cast<std::int64_t>(lists_.size()))
    return Error{ErrorKind::bad_input, "these variables are of an earlier stop", ""};
  const Listed listed = lists_[static_cast<std::size_t>(reference) - 1];
  const Result<Inspected> inspected = inspect(listed.frame);
  if (!inspected) return inspected.error();
  const LaneContext context = inspected->context();
  const Format format = format_of(arguments);
  Json list = Json::array();
  const auto failed = [&](const std::string& name, const std::string& why) {
    list.push_back({{"name", name}, {"value", fmt::format("<{}>", why)}, {"variablesReference", 0}});
  };
  const auto add_variable = [&](const debuginfo::VisibleVariable& v) {
    Result<Value> value = debugger::read_variable(context, v);
    if (!value) return failed(v.variable->name, value.error().message);
    list.push_back(show(listed.frame, context, v.variable->name, *value, v.variable->name, format));
  };
  const auto add_expression = [&](const std::string& text) {
    Result<Value> value = evaluate_text(context, text, SideEffects::refused);
    if (!value) return failed(text, value.error().message);
    list.push_back(show(listed.frame, context, text, *value, text, format));
  };
  switch (listed.of) {
    case Listed::Of::arguments:
    case Listed::Of::locals: {
      const bool arguments_wanted = listed.of == Listed::Of::arguments;
      for (const auto& v : context.lane.info().variables(context.lane.code(), context.lane.frame()))
        if (v.variable->kind ==
            (arguments_wanted ? debuginfo::VariableKind::parameter : debuginfo::VariableKind::local))
          add_variable(v);
      const bool outermost = context.lane.frame() + 1 == context.lane.info().frames(context.lane.code()).size();
      if (arguments_wanted && outermost)
        for (const std::string& name : debugger::kernel_parameters(context)) add_expression(name);
      break;
    }
    case Listed::Of::globals:
      if (context.lane.info().globals().empty())
        for (const std::string& name : debugger::ptx_variables(context)) add_expression(name);
      for (const debuginfo::Variable& v : context.lane.info().globals())
        add_variable({&v, debuginfo::location_at(v, context.lane.code().instruction), 0, false});
      break;
    case Listed::Of::builtins:
      for (const char* name : {"threadIdx", "blockIdx", "blockDim", "gridDim", "$lane", "$warp"}) add_expression(name);
      break;
    case Listed::Of::registers: {
      const ptx::Function& function = context.lane.info().module().functions[context.lane.code().function];
      for (ptx::RegId r = 0; r < function.registers.size(); ++r) {
        const std::string name = function.registers[r].name;
        if (!context.lane.why_unknown(r).empty()) continue;
        const LaneView::RegisterBits bits = context.lane.read_register(r);
        const std::string number =
            bits.high ? fmt::format("{:#x}{:016x}", bits.high, bits.low) : fmt::format("{:#x}", bits.low);
        const unsigned width = std::min(ptx::bits(function.registers[r].type), 64u);
        const std::uint64_t all = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
        const std::uint64_t undefined = context.lane.undefined_bits(r) & all;
        const bool is_all = undefined == all;
        list.push_back({{"name", name},
                        {"value", undefined == 0 ? number
                                  : is_all       ? "<undefined>"
                                                 : number + " <partly undefined>"},
                        {"type", std::string(ptx::name(function.registers[r].type))},
                        {"evaluateName", name},
                        {"variablesReference", 0}});
      }
      break;
    }
    case Listed::Of::children: {
      constexpr std::uint64_t kMost = 1000;
      const std::uint64_t count = debugger::child_count(context.types, listed.value);
      const std::uint64_t first = std::min(json::get<std::uint64_t>(arguments, "start"), count);
      const std::uint64_t wanted = json::get<std::uint64_t>(arguments, "count");
      for (debugger::Child& child : debugger::children(context, listed.value, listed.path, first,
                                                       std::min(wanted ? wanted : kMost, count - first))) {
        if (!child.error.empty()) {
          failed(child.name, child.error);
          continue;
        }
        if (Status loaded = debugger::load(context, child.value); !loaded) {
          failed(child.name, loaded.error().message);
          continue;
        }
        list.push_back(show(listed.frame, context, child.name, child.value, child.path, format));
      }
      break;
    }
  }
  return Json{{"variables", std::move(list)}};
}

Result<Value> Requests::evaluate_text(LaneContext context, const std::string& text, SideEffects effects) {
  Result<debugger::Expression> parsed = debugger::parse_expression(text, context.types);
  if (!parsed) return parsed.error();
  return debugger::evaluate(context, *parsed, effects);
}

Requests::Body Requests::evaluate(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  const Result<Inspected> inspected = inspect(*frame);
  if (!inspected) return inspected.error();
  const LaneContext context = inspected->context();
  const std::string text = json::text(arguments, "expression");
  const bool typed = json::text(arguments, "context") == "repl";  // by the user, who may assign
  Result<Value> value = evaluate_text(context, text, typed ? SideEffects::allowed : SideEffects::refused);
  if (!value) return value.error();
  Json answer = show(*frame, context, text, *value, text, format_of(arguments));
  answer["result"] = answer["value"];
  answer.erase("value");
  answer.erase("name");
  if (text == "$pc") {
    const debuginfo::CodePlace code = context.lane.code();
    answer["memoryReference"] = ptx_address(code.function, code.instruction);
    answer["result"] = fmt::format("{} <{}, instruction {}>", place_in_ptx(code),
                                   context.lane.info().function(code.function).name, code.instruction);
  }
  if (const auto number = json::get<unsigned>(arguments, "remember"); number != 0)
    kept_.remember(number, value.take(), context.types);
  return answer;
}

// The definition of the type of an expression, or of a type.
Requests::Body Requests::type_definition(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  const Result<Inspected> inspected = inspect(*frame);
  if (!inspected) return inspected.error();
  const LaneContext context = inspected->context();
  const std::string text = json::text(arguments, "expression");
  Result<Value> value = evaluate_text(context, text, SideEffects::refused);
  // A variable may have the name of a type, as in C.
  const debuginfo::TypeId type = value ? value->type : debugger::parse_type(text, context.types);
  if (!value && type == debuginfo::kVoidType) return value.error();
  return Json{{"type", context.types.name(type)},
              {"size", context.types.size(type)},
              {"definition", debugger::type_text(context.types, type, json::get<bool>(arguments, "offsets"))}};
}

// Names for the last word of a text, from its first column (1) to `column`.
Requests::Body Requests::completions(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  const Result<Inspected> inspected = inspect(*frame);
  if (!inspected) return inspected.error();
  const std::string text = json::text(arguments, "text");
  const auto column = json::get<std::size_t>(arguments, "column");
  const std::size_t end = std::min(column == 0 ? text.size() : column - 1, text.size());
  const debugger::Completions found =
      debugger::complete_expression(inspected->context(), std::string_view(text).substr(0, end));
  Json targets = Json::array();
  for (const std::string& word : found.words)
    targets.push_back({{"label", word},
                       {"start", found.begin + 1},
                       {"length", end - found.begin},
                       {"type", found.are_members ? "field" : "variable"}});
  return Json{{"targets", std::move(targets)}};
}

Requests::Body Requests::set_variable(const Json& arguments) {
  const auto reference = json::get<std::int64_t>(arguments, "variablesReference");
  if (reference < 1 || reference > static_cast<std::int64_t>(lists_.size()))
    return Error{ErrorKind::bad_input, "this variable is of an earlier stop", ""};
  const Listed listed = lists_[static_cast<std::size_t>(reference) - 1];
  const std::string name = json::text(arguments, "name");
  std::string path = name;
  const Result<Inspected> inspected = inspect(listed.frame);
  if (!inspected) return inspected.error();
  if (listed.of == Listed::Of::children) {
    const std::uint64_t count = debugger::child_count(*inspected->types, listed.value);
    for (const debugger::Child& child : debugger::children(inspected->context(), listed.value, listed.path, 0, count))
      if (child.name == name) path = child.path;
  }
  return set_by(listed.frame, path, json::text(arguments, "value"), format_of(arguments));
}

Requests::Body Requests::set_expression(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  return set_by(*frame, json::text(arguments, "expression"), json::text(arguments, "value"), format_of(arguments));
}

Requests::Body Requests::set_by(const Frame& frame, const std::string& path, const std::string& value, Format format) {
  const Result<Inspected> inspected = inspect(frame);
  if (!inspected) return inspected.error();
  const LaneContext context = inspected->context();
  Result<Value> now = evaluate_text(context, fmt::format("({}) = ({})", path, value), SideEffects::allowed);
  if (!now) return now.error();
  return show(frame, context, path, *now, path, format);
}

// A variable over the lanes of the warp.
Requests::Body Requests::warp_values(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  const std::string text = json::text(arguments, "expression");
  Json lanes = Json::array();
  std::string type;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (!(frame->warp->context.initial_mask >> lane & 1)) continue;
    const Result<Inspected> inspected = inspect({frame->warp, lane, frame->index});
    if (!inspected) return inspected.error();
    const LaneContext context = inspected->context();
    const Result<Value> value = evaluate_text(context, text, SideEffects::refused);
    const bool active = looks_[frame->warp]->frames()[frame->index].lanes >> lane & 1;
    if (!value && lanes.empty() && active) return value.error();
    if (value && type.empty()) type = context.types.name(value->type);
    lanes.push_back(
        {{"lane", lane},
         {"value", value ? shown(context, *value, format_of(arguments)) : "<" + value.error().message + ">"},
         {"active", active},
         {"undefined", value && value->has_undefined()}});
  }
  return Json{{"type", type}, {"lanes", std::move(lanes)}};
}

// Memory as a grid of numbers.
Requests::Body Requests::tile(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  const Result<Inspected> inspected = inspect(*frame);
  if (!inspected) return inspected.error();
  const LaneContext context = inspected->context();
  Result<Value> value = evaluate_text(context, json::text(arguments, "expression"), SideEffects::refused);
  if (!value) return value.error();
  if (context.types.is_pointer(value->type)) value = debugger::pointee(context, *value);
  if (!value) return value.error();
  debuginfo::TypeId as = debuginfo::kVoidType;
  if (const std::string name = json::text(arguments, "type"); !name.empty()) {
    as = debugger::parse_type(name, context.types);
    if (as == debuginfo::kVoidType) return Error{ErrorKind::bad_input, fmt::format("'{}' is no type here", name), ""};
  }
  Result<debugger::TileShape> shape = debugger::shape_of(context, *value, as);
  if (!shape) return shape.error();
  const auto rows = json::get<std::uint64_t>(arguments, "rows"),
             columns = json::get<std::uint64_t>(arguments, "columns");
  if (rows != 0 || columns != 0) {
    shape->rows = rows;
    shape->columns = columns;
  }
  if (const auto stride = json::get<std::uint64_t>(arguments, "stride"); stride != 0) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
    const auto layout = debugger::number_layout(context.types, shape->element);
    const std::uint64_t numbers = layout ? layout->components : 1;
    if (stride % numbers != 0 || stride > kMost)
      return Error{ErrorKind::bad_input, fmt::format("rows cannot be {} numbers apart", stride), ""};
    shape->row_stride = stride / numbers * context.types.size(shape->element);
  }
  const Result<debugger::Tile> tile = debugger::read_tile(context, *shape, format_of(arguments));
  if (!tile) return tile.error();
  Json answer = {{"type", context.types.name(shape->element)},
                 {"rows", shape->rows},
                 {"columns", shape->columns},
                 {"cells", tile->cells},
                 {"text", debugger::tile_text(*tile, json::get<std::size_t>(arguments, "width"))}};
  if (tile->has_extremes) {
    answer["minimum"] = tile->minimum;
    answer["maximum"] = tile->maximum;
  }
  return answer;
}

// ---- Conditions and messages of breakpoints

Result<bool> Requests::holds(LaneView& lane, const std::string& condition) {
  const LaneContext context{lane, types_of(lane.info()), &kept_};
  const auto key = std::pair{&lane.info(), condition};
  auto known = conditions_.find(key);
  if (known == conditions_.end()) {
    Result<debugger::Expression> parsed = debugger::parse_expression(condition, context.types);
    if (!parsed) return parsed.error();
    known = conditions_.emplace(key, Condition{parsed.take()}).first;
  }
  const Result<debugger::ConditionResult> result = debugger::evaluate_condition(context, known->second.expression);
  if (!result) return result.error();
  if (result->is_undefined && !std::exchange(known->second.was_undefined, true))
    on_output(
        fmt::format("condition '{}': it depends on a value that is not written yet, and does not hold\n", condition));
  return result->holds;
}

// Replaces {expression} by its value.
std::string Requests::expand(LaneView& lane, const std::string& message) {
  const LaneContext context{lane, types_of(lane.info()), &kept_};
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t open = message.find('{', at), close = message.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return out + message.substr(at);
    out += message.substr(at, open - at);
    const Result<Value> value =
        evaluate_text(context, message.substr(open + 1, close - open - 1), SideEffects::refused);
    out += value ? shown(context, *value) : "<" + value.error().message + ">";
    at = close + 1;
  }
  return out;
}

// ---- Watched memory

// The memory of a value of the focused lane.
Result<device::Watchpoint> Requests::memory_of(const Frame& frame, const Value& value, std::uint64_t bytes) {
  if (!value.address)
    return Error{ErrorKind::bad_input,
                 value.pieces.empty() ? "this value is computed: only memory and registers can be watched"
                                      : "this value is in several registers: watch its members",
                 ""};
  if (bytes == 0) return Error{ErrorKind::bad_input, "the size of this value is not known", ""};
  constexpr std::uint64_t kMost = std::uint64_t{1} << 16;
  if (bytes > kMost)
    return Error{ErrorKind::bad_input, fmt::format("{} bytes; at most {} can be watched at once", bytes, kMost), ""};
  device::Watchpoint w;
  StateSpace space = value.address->space;
  std::uint64_t at = value.address->value;
  if (space == StateSpace::generic || space == StateSpace::none) {
    if (in_shared(GenericAddress{at})) {
      space = StateSpace::shared;
      at -= kSharedWindow;
    } else if (in_local(GenericAddress{at})) {
      space = StateSpace::local;
      at -= kLocalWindow;
    }
  }
  if (space == StateSpace::param) return Error{ErrorKind::bad_input, "a kernel cannot write its parameters", ""};
  w.space = space == StateSpace::shared || space == StateSpace::local ? space : StateSpace::global;
  w.low = at;
  w.high = at + bytes;
  w.block = frame.warp->block_linear;
  w.warp = frame.warp->context.warp;
  w.lane = frame.lane;
  std::vector<std::uint8_t> now(bytes);
  if (Status read = device::peek(*frame.warp, frame.lane, w.space, w.low, now); !read) return read.error();
  return w;
}

// The register of a value, in the call of the frame.
Result<debugger::WatchedRegister> Requests::register_of(const Frame& frame, const Value& value) {
  const debugger::StoppedWarp& look = *looks_[frame.warp];
  Result<debugger::WatchedRegister> out =
      debugger_.find_register(look, frame.lane, look.frames()[frame.index], value.variable, *value.reg);
  if (!out) return out;
  Value part;
  part.type = value.type;
  part.bit_offset = value.bit_offset;
  part.bit_size = value.bit_size;
  out->read = [this, part](LaneView& lane, ptx::RegId reg) {
    Value now = part;
    now.reg = reg;
    std::vector<std::uint8_t> bytes;
    if (!debugger::load({lane, types_of(lane.info())}, now)) return bytes;
    bytes = now.bytes;
    now.undefined.resize(bytes.size());
    bytes.insert(bytes.end(), now.undefined.begin(), now.undefined.end());
    return bytes;
  };
  return out;
}

// Finds the memory or the register behind an expression.
Result<Requests::WatchedValue> Requests::watched_value(const Frame& frame, const std::string& text) {
  const Result<Inspected> inspected = inspect(frame);
  if (!inspected) return inspected.error();
  const LaneContext context = inspected->context();
  const Result<Value> value = evaluate_text(context, text, SideEffects::refused);
  if (!value) return value.error();
  WatchedValue out;
  out.type = value->type;
  if (value->reg) {
    Result<debugger::WatchedRegister> found = register_of(frame, *value);
    if (!found) return found.error();
    out.in_register = found.take();
    return out;
  }
  Result<device::Watchpoint> memory = memory_of(frame, *value, context.types.size(value->type));
  if (!memory) return memory.error();
  out.memory = *memory;
  if (memory->space == StateSpace::local)
    out.in_call = debugger_.find_call(*looks_[frame.warp], frame.lane, memory->low);
  return out;
}

debugger::Debugger::Show Requests::shower(debuginfo::DebugInfo* info, debuginfo::TypeId type) {
  return [this, info, type](device::WarpFiber& warp, const std::vector<std::uint8_t>& bytes) -> std::string {
    const debugger::StoppedWarp look = debugger_.look_at(warp);
    const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2);
    if (look.frames().empty() || &look.info() != info)
      return fmt::format("{} bytes of another module", bytes.size() / 2);
    Value value;
    value.type = type;
    value.bytes.assign(bytes.begin(), middle);
    if (std::any_of(middle, bytes.end(), [](std::uint8_t bits) { return bits != 0; }))
      value.undefined.assign(middle, bytes.end());
    const std::unique_ptr<LaneView> lane = look.lane(0, 0);
    return shown({*lane, types_of(*info)}, value);
  };
}

Requests::Body Requests::data_breakpoint_info(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  std::string text = json::text(arguments, "name");
  const auto reference = json::get<std::int64_t>(arguments, "variablesReference");
  if (reference >= 1 && reference <= static_cast<std::int64_t>(lists_.size())) {
    const Listed& listed = lists_[static_cast<std::size_t>(reference) - 1];
    if (const Result<Inspected> inspected = inspect(listed.frame); inspected && listed.of == Listed::Of::children) {
      const std::uint64_t count = debugger::child_count(*inspected->types, listed.value);
      for (const debugger::Child& child : debugger::children(inspected->context(), listed.value, listed.path, 0, count))
        if (child.name == text) text = child.path;
    }
  }
  Result<WatchedValue> value = watched_value(*frame, text);
  if (!value) return Json{{"dataId", nullptr}, {"description", value.error().message}};
  data_ids_.push_back({value.take(), text, &debugger_.look_at(*frame->warp).info()});
  return Json{{"dataId", fmt::format("{}", data_ids_.size())},
              {"description", text},
              {"accessTypes", {"read", "write", "readWrite"}},
              {"canPersist", false}};
}

Requests::Body Requests::set_data_breakpoints(const Json& arguments) {
  for (const unsigned number : of_data_) debugger_.remove(number);
  of_data_.clear();
  Json list = Json::array();
  const auto wanted = arguments.find("breakpoints");
  if (wanted == arguments.end() || !wanted->is_array()) return Json{{"breakpoints", list}};
  if (!wanted->empty() && !debugger_.in_kernel())
    return Error{ErrorKind::bad_input, "values can be watched only while a kernel is stopped", ""};
  for (const Json& one : *wanted) {
    if (!one.is_object()) continue;
    const std::size_t id = std::strtoull(json::text(one, "dataId").c_str(), nullptr, 10);
    if (id == 0 || id > data_ids_.size()) {
      list.push_back({{"verified", false}, {"message", "this value was never asked for"}});
      continue;
    }
    const DataId& data = data_ids_[id - 1];
    std::string access = json::text(one, "accessType");
    if (access.empty()) access = "write";
    debugger::Debugger::WatchOptions options{data.text, json::text(one, "condition"), json::text(one, "hitCondition"),
                                             access == "write", shower(data.info, data.value.type)};
    WatchedValue value = data.value;
    const auto set_access = [&](auto& place) {
      place.reads = access != "write";
      place.writes = access != "read";
    };
    set_access(value.memory);
    if (value.in_register) set_access(*value.in_register);
    const Result<unsigned> number = value.in_register
                                        ? debugger_.watch(std::move(*value.in_register), std::move(options))
                                        : debugger_.watch(value.memory, value.in_call, std::move(options));
    if (!number) {
      list.push_back({{"verified", false}, {"message", number.error().message}});
      continue;
    }
    of_data_.insert(*number);
    list.push_back({{"id", *number}, {"verified", true}});
  }
  return Json{{"breakpoints", std::move(list)}};
}

Requests::Body Requests::last_write(const Json& arguments) {
  const Result<Frame> frame = frame_of(arguments);
  if (!frame) return frame.error();
  const Result<WatchedValue> value = watched_value(*frame, json::text(arguments, "expression"));
  if (!value) return value.error();
  const FocusPlace here{focus_warp_->block_linear, focus_warp_->context.warp, focus_lane_};
  if (Status begun = value->in_register ? debugger_.go_to_last_write(*value->in_register)
                                        : debugger_.go_to_last_write(value->memory);
      !begun)
    return begun.error();
  focus_before_ = here;
  forget();
  return Json{{"description", "goes to the last write"}};
}

// As many bytes as can be read from the address on; at most 1 MiB.
Requests::Body Requests::read_memory(const Json& arguments) {
  const std::string reference = json::text(arguments, "memoryReference");
  char* end = nullptr;
  const std::uint64_t named = std::strtoull(reference.c_str(), &end, 0);
  if (reference.empty() || *end != '\0')
    return Error{ErrorKind::bad_input, fmt::format("'{}' is no address", reference), "write 0x and hexadecimal digits"};
  const std::uint64_t from = named + static_cast<std::uint64_t>(json::get<std::int64_t>(arguments, "offset"));
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  const std::uint64_t count = std::min(json::get<std::uint64_t>(arguments, "count"), kMost);
  const Result<Inspected> inspected = inspect({focus_warp_, focus_lane_, 0});
  if (!inspected) return inspected.error();
  const auto reads = [&](std::vector<std::uint8_t>& bytes) {
    return static_cast<bool>(inspected->lane->read({StateSpace::generic, from}, bytes));
  };
  std::vector<std::uint8_t> bytes(count);
  if (count > 0 && !reads(bytes)) {  // the longest part that is allocated
    std::uint64_t good = 0, bad = count;
    while (bad - good > 1) {
      const std::uint64_t middle = good + (bad - good) / 2;
      bytes.resize(middle);
      (reads(bytes) ? good : bad) = middle;
    }
    bytes.resize(good);
    if (good > 0) (void)reads(bytes);
  }
  Json answer = {{"address", fmt::format("{:#x}", from)}, {"data", dap::encode_base64(bytes)}};
  if (bytes.size() < count) answer["unreadableBytes"] = count - bytes.size();
  return answer;
}

Requests::Body Requests::launches(const Json&) {
  const device::Launch& launch = debugger_.launch();
  const auto three = [](const Dim3& d) { return Json::array({d.x, d.y, d.z}); };
  std::string why;
  std::vector<debugger::Debugger::KnownLaunch> known = debugger_.known_launches(&why);
  if (known.empty()) known.push_back({debugger_.launch_number(), launch.back, launch.kernel->demangled, launch.config});
  Json list = Json::array();
  for (const auto& one : known)
    list.push_back({{"id", one.number},
                    {"kernel", one.kernel},
                    {"grid", three(one.config.grid)},
                    {"block", three(one.config.block)},
                    {"stream", one.config.stream == 0 ? "" : std::to_string(one.config.stream)},
                    {"state", one.back == launch.back  ? "stopped"
                              : one.back > launch.back ? "ended, can be entered again"
                              : one.back == 0          ? "the newest"
                                                       : "later"}});
  return Json{{"launches", std::move(list)}, {"whyNoMore", why}};
}

}  // namespace warpgrind::adapter
