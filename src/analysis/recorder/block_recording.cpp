#include "recorder/block_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/demangle.h"
#include "device/module.h"
#include "events/blocks.h"
#include "gpu/access_rules.h"
#include "recorder/lane_text.h"

namespace warpgrind::recorder {

namespace {

constexpr std::size_t kMostAccesses = 64;           // of one step
constexpr std::uint64_t kMostWrittenBytes = 65536;  // of one write to shared memory, whose values are recorded
constexpr std::uint64_t kMostGlobalBytes = 512;     // of one access to global memory, likewise: 16 of each lane
constexpr std::size_t kStepBytes = 48, kAccessBytes = 150, kChangeBytes = 60;  // in the profile, without the texts

const char* kind_name(AccessType type) {
  switch (type) {
    case AccessType::load:
      return "load";
    case AccessType::store:
      return "store";
    case AccessType::atomic:
      return "atomic";
    default:
      return "reduction";
  }
}

// "_ZZ4tileE1a" and "tile_$_a" name the variable `a`.
std::string short_name(const std::string& ptx) {
  std::string name = demangle(ptx);
  if (const std::size_t colons = name.rfind("::"); colons != std::string::npos) name.erase(0, colons + 2);
  constexpr std::string_view kStatic = "_non_const_";  // of nvcc -G: __cuda_local_var_39_35_non_const_tile
  if (const std::size_t at = name.find(kStatic); at != std::string::npos) name.erase(0, at + kStatic.size());
  return name;
}

// The number format that an instruction names: st.shared.f32. Bits say nothing.
std::string format_in(const std::string& ptx) {
  const std::string opcode = ptx.substr(0, ptx.find_first_of(" \t"));
  const auto has = [&](const char* word) { return opcode.find(word) != std::string::npos; };
  if (has(".f32") || has(".f64")) return "floating";
  if (has(".bf16")) return "bfloat16";
  if (has(".f16")) return "half";
  if (has(".s8") || has(".s16") || has(".s32") || has(".s64")) return "signed";
  return has(".u") ? "unsigned" : "";
}

}  // namespace

BlockRecording::BlockRecording(const events::Launch& launch, const Dim3& index, const observers::Watched& watched,
                               const Limits& limits)
    : watched_(watched), limits_(limits), launch_(launch), linear_(events::linear_block(launch, index)) {
  out_.mangled_name = launch.facts->name;
  out_.name = demangle(launch.facts->name);
  out_.device = launch.device;
  out_.grid = launch.grid;
  out_.block = launch.block;
  out_.index = index;
  out_.launch = launch.id;
  out_.range = launch.range;
  if (limits_.most_bytes == 0) out_.cut = why_full();
}

std::string BlockRecording::why_full() const {
  return limits_.is_last ? "the recordings of this run have reached their limit; -k NAME leaves all of it to one kernel"
                         : fmt::format("it has {} KiB; --steps-limit KIB is the limit", limits_.most_bytes >> 10);
}

void BlockRecording::begin(const device::Launch& launch, debuginfo::DebugInfo& info) {
  out_.shared_bytes = launch.shared_size;
  out_.no_variables = info.why_no_variables(launch.kernel->function);
  variables_ = std::make_unique<LaneVariables>(info, watched_.find_allocation);
  const jit::KernelLayout& layout = launch.module->layout(launch.kernel->function);
  const ptx::Module& module = launch.module->module();
  const auto add = [&](const ptx::Variable& v, std::uint64_t offset) {
    const std::uint64_t bytes = v.unsized ? launch.shared_size - std::min(launch.shared_size, offset) : v.size;
    const unsigned bits = ptx::bits(v.type);
    if (bytes != 0)
      by_layout_.push_back(
          {short_name(v.name), "", "", offset, bytes, v.type == ptx::ScalarType::b8 ? 4 : bits / 8, {}});
  };
  for (const auto& [number, offset] : layout.shared_module) add(module.variables[number], offset);
  for (const auto& [at, offset] : layout.shared_function) add(module.functions[at.first].variables[at.second], offset);
  for (const ptx::Variable& v : module.variables)
    if (v.space == StateSpace::shared && v.unsized && launch.shared_size > layout.dynamic_offset)
      add(v, layout.dynamic_offset);
}

// ---- Steps

BlockRecording::Warp& BlockRecording::warp(std::uint32_t number) {
  const auto [at, fresh] = warps_.try_emplace(number);
  if (fresh) at->second.last.fill(Warp::kNone);
  return at->second;
}

void BlockRecording::count(std::size_t bytes) {
  bytes_ += bytes;
  if (!out_.cut.empty()) return;
  if (out_.steps.size() >= limits_.most_steps)
    out_.cut = fmt::format("the block takes more than {} steps", limits_.most_steps);
  else if (bytes_ >= limits_.most_bytes)
    out_.cut = why_full();
}

std::uint32_t BlockRecording::place_of(const debugger::StoppedWarp& warp) {
  results::RecordedPlace place;
  std::string key;
  for (std::size_t i = 0; i < warp.frames().size(); ++i) {
    const debuginfo::Frame& frame = warp.frames()[i].text;
    key += fmt::format("{}:{}:{}\n", frame.place.file, frame.place.line, frame.function);
    if (i == 0) {
      place.file = frame.place.file;
      place.function = frame.function;
      place.line = frame.place.line;
    } else {
      place.calls.push_back({frame.place.file, warp.frames()[i - 1].text.function, frame.place.line});
    }
  }
  const auto [at, fresh] = place_numbers_.try_emplace(key, static_cast<std::uint32_t>(out_.places.size()));
  if (fresh) out_.places.push_back(std::move(place));
  return at->second;
}

void BlockRecording::add_step(std::uint32_t number, std::uint32_t place, LaneMask lanes) {
  Warp& w = warp(number);
  const auto step = static_cast<std::uint32_t>(out_.steps.size());
  results::RecordedStep& s = out_.steps.emplace_back();
  s.warp = number;
  s.place = place;
  if (w.step == Warp::kNone || lanes != w.lanes) s.lanes = fmt::format("{:x}", lanes);
  step_lanes_.push_back(lanes);
  w.step = step;
  w.lanes = lanes;
  for (LaneMask left = lanes; left != 0; left &= left - 1) w.last[std::countr_zero(left)] = step;
  const results::RecordedPlace& p = out_.places[place];
  w.done[{p.file, p.line}] |= lanes;
  count(kStepBytes);
}

// The changes belong to the last steps of their lanes.
void BlockRecording::add_changes(const debugger::StoppedWarp& stopped, Warp& w, LaneMask lanes) {
  const auto line_done = [&](unsigned lane, const debuginfo::SourcePlace& declared) {
    const auto found = w.done.find({declared.file, declared.line});
    return found != w.done.end() && (found->second >> lane & 1) != 0;
  };
  for (const LaneVariables::Change& change : variables_->look(stopped, lanes, line_done)) {
    std::map<std::uint32_t, LaneMask> by_step;
    for (LaneMask left = change.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      by_step[w.last[lane] == Warp::kNone ? w.step : w.last[lane]] |= LaneMask{1} << lane;
    }
    for (const auto& [step, mask] : by_step) {
      std::vector<std::string> texts;
      for (LaneMask left = mask; left != 0; left &= left - 1) texts.push_back(change.texts[std::countr_zero(left)]);
      out_.steps[step].changes.push_back({change.variable, mask, runs_of(std::span<const std::string>(texts))});
      count(kChangeBytes + out_.steps[step].changes.back().values.size());
    }
  }
}

void BlockRecording::stop(const debugger::StoppedWarp& stopped, LaneMask lanes, std::uint32_t place) {
  if (is_full() || ended_ || lanes == 0 || stopped.frames().empty()) return;
  settle();
  Warp& w = warp(stopped.warp());
  const std::uint32_t here = place_of(stopped);
  // Further pieces of the line that the warp is at belong to the step. A line that begins again is a new step.
  const bool is_last = w.step != Warp::kNone && w.step + 1 == out_.steps.size();
  if (is_last && lanes == w.lanes && here == out_.steps[w.step].place && place > w.place) {
    w.place = place;
    return;
  }
  const bool is_first = w.step == Warp::kNone;  // parameters have their values before it
  if (is_first) add_step(stopped.warp(), here, lanes);
  add_changes(stopped, w, lanes);
  if (!is_first) add_step(stopped.warp(), here, lanes);
  w.place = place;
}

// The step to which events of a warp belong. A warp that went on behind a barrier, without a stop since then, gets a
// step of its own, because those of other warps lie between.
results::RecordedStep* BlockRecording::current(std::uint32_t number, LaneMask lanes) {
  Warp& w = warp(number);
  if (is_full() || ended_ || w.step == Warp::kNone) return nullptr;
  if (w.step + 1 != out_.steps.size()) {
    settle();
    add_step(number, out_.steps[w.step].place, lanes);
  }
  return &out_.steps[w.step];
}

// ---- Accesses

std::uint32_t BlockRecording::object_of(const events::Access& a, std::uint64_t address, std::uint64_t* origin) {
  const auto range = watched_.find_allocation(address).value_or(observers::AllocationRange{0, 0});
  *origin = range.first;
  std::string fallback;
  for (const events::AddressOrigin& o : launch_.facts->sites[a.site].origins) {
    if (o.kind == events::AddressOrigin::Kind::variable) fallback = short_name(o.name);
    if (o.kind == events::AddressOrigin::Kind::parameter) fallback = fmt::format("parameter {}", o.index + 1);
  }
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    if (objects_[i].range != range) continue;
    if (objects_[i].fallback.empty()) objects_[i].fallback = fallback;
    return static_cast<std::uint32_t>(i);
  }
  objects_.push_back({range, fallback, ""});
  return static_cast<std::uint32_t>(objects_.size() - 1);
}

