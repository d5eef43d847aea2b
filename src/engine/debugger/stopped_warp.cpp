// Frames and registers of a stopped warp.
#include "debugger/stopped_warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/library_headers.h"
#include "debuginfo/readable_names.h"
#include "device/access/peek.h"
#include "device/module.h"
#include "flow/forms.h"
#include "jit/stop_registers.h"

namespace warpgrind::debugger {

namespace {

using flow::FormKind;
using RegisterBits = LaneView::RegisterBits;

std::uint64_t low_bits(std::uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Bytes of one value in a slot; a predicate of one lane is a byte, those of a vector are bits.
std::size_t slot_bytes(ptx::ScalarType type) {
  const unsigned bits = ptx::bits(type);
  return bits == 0 ? 8 : (bits + 7) / 8;
}

RegisterBits value_at(const std::uint8_t* at, std::size_t bytes) {
  RegisterBits out;
  std::memcpy(&out.low, at, std::min<std::size_t>(bytes, 8));
  if (bytes > 8) std::memcpy(&out.high, at + 8, bytes - 8);
  return out;
}

class StoppedLane final : public LaneView {
 public:
  StoppedLane(const StoppedWarp& warp, unsigned lane, const WarpFrame& frame)
      : fiber_(warp.fiber()), info_(warp.info()), explanations_(warp.explanations()), frame_(frame), lane_(lane) {}

  debuginfo::DebugInfo& info() const override { return info_; }
  debuginfo::CodePlace code() const override { return frame_.code; }
  std::uint32_t frame() const override { return frame_.inlined; }
  unsigned lane() const override { return lane_; }
  std::uint32_t warp() const override { return context().warp; }
  Dim3 thread_index() const override {
    const std::uint32_t linear = context().warp * kWarpSize + lane_;
    const Dim3 block = block_dim();
    return {linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
  }
  Dim3 block_index() const override { return {context().ctaid[0], context().ctaid[1], context().ctaid[2]}; }
  Dim3 block_dim() const override { return {context().ntid[0], context().ntid[1], context().ntid[2]}; }
  Dim3 grid_dim() const override { return {context().nctaid[0], context().nctaid[1], context().nctaid[2]}; }

  std::string why_unknown(ptx::RegId r) const override {
    if (frame_.frame->slots) return {};
    if (!(frame_.frame->lanes >> lane_ & 1)) return "optimised code keeps registers of active lanes only";
    const jit::StopRegisters live(function());
    if (!jit::is_member(live.before(frame_.code.instruction), r)) return "optimised code does not use it here any more";
    return {};
  }

  RegisterBits read_register(ptx::RegId r) const override {
    if (!why_unknown(r).empty()) return {};
    const jit::RegisterForm& form = frame_.frame->forms[r];
    const void* slots[jit::kRegisterSlots];
    for (unsigned k = 0; k < jit::kRegisterSlots; ++k) slots[k] = slot(r, k);
    const ptx::ScalarType type = function().registers[r].type;
    const auto* first = static_cast<const std::uint8_t*>(slots[0]);
    switch (form.kind) {
      case FormKind::varying:
        if (type == ptx::ScalarType::pred) return {load<std::uint32_t>(first) >> lane_ & 1, 0};
        return value_at(first + lane_ * slot_bytes(type), slot_bytes(type));
      case FormKind::affine:
      case FormKind::wide: {
        const std::uint32_t bracket = lane_term(form, slots);
        if (form.kind == FormKind::affine) return {low_bits(bracket, ptx::bits(type)), 0};
        const std::uint64_t extended =
            form.is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(bracket)}) : bracket;
        return {load<std::uint64_t>(slots[1]) + static_cast<std::uint64_t>(form.scale) * extended, 0};
      }
      default: {
        RegisterBits out = value_at(first, slot_bytes(type));
        if (type == ptx::ScalarType::pred) out.low &= 1;
        return out;
      }
    }
  }

  Status write_register(ptx::RegId r, RegisterBits bits) override {
    if (!frame_.frame->slots)
      return Error{ErrorKind::bad_input, "registers of optimised code cannot be changed",
                   "compile the program with -G"};
    const jit::RegisterForm& form = frame_.frame->forms[r];
    if (form.kind == FormKind::uniform) return write_uniform(r, bits);
    auto* at = static_cast<std::uint8_t*>(frame_.frame->slots[std::size_t{r} * jit::kRegisterSlots]);
    const ptx::ScalarType type = function().registers[r].type;
    if (form.kind != FormKind::varying)
      return Error{ErrorKind::bad_input,
                   fmt::format("register {} is computed for all lanes at once, from the number of the lane: one lane's "
                               "value cannot be changed",
                               function().registers[r].name),
                   ""};
    explanations_.set_by_user.insert(key_of(r));
    if (type == ptx::ScalarType::pred) {
      auto lanes = load<std::uint32_t>(at);
      lanes = (lanes & ~(1u << lane_)) | static_cast<std::uint32_t>(bits.low & 1) << lane_;
      std::memcpy(at, &lanes, sizeof lanes);
      return Ok{};
    }
    const std::size_t bytes = slot_bytes(type);
    at += lane_ * bytes;
    std::memcpy(at, &bits.low, std::min<std::size_t>(bytes, 8));
    if (bytes > 8) std::memcpy(at + 8, &bits.high, bytes - 8);
    return Ok{};
  }

  Result<Address> address_of(const debuginfo::InVariable& v) const override {
    const auto offset = static_cast<std::uint64_t>(v.offset);
    device::LoadedModule& module = *launch().module;
    const ptx::Module& text = module.module();
    const jit::KernelLayout& layout = module.layout(launch().kernel->function);
    const std::uint32_t f = frame_.code.function;
    const auto none = [&](const std::string& name) {
      return Error{ErrorKind::bad_input, fmt::format("{} has no place in memory in this kernel", name), ""};
    };
    const std::uint64_t window =
        context().explicit_cluster ? std::uint64_t{context().cluster_rank} << kClusterShift : 0;
    const auto shared = [&](const ptx::Variable& variable, const std::uint64_t* at) -> Result<Address> {
      if (variable.unsized) return Address{StateSpace::shared, window + context().dynamic_shared_offset + offset};
      if (!at) return none(variable.name);
      return Address{StateSpace::shared, window + *at + offset};
    };
    const auto find = [](const auto& map, const auto& key) {
      const auto found = map.find(key);
      return found == map.end() ? nullptr : &found->second;
    };
    if (v.scope == ptx::Scope::module) {
      const ptx::Variable& variable = text.variables[v.variable];
      if (variable.space == StateSpace::shared) return shared(variable, find(layout.shared_module, v.variable));
      const std::uint64_t at = module.globals()[v.variable];
      if (at == 0) return none(variable.name);
      return Address{StateSpace::global, at + offset};
    }
    const ptx::Variable& variable = function().variables[v.variable];
    if (variable.space == StateSpace::shared)
      return shared(variable, find(layout.shared_function, std::pair{f, v.variable}));
    if (const std::uint64_t* at = find(layout.local, std::pair{f, v.variable}))
      return Address{StateSpace::local, frame_.frame->local_base + *at + offset};
    if (variable.space == StateSpace::param && function().is_entry && v.variable < function().parameter_count)
      return Address{StateSpace::param, jit::parameter_layout(function())[v.variable].offset + offset};
    return none(variable.name);
  }

  Status read(Address from, std::span<std::uint8_t> bytes) const override {
    return device::peek(fiber_, lane_, from.space, from.value, bytes);
  }
  Status write(Address to, std::span<const std::uint8_t> bytes) override {
    return device::poke(fiber_, lane_, to.space, to.value, bytes);
  }
  void read_undefined(Address from, std::span<std::uint8_t> undefined) const override {
    device::peek_undefined(fiber_, lane_, from.space, from.value, undefined);
  }
  bool is_unset(ptx::RegId reg) const override {
    return explanations_.unset.of(function()).unset_before(frame_.code.instruction, reg);
  }
  std::uint64_t undefined_bits(ptx::RegId reg) const override {
    if (is_unset(reg)) return ~std::uint64_t{0};
    if (!launch().shadow || !frame_.frame->slots) return 0;
    return debugger::undefined_bits(*this, function(), explanations_.sources.of(function()), frame_.code.instruction,
                                    reg,
                                    [this](ptx::RegId r) { return explanations_.set_by_user.contains(key_of(r)); });
  }
  std::string describe(Address address) const override {
    if (address.space != StateSpace::generic && address.space != StateSpace::global) return {};
    const std::string place = device::locate(fiber_, address.value);
    std::string name;
    if (in_shared(GenericAddress{address.value}))
      name = shared_name(address.value - kSharedWindow);
    else if (in_local(GenericAddress{address.value}))
      name = local_name(address.value - kLocalWindow);
    else if (explanations_.origin)
      name = explanations_.origin(address.value);
    return name.empty() ? place : place.empty() ? name : fmt::format("{}, {}", name, place);
  }

 private:
  const jit::WarpContext& context() const { return fiber_.context; }
  const device::Launch& launch() const { return *fiber_.worker->launch; }
  Explanations::RegisterKey key_of(ptx::RegId r) const {
    return {fiber_.block_linear, context().warp, lane_, frame_.code.function, r};
  }
  const ptx::Function& function() const { return info_.module().functions[frame_.code.function]; }

  // "tile+16": the variable that holds its byte `at`.
  static std::string name_within(const std::string& variable, std::uint64_t at) {
    const std::string name = debuginfo::last_name(variable);
    return at == 0 ? name : fmt::format("{}+{}", name, at);
  }

  // The variable at an offset in the block's shared memory; empty: there is none.
  std::string shared_name(std::uint64_t at) const {
    if (context().explicit_cluster) {
      if (at >> kClusterShift != context().cluster_rank) return {};
      at &= (std::uint64_t{1} << kClusterShift) - 1;
    }
    const ptx::Module& text = launch().module->module();
    const jit::KernelLayout& layout = launch().module->layout(launch().kernel->function);
    for (const auto& [variable, offset] : layout.shared_module)
      if (const ptx::Variable& v = text.variables[variable]; at >= offset && at - offset < v.size)
        return name_within(v.name, at - offset);
    for (const auto& [key, offset] : layout.shared_function)
      if (const ptx::Variable& v = text.functions[key.first].variables[key.second];
          at >= offset && at - offset < v.size)
        return name_within(v.name, at - offset);
    const std::uint64_t dynamic = context().dynamic_shared_offset;
    if (at < dynamic) return {};
    for (const ptx::Variable& v : text.variables)
      if (v.unsized && v.space == StateSpace::shared) return name_within(v.name, at - dynamic);
    return {};
  }

  // The visible variable at an offset in the lane's local memory; empty: there is none.
  std::string local_name(std::uint64_t at) const {
    for (const debuginfo::VisibleVariable& v : info_.variables(frame_.code, frame_.inlined)) {
      const auto* place = std::get_if<debuginfo::InVariable>(&v.location);
      if (!place || place->space != StateSpace::local) continue;
      const Result<Address> begin = address_of(*place);
      const std::uint64_t size = info_.type(info_.strip(v.variable->type)).size;
      if (begin.ok() && begin->space == StateSpace::local && at >= begin->value && at - begin->value < size)
        return name_within(v.variable->name, at - begin->value);
    }
    return {};
  }

  // Machine code has one value for the warp. It may use that the value is a multiple of a power of two.
  Status write_uniform(ptx::RegId r, RegisterBits bits) {
    const std::string& name = function().registers[r].name;
    flow::LaneLayout layout;
    layout.row_length = jit::row_length(launch().kernel->shape);
    layout.general = launch().kernel->shape == jit::LaneShape::general;
    const flow::ControlFlow cfg = flow::build_control_flow(function());
    const unsigned zeros = flow::analyse_forms(function(), cfg, layout).forms[r].zeros;
    if (zeros > 0 && zeros < 64 && low_bits(bits.low, zeros) != 0)
      return Error{ErrorKind::bad_input,
                   fmt::format("register {} has one value for the warp, and the code that uses it takes only multiples "
                               "of {}",
                               name, std::uint64_t{1} << zeros),
                   ""};
    const std::size_t bytes = slot_bytes(function().registers[r].type);
    auto* at = static_cast<std::uint8_t*>(frame_.frame->slots[std::size_t{r} * jit::kRegisterSlots]);
    std::memcpy(at, &bits.low, std::min<std::size_t>(bytes, 8));
    if (bytes > 8) std::memcpy(at + 8, &bits.high, bytes - 8);
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      explanations_.set_by_user.insert({fiber_.block_linear, context().warp, lane, frame_.code.function, r});
    if (explanations_.say)
      explanations_.say(fmt::format("{} has one value for all lanes of the warp: it is changed in all of them", name));
    return Ok{};
  }

  // Where the machine code has put a part of a register, or a copy.
  const void* slot(ptx::RegId r, unsigned part) const {
    const std::size_t k = std::size_t{r} * jit::kRegisterSlots + part;
    if (frame_.frame->slots) return frame_.frame->slots[k];
    const auto& copies = reinterpret_cast<const jit::KeptFrame&>(*frame_.frame);
    return copies.kept_at[k] == jit::kNotKept ? nullptr : copies.kept + copies.kept_at[k];
  }

  // b + kx*X(lane) + ky*Y(lane) of an affine or wide register.
  std::uint32_t lane_term(const jit::RegisterForm& form, const void* const* slots) const {
    const auto factor = [&](bool constant, std::int32_t value, const void* slot) {
      return constant ? static_cast<std::uint32_t>(value) : load<std::uint32_t>(slot);
    };
    const jit::LaneShape shape = launch().kernel->shape;
    return load<std::uint32_t>(slots[0]) + factor(form.constant_kx, form.kx, slots[2]) * jit::lane_x(shape, lane_) +
           factor(form.constant_ky, form.ky, slots[3]) * jit::lane_y(shape, lane_);
  }

  device::WarpFiber& fiber_;
  debuginfo::DebugInfo& info_;
  Explanations& explanations_;
  const WarpFrame& frame_;
  const unsigned lane_;
};

// nvcc -G has no calls of functions that it inlined from a header: their code has the header's lines in the function
// itself. It stands at the line of the user's code before it.
void move_out_of_header(const debuginfo::DebugInfo& info, debuginfo::CodePlace code, debuginfo::SourcePlace& place) {
  if (!is_library_header(place.file) || is_library_header(info.function(code.function).declared.file)) return;
  for (std::uint32_t i = code.instruction; i-- > 0;) {
    const debuginfo::SourcePlace before = info.place({code.function, i});
    if (before.line == 0 || is_library_header(before.file)) continue;
    place = before;
    return;
  }
}

}  // namespace

StoppedWarp::StoppedWarp(device::WarpFiber& fiber, debuginfo::DebugInfo& info,
                         const std::vector<jit::StopPlace>& places, Explanations& explanations)
    : fiber_(fiber), info_(info), explanations_(explanations) {
  for (const jit::StopFrame* f = fiber.context.stop_frame; f; f = f->caller) {
    if (f->place >= places.size()) continue;  // it has not reached its first place
    const debuginfo::CodePlace code{places[f->place].function, places[f->place].instruction};
    std::uint32_t inlined = 0;
    std::vector<debuginfo::Frame> texts = info.frames(code);
    // As in all reports, code that was inlined from a library's header stands at the user's line.
    const auto of_user = [](const debuginfo::Frame& t) { return !is_library_header(t.place.file); };
    if (texts.size() == 1) move_out_of_header(info, code, texts[0].place);
    const bool some_of_user = std::any_of(texts.begin(), texts.end(), of_user);
    for (debuginfo::Frame& text : texts) {
      if (!some_of_user || of_user(text)) frames_.push_back({f, code, inlined, std::move(text), f->lanes});
      ++inlined;
    }
  }
}

Dim3 StoppedWarp::block_index() const {
  const jit::WarpContext& c = fiber_.context;
  return {c.ctaid[0], c.ctaid[1], c.ctaid[2]};
}

Dim3 StoppedWarp::thread_index(unsigned lane) const {
  const jit::WarpContext& c = fiber_.context;
  const std::uint32_t linear = c.warp * kWarpSize + lane;
  return {linear % c.ntid[0], linear / c.ntid[0] % c.ntid[1], linear / c.ntid[0] / c.ntid[1]};
}

std::unique_ptr<LaneView> StoppedWarp::lane(unsigned lane, std::uint32_t frame) const {
  return std::make_unique<StoppedLane>(*this, lane, frames_[frame]);
}

}  // namespace warpgrind::debugger
