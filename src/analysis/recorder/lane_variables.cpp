#include "recorder/lane_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "debugger/format.h"
#include "gpu/addresses.h"

namespace warpgrind::recorder {

using namespace debugger;

namespace {

constexpr std::uint64_t kMostBytes = 256;  // larger structures and arrays of a lane are not recorded
constexpr std::size_t kLongestText = 120;

const char* format_name(NumberFormat format) {
  switch (format) {
    case NumberFormat::boolean:
      return "boolean";
    case NumberFormat::character:
      return "character";
    case NumberFormat::signed_integer:
      return "signed";
    case NumberFormat::unsigned_integer:
      return "unsigned";
    case NumberFormat::floating:
      return "floating";
    case NumberFormat::half:
      return "half";
    case NumberFormat::bfloat16:
      return "bfloat16";
    default:
      return "";
  }
}

// Offset in shared memory; nullopt: the value is elsewhere.
std::optional<std::uint64_t> shared_offset(const Address& address) {
  if (address.space == StateSpace::shared) return address.value & ((std::uint64_t{1} << kClusterShift) - 1);
  if (address.space != StateSpace::generic || !in_shared(GenericAddress{address.value})) return std::nullopt;
  return address.value - kSharedWindow;
}

}  // namespace

std::pair<std::string, std::uint32_t> number_format(const TypeTable& types, TypeId type) {
  constexpr int kDeepest = 8;
  for (int depth = 0; depth < kDeepest && types.is_array(type); ++depth) type = types.stripped(type).target;
  const Type& stripped = types.stripped(type);
  const std::uint32_t parts = std::max<std::uint32_t>(1, stripped.components);
  return {format_name(stripped.format), static_cast<std::uint32_t>(types.size(type) / parts)};
}

namespace {

constexpr std::size_t kMostMembers = 32;

void add_numbers(const TypeTable& types, TypeId type, const std::string& name, std::uint64_t offset, int depth,
                 std::vector<results::SharedMember>& out) {
  constexpr int kDeepest = 4;
  for (const debuginfo::Member& member : types.stripped(type).members) {
    if (member.is_static || member.is_virtual || member.bit_size != 0) continue;
    const std::string path = member.is_base || member.name.empty() ? name
                             : name.empty()                        ? member.name
                                                                   : name + "." + member.name;
    const std::uint64_t at = offset + member.offset;
    if (types.is_structure(member.type)) {
      if (depth < kDeepest) add_numbers(types, member.type, path, at, depth + 1, out);
      continue;
    }
    const auto [format, bytes] = number_format(types, member.type);
    if (format.empty() || out.size() == kMostMembers) continue;
    out.push_back(
        {path, format, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(types.size(member.type)), bytes});
  }
}

// Numbers of a structure, or of the structures in an array; none of other types.
std::vector<results::SharedMember> numbers_in(const TypeTable& types, TypeId type) {
  constexpr int kDeepest = 8;
  for (int depth = 0; depth < kDeepest && types.is_array(type); ++depth) type = types.stripped(type).target;
  std::vector<results::SharedMember> out;
  if (types.is_structure(type)) add_numbers(types, type, "", 0, 0, out);
  return out;
}

}  // namespace

LaneVariables::LaneVariables(debuginfo::DebugInfo& info, observers::FindAllocation find_allocation)
    : info_(info), find_allocation_(std::move(find_allocation)), symbols_(info), types_(symbols_) {}

std::vector<LaneVariables::Visible>& LaneVariables::visible_at(const WarpFrame& frame) {
  const auto [at, fresh] = places_.try_emplace({frame.code, frame.inlined});
  if (!fresh) return at->second;
  for (const debuginfo::VisibleVariable& v : info_.variables(frame.code, frame.inlined))
    if (!v.is_hidden && !v.variable->is_artificial && !v.variable->name.empty())
      at->second.push_back({v, false, false});
  return at->second;
}

LaneVariables::Known& LaneVariables::known(const debuginfo::Variable& variable, const WarpFrame& frame) {
  const auto [at, fresh] = known_.try_emplace(&variable);
  if (fresh) {
    at->second.number = static_cast<std::uint32_t>(variables_.size());
    variables_.push_back({variable.name, types_.name(variable.type), frame.text.function, variable.declared.line,
                          variable.kind == debuginfo::VariableKind::parameter});
  }
  return at->second;
}

void LaneVariables::add_shared(const debuginfo::VisibleVariable& v, std::uint64_t offset) {
  for (const results::SharedVariable& s : shared_)
    if (s.offset == offset && s.name == v.variable->name) return;
  const auto [format, bytes] = number_format(types_, v.variable->type);
  shared_.push_back({v.variable->name, types_.name(v.variable->type), format, offset, types_.size(v.variable->type),
                     bytes, numbers_in(types_, v.variable->type)});
}

// A variable in shared memory belongs to the block: its values are those of the memory.
bool LaneVariables::is_shared(LaneContext context, const debuginfo::VisibleVariable& v) {
  const Result<Value> value = place_variable(context, v.variable->name, v.variable->type, v.location);
  if (!value || !value->address) return false;
  const auto offset = shared_offset(*value->address);
  if (offset) add_shared(v, *offset);
  return offset.has_value();
}

void LaneVariables::add_pointer(LaneContext context, const debuginfo::Variable& variable, const Value& value) {
  if (value.bytes.size() != sizeof(std::uint64_t) || !context.types.is_pointer(value.type)) return;
  std::uint64_t address = 0;
  std::memcpy(&address, value.bytes.data(), sizeof address);
  if (!find_allocation_(address)) return;
  for (const Pointer& p : pointers_)
    if (p.name == variable.name || p.address == address) return;
  const TypeId element = types_.stripped(value.type).target;
  pointers_.push_back({variable.name, types_.name(element), number_format(types_, element).first, address,
                       static_cast<std::uint32_t>(types_.size(element))});
}

// "&in[5]" instead of an address that another run does not have.
std::optional<std::string> LaneVariables::pointer_text(const Value& value) {
  if (!types_.is_pointer(value.type) || value.bytes.size() != sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t address = 0;
  std::memcpy(&address, value.bytes.data(), sizeof address);
  if (address == 0) return "nullptr";
  if (in_shared(GenericAddress{address})) return fmt::format("shared + {}", address - kSharedWindow);
  const auto memory = find_allocation_(address);
  if (!memory) return fmt::format("{:#x}", address);
  for (const Pointer& p : pointers_) {
    if (p.address < memory->first || p.address >= memory->first + memory->second) continue;
    const auto distance = static_cast<std::int64_t>(address - p.address);
    if (p.element_bytes != 0 && distance % p.element_bytes == 0)
      return fmt::format("&{}[{}]", p.name, distance / p.element_bytes);
    return fmt::format("{} + {} bytes", p.name, distance);
  }
  return fmt::format("{:#x}", address);
}

std::string LaneVariables::text(LaneContext context, const Value& value) {
  if (auto pointer = pointer_text(value)) return *pointer;
  TextOptions options;
  options.elements = 16;
  options.describes_pointers = false;
  std::string out = text_of(context, value, options);
  if (out.size() > kLongestText) out = out.substr(0, kLongestText) + "...";
  return out;
}

std::vector<LaneVariables::Change> LaneVariables::look(const StoppedWarp& warp, LaneMask lanes,
                                                       const LineDone& line_done) {
  std::vector<Change> out;
  if (warp.frames().empty()) return out;
  const WarpFrame& frame = warp.frames().front();
  std::vector<Visible>& all = visible_at(frame);
  if (all.empty()) return out;
  // A prologue stores the parameters: before it they have no values.
  const bool has_parameters = frame.code.instruction >= info_.body_begin(frame.code.function) || frame.text.is_inlined;
  std::vector<std::pair<unsigned, std::unique_ptr<LaneView>>> views;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    views.emplace_back(lane, warp.lane(lane, 0));
  }
  for (Visible& v : all) {
    if (!v.asked) {
      v.asked = true;
      v.in_shared = is_shared({*views.front().second, types_}, v.variable);
    }
    const debuginfo::Variable& variable = *v.variable.variable;
    if (v.in_shared || types_.size(variable.type) > kMostBytes) continue;
    const bool parameter = variable.kind == debuginfo::VariableKind::parameter;
    if (parameter && !has_parameters) continue;
    Known& before = known(variable, frame);
    auto& values = before.lanes[warp.warp()];
    Change change{before.number, 0, {}};
    for (const auto& [lane, view] : views) {
      const LaneContext context{*view, types_};
      const Result<Value> value = read_variable(context, v.variable);
      if (!value || value->bytes.empty()) continue;
      Known::Lane& last = values[lane];
      const bool is_new = !last.seen || last.bytes != value->bytes;
      // Before its declaration a variable holds what was there: it is shown from then on, or from its first change.
      const bool shows = parameter || (last.seen && is_new) || line_done(lane, variable.declared);
      if (parameter && !last.seen && frame.text.linkage_name == info_.module().functions[frame.code.function].name)
        add_pointer(context, variable, *value);
      if (shows && (is_new || !last.shown)) {
        change.mask |= LaneMask{1} << lane;
        change.texts[lane] = text(context, *value);
        last.shown = true;
      }
      last.seen = true;
      if (is_new) last.bytes = value->bytes;
    }
    if (change.mask != 0) out.push_back(std::move(change));
  }
  return out;
}

}  // namespace warpgrind::recorder