void BlockRecording::guess_format(const events::Access& a, std::uint64_t offset) {
  for (results::SharedVariable& v : by_layout_) {
    if (!v.format.empty() || offset < v.offset || offset >= v.offset + v.bytes) continue;
    const events::Site& site = launch_.facts->sites[a.site];
    v.format = format_in(site.text);
    if (!v.format.empty()) v.element_bytes = site.element_bytes;
  }
}

// Of global memory, until the type of a pointer is known.
void BlockRecording::guess_format(const events::Access& a, Object& object) const {
  if (object.format.empty()) object.format = format_in(launch_.facts->sites[a.site].text);
}

void BlockRecording::add(const events::Access& a, const std::string& from) {
  const bool shared = a.space == StateSpace::shared;
  if (!shared && a.space != StateSpace::global && a.space != StateSpace::constant && a.space != StateSpace::texture)
    return;
  // Of calls only memcpy and its like count here: what printf reads is no access of the kernel's own.
  if ((a.path == events::AccessPath::call && !shared) || a.mask == 0) return;
  results::RecordedStep* step = nullptr;
  std::uint32_t number = 0;
  if (from.empty()) {
    step = current(a.warp, a.mask);
    number = warp(a.warp).step;
  } else if (!is_full() && !ended_ && !out_.steps.empty()) {  // of another block: with the step that was last here
    step = &out_.steps.back();
    number = static_cast<std::uint32_t>(out_.steps.size() - 1);
  }
  if (step == nullptr) return;
  if (step->accesses.size() >= kMostAccesses) {
    ++step->accesses_left_out;
    return;
  }
  results::RecordedAccess out;
  out.kind = kind_name(a.type);
  out.space = name(a.space);
  out.bytes = a.bytes;
  out.mask = a.mask;
  out.from = from;
  Written written{number, static_cast<std::uint32_t>(step->accesses.size()), a.host, a.mask, {}, {}};
  std::int64_t offsets[kWarpSize] = {};
  std::vector<std::int64_t> addresses, sizes;
  std::uint64_t origin = 0, written_bytes = 0;
  if (!shared && a.space != StateSpace::texture)
    out.object = object_of(a, a.addresses[std::countr_zero(a.mask)], &origin);
  if (a.space == StateSpace::texture) {  // places in an array have no address: they count from the lowest one
    origin = ~std::uint64_t{0};
    for (LaneMask m = a.mask; m != 0; m &= m - 1) origin = std::min(origin, a.addresses[std::countr_zero(m)]);
  }
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t address = shared ? events::offset_in_owner(a.addresses[lane]) : a.addresses[lane] - origin;
    addresses.push_back(static_cast<std::int64_t>(address));
    sizes.push_back(a.bytes_of(lane));
    offsets[lane] = static_cast<std::int64_t>(shared ? address : a.addresses[lane]);
    written.addresses[lane] = a.addresses[lane];
    written.sizes[lane] = a.bytes_of(lane);
    written_bytes += a.bytes_of(lane);
  }
  out.addresses = runs_of(addresses);
  if (a.sizes != nullptr) out.sizes = runs_of(sizes);
  if (a.sizes == nullptr && a.bytes <= 16 && (shared || a.space == StateSpace::global)) {
    const AccessRules& rules = watched_.model->rules;
    const AccessCost cost = access_cost(
        rules, {a.space, a.type, static_cast<std::uint8_t>(a.bytes), launch_.facts->sites[a.site].shared_atomic},
        offsets, a.mask);
    const auto number_of = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
    if (shared) {
      out.wavefronts = number_of(cost.wavefronts);
      out.ideal_wavefronts = number_of(cost.ideal_wavefronts);
    } else {
      out.sectors = number_of(cost.sectors);
      out.ideal_sectors = number_of(cost.ideal_sectors);
    }
  }
  if (shared) guess_format(a, static_cast<std::uint64_t>(addresses.front()));
  const bool writes = a.type != AccessType::load;
  // Of global memory the two addresses are mostly the same: events::Access::host is 0.
  const bool is_global = a.space == StateSpace::global &&
                         (a.path == events::AccessPath::instruction || a.path == events::AccessPath::async_copy);
  if (out.object) guess_format(a, objects_[*out.object]);
  if (a.host != 0 && shared && writes && written_bytes <= kMostWrittenBytes) written_.push_back(written);
  if (is_global && limits_.values_of_global_memory && written_bytes <= kMostGlobalBytes) {
    if (writes)
      written_.push_back(written);
    else
      out.values = runs_of(words_of(written));  // memory is as before the access
  }
  count(kAccessBytes + out.values.size() + out.addresses.size() + out.sizes.size());
  step->accesses.push_back(std::move(out));
}

