// Requests about a stopped launch: warps, frames, values.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "adapter/requests.h"
#include "base/demangle.h"
#include "base/json.h"
#include "device/state.h"
#include "jit/host_code.h"

namespace warpgrind::adapter {

namespace {

constexpr std::int64_t kHostThread = 1 << 30;  // a DAP thread; those of warps are smaller, or of another stop

std::string text_of(const Dim3& d) {
  return fmt::format("({},{},{})", d.x, d.y, d.z);
}

Json list_of(const Dim3& d) {
  return Json::array({d.x, d.y, d.z});
}

std::string waits_for(const device::WarpFiber& f) {
  switch (f.state) {
    case device::WarpState::barrier:
      return fmt::format("barrier {}", f.wait_barrier);
    case device::WarpState::yielded:
    case device::WarpState::due:
      return "its turn";
    case device::WarpState::idle:
    case device::WarpState::running:
      return {};
  }
  return {};
}

}  // namespace

std::int64_t Requests::thread_id(const device::WarpFiber& warp) const {
  return static_cast<std::int64_t>(warp.block_linear * warp.worker->launch->warps_per_block + warp.context.warp) + 1;
}

Result<device::WarpFiber*> Requests::warp_of(const Json& arguments) {
  const auto id = arguments.find("threadId");
  if (id == arguments.end() || !id->is_number_integer()) return focus_warp_;
  for (device::WarpFiber* warp : debugger_.warps())
    if (thread_id(*warp) == id->get<std::int64_t>()) return warp;
  return Error{ErrorKind::bad_input, fmt::format("no resident warp has the thread id {}", id->dump()), ""};
}

// The focused lane, or the warp's first active one.
unsigned Requests::lane_for(const device::WarpFiber& warp) {
  if (&warp == focus_warp_) return focus_lane_;
  const LaneMask lanes = debugger_.look_at(const_cast<device::WarpFiber&>(warp)).lanes();  // NOLINT: only looked at
  return lanes ? static_cast<unsigned>(std::countr_zero(lanes)) : 0;
}

Json Requests::describe_focus() {
  if (!focus_warp_) return {{"threadId", kHostThread}, {"description", "host code"}};
  const debugger::StoppedWarp look = debugger_.look_at(*focus_warp_);
  const Dim3 block = look.block_index(), thread = look.thread_index(focus_lane_);
  return {{"threadId", thread_id(*focus_warp_)},
          {"launch", debugger_.launch_number()},
          {"kernel", debugger_.launch().kernel->demangled},
          {"description", fmt::format("block {}, thread {}, warp {}, lane {}", text_of(block), text_of(thread),
                                      look.warp(), focus_lane_)},
          {"block", list_of(block)},
          {"thread", list_of(thread)},
          {"warp", look.warp()},
          {"lane", focus_lane_}};
}

Requests::Body Requests::threads(const Json&) {
  Json list = Json::array();
  if (debugger_.has_stopped() && !debugger_.in_kernel()) {
    list.push_back({{"id", kHostThread}, {"name", "host thread in " + debugger_.current().call}});
  } else if (debugger_.has_stopped()) {
    for (device::WarpFiber* warp : debugger_.warps()) {
      const debugger::StoppedWarp look = debugger_.look_at(*warp);
      const unsigned last = kWarpSize - 1 - static_cast<unsigned>(std::countl_zero(warp->context.initial_mask));
      list.push_back(
          {{"id", thread_id(*warp)},
           {"name", fmt::format("block {} warp {}: threads {} to {}", text_of(look.block_index()), look.warp(),
                                text_of(look.thread_index(0)), text_of(look.thread_index(last)))}});
    }
  }
  if (list.empty()) list.push_back({{"id", 1}, {"name", "GPU"}});
  return Json{{"threads", std::move(list)}};
}

// The functions of the program that led to the CUDA call, as far as its debug information names them.
Json Requests::host_frames() {
  Json list = Json::array();
  for (const void* caller : debugger_.current().callers) {
    for (const jit::HostPlace& place : jit::host_places(caller)) {
      Json one = {{"id", 0},
                  {"name", place.function.empty() ? "??" : demangle(place.function)},
                  {"line", place.line},
                  {"column", 0}};
      if (!place.file.empty()) one["source"] = sources_.describe(place.file);
      list.push_back(std::move(one));
    }
    if (!list.empty() && list.back()["name"] == "main") break;  // below it are the C library's frames
  }
  if (list.empty()) list.push_back({{"id", 0}, {"name", debugger_.current().call}, {"line", 0}, {"column", 0}});
  return list;
}

Requests::Body Requests::stack_trace(const Json& arguments) {
  if (!debugger_.in_kernel()) {
    const Json frames = host_frames();
    const std::size_t first = std::min(json::get<std::size_t>(arguments, "startFrame"), frames.size());
    const auto wanted = json::get<std::size_t>(arguments, "levels");
    const std::size_t end = wanted ? first + std::min(wanted, frames.size() - first) : frames.size();
    const auto at = [&](std::size_t n) { return frames.begin() + static_cast<std::ptrdiff_t>(n); };
    return Json{{"stackFrames", Json(Json::array_t(at(first), at(end)))}, {"totalFrames", frames.size()}};
  }
  const Result<device::WarpFiber*> warp = warp_of(arguments);
  if (!warp) return warp.error();
  const debugger::StoppedWarp look = debugger_.look_at(**warp);
  Json list = Json::array();
  const auto from = json::get<std::size_t>(arguments, "startFrame");
  const auto levels = json::get<std::size_t>(arguments, "levels");
  const std::size_t most = levels ? levels : look.frames().size();
  const auto format = arguments.find("format");
  const Json parameters = format != arguments.end() && format->is_object() ? *format : Json::object();
  for (std::size_t f = from; f < look.frames().size() && list.size() < most; ++f) {
    const debugger::WarpFrame& frame = look.frames()[f];
    frames_.push_back({*warp, lane_for(**warp), static_cast<std::uint32_t>(f)});
    Json one = {{"id", frames_.size()},
                {"name", frame.text.function + parameter_text(frames_.back(), parameters)},
                {"line", frame.text.place.line},
                {"column", frame.text.place.column},
                {"instructionPointerReference", ptx_address(frame.code.function, frame.code.instruction)},
                {"place", place_in_ptx(frame.code)}};
    if (!frame.text.place.file.empty()) one["source"] = sources_.describe(frame.text.place.file);
    list.push_back(std::move(one));
  }
  return Json{{"stackFrames", std::move(list)}, {"totalFrames", look.frames().size()}};
}

Result<Requests::Frame> Requests::frame_of(const Json& arguments) {
  const auto id = arguments.find("frameId");
  if (id == arguments.end() || !id->is_number_integer()) return Frame{focus_warp_, focus_lane_, 0};
  const auto number = id->get<std::int64_t>();
  if (number < 1 || number > static_cast<std::int64_t>(frames_.size()))
    return Error{ErrorKind::bad_input, fmt::format("there is no frame {} since the program went on", number), ""};
  return frames_[static_cast<std::size_t>(number) - 1];
}

Requests::Body Requests::exception_info(const Json&) {
  const debugger::Stop& stop = debugger_.current();
  if (stop.reason != debugger::StopReason::exception)
    return Error{ErrorKind::bad_input, "the program did not stop at an error", ""};
  return Json{{"exceptionId", stop.exception},
              {"description", stop.text},
              {"breakMode", "always"},
              {"details", {{"message", stop.text}, {"stackTrace", stop.details}}}};
}

namespace {

// "blockIdx.x == 3 && threadIdx.x == 40": coordinates that can differ. `thread` unset: of the block alone.
std::string condition_of(const Dim3& block, const std::optional<Dim3>& thread, const device::WarpFiber& like) {
  const Dim3 grid = like.worker->launch->config.grid, threads = like.worker->launch->config.block;
  std::string out;
  const auto add = [&](const char* name, std::uint32_t index, std::uint32_t size) {
    if (size > 1) out += fmt::format("{}{} == {}", out.empty() ? "" : " && ", name, index);
  };
  add("blockIdx.x", block.x, grid.x);
  add("blockIdx.y", block.y, grid.y);
  add("blockIdx.z", block.z, grid.z);
  if (thread) {
    add("threadIdx.x", thread->x, threads.x);
    add("threadIdx.y", thread->y, threads.y);
    add("threadIdx.z", thread->z, threads.z);
  }
  return out.empty() ? "CONDITION" : out;
}

}  // namespace

Requests::Body Requests::focus(const Json& arguments) {
  const auto three = [&](const char* name) -> std::optional<Dim3> {
    const auto at = arguments.find(name);
    if (at == arguments.end() || !at->is_array() || at->size() != 3) return std::nullopt;
    Dim3 out;
    const bool good =
        json::read_value((*at)[0], out.x) && json::read_value((*at)[1], out.y) && json::read_value((*at)[2], out.z);
    return good ? std::optional(out) : std::nullopt;
  };
  const auto number = [&](const char* name) -> std::optional<unsigned> {
    const auto at = arguments.find(name);
    unsigned out = 0;
    return at != arguments.end() && json::read_value(*at, out) ? std::optional(out) : std::nullopt;
  };
  const Dim3 block = three("block").value_or(debugger_.look_at(*focus_warp_).block_index());
  const bool other_block = !(block == debugger_.look_at(*focus_warp_).block_index());
  std::optional<Dim3> in_block = three("thread");
  unsigned warp = number("warp").value_or(other_block ? 0 : focus_warp_->context.warp);
  unsigned lane = number("lane").value_or(number("warp") || other_block ? ~0u : focus_lane_);
  if (const auto& thread = in_block) {
    const auto& c = focus_warp_->context;
    if (thread->x >= c.ntid[0] || thread->y >= c.ntid[1] || thread->z >= c.ntid[2])
      return Error{ErrorKind::bad_input,
                   fmt::format("a block has no thread {}: its size is ({},{},{})", text_of(*thread), c.ntid[0],
                               c.ntid[1], c.ntid[2]),
                   ""};
    const std::uint32_t linear = thread->x + c.ntid[0] * (thread->y + c.ntid[1] * thread->z);
    warp = linear / kWarpSize;
    lane = linear % kWarpSize;
  }
  for (device::WarpFiber* one : debugger_.warps()) {
    const debugger::StoppedWarp look = debugger_.look_at(*one);
    if (!(look.block_index() == block) || look.warp() != warp) continue;
    if (lane == ~0u) lane = look.lanes() ? static_cast<unsigned>(std::countr_zero(look.lanes())) : 0;
    if (lane >= kWarpSize || !(one->context.initial_mask >> lane & 1))
      return Error{ErrorKind::bad_input, fmt::format("warp {} has no lane {}", warp, lane), ""};
    focus_warp_ = one;
    focus_lane_ = lane;
    return describe_focus();
  }
  return Error{
      ErrorKind::bad_input,
      fmt::format("warp {} of block {} is not resident: it has ended or not begun", warp, text_of(block)),
      "a breakpoint with a condition stops there: break LINE if " + condition_of(block, in_block, *focus_warp_)};
}

Requests::Body Requests::warps(const Json&) {
  Json blocks = Json::array();
  std::uint64_t last = ~std::uint64_t{0};
  for (device::WarpFiber* warp : debugger_.warps()) {
    const debugger::StoppedWarp look = debugger_.look_at(*warp);
    if (warp->block_linear != last)
      blocks.push_back({{"block", list_of(look.block_index())}, {"warps", Json::array()}});
    last = warp->block_linear;
    Json one = {{"threadId", thread_id(*warp)},
                {"warp", look.warp()},
                {"active", fmt::format("{:#010x}", look.lanes())},
                {"focused", warp == focus_warp_}};
    if (!look.frames().empty()) {
      const debuginfo::SourcePlace& at = look.frames().front().text.place;
      one["place"] = fmt::format("{}:{}", std::filesystem::path(at.file).filename().string(), at.line);
    }
    if (const std::string waits = waits_for(*warp); !waits.empty()) one["waits"] = waits;
    blocks.back()["warps"].push_back(std::move(one));
  }
  return Json{{"blocks", std::move(blocks)}};
}

Requests::Body Requests::loaded_sources(const Json&) {
  Json list = Json::array();
  for (const std::string& file : debugger_.files()) list.push_back(sources_.describe(file));
  return Json{{"sources", std::move(list)}};
}

// Only files of kernels are read.
Requests::Body Requests::source(const Json& arguments) {
  const auto given = arguments.find("source");
  std::string path = given == arguments.end() ? "" : sources_.path_of(*given);
  if (path.empty()) path = sources_.path_of(arguments);
  const std::vector<std::string> files = debugger_.files();
  if (std::find(files.begin(), files.end(), path) == files.end())
    return Error{ErrorKind::bad_input, fmt::format("'{}' is no source file of a kernel that was launched", path), ""};
  auto text = Sources::read(path);
  if (!text) return text.error();
  return Json{{"content", text.take()}};
}

}  // namespace warpgrind::adapter