std::vector<std::int64_t> BlockRecording::words_of(const Written& w) {
  std::vector<std::int64_t> words;
  for (LaneMask m = w.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const auto* from = reinterpret_cast<const std::uint8_t*>(w.host + w.addresses[lane]);
    for (std::uint32_t at = 0; at < w.sizes[lane]; at += sizeof(std::uint32_t)) {
      std::uint32_t word = 0;
      std::memcpy(&word, from + at, std::min<std::size_t>(sizeof word, w.sizes[lane] - at));
      words.push_back(word);
    }
  }
  return words;
}

// Reads what memory holds after the writes since the last stop.
void BlockRecording::settle() {
  for (const Written& w : written_) {
    results::RecordedAccess& access = out_.steps[w.step].accesses[w.access];
    access.values = runs_of(words_of(w));
    count(access.values.size());
  }
  written_.clear();
}

// ---- Barriers and the end

void BlockRecording::arrive(const events::Barrier& barrier) {
  results::RecordedStep* step = current(barrier.warp, barrier.mask);
  if (step != nullptr && barrier.waits) step->waits = fmt::format("{}", barrier.barrier);
}

void BlockRecording::pass(const events::BarrierPassed& barrier) {
  if (!is_full() && !ended_ && !out_.steps.empty()) out_.steps.back().opens = fmt::format("{}", barrier.barrier);
}

void BlockRecording::end() {
  settle();
  ended_ = true;
}

void BlockRecording::fault(const device::Fault& fault, std::optional<std::uint32_t> number) {
  if (ended_ || out_.fault) return;
  if (!is_full()) settle();
  results::RecordedFault& out = out_.fault.emplace();
  out.text = fault.message;
  out.advice = fault.advice;
  if (!number) {
    const Dim3& b = fault.block;
    if (!(b == out_.index)) out.text = fmt::format("block ({},{},{}): {}", b.x, b.y, b.z, out.text);
    return;
  }
  const Warp& w = warp(*number);
  const std::uint64_t x = out_.block.x, y = out_.block.y;
  const std::uint64_t thread = fault.thread.x + (fault.thread.y + fault.thread.z * y) * x;
  out.lane = static_cast<std::uint32_t>(thread % kWarpSize);
  if (!is_full() && w.step != Warp::kNone && w.step + 1 == out_.steps.size()) out.step = w.step;
}

void BlockRecording::name_objects(results::Profile& profile) {
  for (const Object& object : objects_) {
    results::RecordedObject& out = out_.objects.emplace_back();
    out.name = object.fallback;
    out.format = object.format;
    const auto [first, bytes] = object.range;
    if (bytes == 0) continue;
    out.allocation = observers::allocation_id(profile, object.range);
    for (const LaneVariables::Pointer& p : variables_->pointers()) {
      if (p.address < first || p.address >= first + bytes) continue;
      out.name = p.name;
      out.type = p.type;
      out.offset = static_cast<std::int64_t>(p.address - first);
      out.element_bytes = p.element_bytes;
      if (!p.format.empty()) out.format = p.format;
      break;
    }
  }
}

results::Recording BlockRecording::take(results::Profile& profile) {
  if (!ended_ && out_.cut.empty()) out_.cut = out_.fault ? out_.fault->text : "the launch ended before the block did";
  if (variables_) {
    out_.variables = variables_->variables();
    out_.shared = variables_->shared();
    name_objects(profile);
  }
  // Variables that the compiler left without a type, or that no stop has seen.
  for (const results::SharedVariable& v : by_layout_) {
    const auto known = std::find_if(out_.shared.begin(), out_.shared.end(), [&](results::SharedVariable& s) {
      if (s.offset != v.offset) return false;
      if (s.bytes == 0) s.bytes = v.bytes;  // extern __shared__ has no size of its own
      return true;
    });
    if (known == out_.shared.end()) out_.shared.push_back(v);
  }
  std::sort(out_.shared.begin(), out_.shared.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return std::move(out_);
}

}  // namespace warpgrind::recorder
