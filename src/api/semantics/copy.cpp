// Copies and fills of memory: checks, the work itself, and its counts and times.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "base/as_double.h"
#include "base/assert.h"
#include "device/memory/address_space.h"
#include "semantics/operation.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

Place place_of(const void* pointer) {
  auto address = reinterpret_cast<std::uint64_t>(pointer);
  auto& space = device::AddressSpace::instance();
  auto range = space.find(address);
  if (!range) return {space.inside_reserved(address) ? Memory::invalid : Memory::pageable};
  Memory memory = range->managed ? Memory::managed : range->host ? Memory::pinned : Memory::device;
  return {memory, range->device, range->low, range->high, range->id, range->constant};
}

namespace {

// Address range [first, last) that a box of rows and slices touches. nullopt: it goes beyond the end of the address
// space, for example with a negative size.
struct Span {
  std::uint64_t first = 0, last = 0;
};
struct Box {
  std::uint64_t x = 0, y = 0, z = 0;               // position of the first byte: bytes, rows, slices
  std::uint64_t width = 0, height = 1, depth = 1;  // bytes, rows, slices; none of them 0
};
bool add_product(std::uint64_t& sum, std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}
std::optional<Span> span_of(const void* pointer, std::uint64_t pitch, std::uint64_t rows, const Box& box) {
  std::uint64_t slice = 0;
  if (__builtin_mul_overflow(pitch, rows, &slice) && (box.z || box.depth > 1)) return std::nullopt;
  Span s;
  s.first = reinterpret_cast<std::uint64_t>(pointer);
  if (!add_product(s.first, box.z, slice) || !add_product(s.first, box.y, pitch) || !add_product(s.first, box.x, 1))
    return std::nullopt;
  s.last = s.first;
  if (!add_product(s.last, box.depth - 1, slice) || !add_product(s.last, box.height - 1, pitch) ||
      !add_product(s.last, box.width, 1))
    return std::nullopt;
  return s;
}

std::string beyond(const Span& span, const Place& place) {
  thread_state().refused_address = place.low;
  return fmt::format("{} bytes from byte {} on exceed an allocation of {} bytes", span.last - span.first,
                     static_cast<std::int64_t>(span.first - place.low), place.high - place.low);
}

bool fits(std::uint64_t at, std::uint64_t count, std::uint64_t whole) {
  return at <= whole && count <= whole - at;
}

// A side of a copy: its memory, and the reason if the copy may not access it. It is checked again when the copy runs,
// as a stream may have freed the memory in between.
struct Side {
  Place place;
  std::string problem;
};

Side side_of(const CopySide& side, const CopyOperation& copy) {
  Side s;
  if (side.array) {
    s.place.memory = Memory::device;
    const device::Array& a = *side.array;
    if (!fits(side.x, copy.width, a.row_bytes()) || !fits(side.y, copy.height, a.shape().rows()) ||
        !fits(side.z, copy.depth, a.shape().slices()))
      s.problem = fmt::format("{} bytes x {} rows x {} slices at ({}, {}, {}) exceed an array of {} x {} x {}",
                              copy.width, copy.height, copy.depth, side.x, side.y, side.z, a.row_bytes(),
                              a.shape().rows(), a.shape().slices());
    return s;
  }
  s.place = place_of(side.pointer);
  const std::optional<Span> span =
      span_of(side.pointer, side.pitch, side.rows, {side.x, side.y, side.z, copy.width, copy.height, copy.depth});
  if (!span) {
    s.problem = fmt::format("{} bytes go beyond the end of the address space: a negative size?",
                            static_cast<std::uint64_t>(copy.width));
  } else if (!side.pointer) {
    s.problem = "a null pointer";
  } else if (s.place.memory == Memory::invalid) {
    s.problem = fmt::format("{} is device memory that is not allocated (freed before?)", fmt::ptr(side.pointer));
  } else if (s.place.memory == Memory::device || s.place.memory == Memory::managed) {
    if (span->first < s.place.low || span->last > s.place.high) s.problem = beyond(*span, s.place);
  }
  // A copy may go beyond the end of a registered piece of host memory: the memory itself may go on.
  return s;
}

bool kernel_reachable(Memory m) {
  return m == Memory::device || m == Memory::managed || m == Memory::pinned;
}

bool direction_fits(cudaMemcpyKind kind, Memory from, Memory to) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return from != Memory::device && to != Memory::device;
    case cudaMemcpyHostToDevice:
      return from != Memory::device && kernel_reachable(to);
    case cudaMemcpyDeviceToHost:
      return kernel_reachable(from);  // to device memory, too: an H200 copies there (NVIDIA Warp does that)
    case cudaMemcpyDeviceToDevice:
      return kernel_reachable(from) && kernel_reachable(to);
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

const char* direction_name(cudaMemcpyKind kind) {
  constexpr const char* kNames[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                    "cudaMemcpyDeviceToDevice", "cudaMemcpyDefault"};
  static_assert(std::size(kNames) == cudaMemcpyDefault + 1);
  WG_ASSERT(static_cast<std::size_t>(kind) < std::size(kNames));  // check() refuses others first
  return kNames[kind];
}
const char* memory_name(Memory memory) {
  switch (memory) {
    case Memory::device:
      return "device";
    case Memory::managed:
      return "managed";
    case Memory::pinned:
      return "pinned host";
    case Memory::pageable:
      return "pageable host";
    case Memory::invalid:
      break;
  }
  return "unallocated device";
}

std::uint8_t* row(const CopySide& side, std::size_t y, std::size_t z) {
  if (side.array) {
    device::Array& a = *side.array;
    return a.data() + (side.z + z) * a.slice_bytes() + (side.y + y) * a.row_bytes() + side.x;
  }
  return side.pointer + (side.z + z) * side.pitch * side.rows + (side.y + y) * side.pitch + side.x;
}

}  // namespace

CopyOperation linear_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  CopyOperation c;
  c.from.pointer = static_cast<std::uint8_t*>(const_cast<void*>(from));
  c.to.pointer = static_cast<std::uint8_t*>(to);
  c.from.pitch = c.to.pitch = bytes;
  c.from.rows = c.to.rows = 1;
  c.width = bytes;
  c.kind = kind;
  return c;
}

cudaError_t check(const CopyOperation& c) {
  if (c.kind < cudaMemcpyHostToHost || c.kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (c.width == 0 || c.height == 0 || c.depth == 0) return cudaSuccess;
  Side from = side_of(c.from, c), to = side_of(c.to, c);
  for (const CopySide* side : {&c.from, &c.to})
    if (!side->array && c.height > 1 && side->pitch < c.width)
      return refuse(cudaErrorInvalidPitchValue,
                    fmt::format("the pitch of {} bytes is smaller than a row of {}", side->pitch, c.width));
  if (!from.problem.empty()) return refuse(cudaErrorInvalidValue, "source: " + from.problem);
  if (!to.problem.empty()) return refuse(cudaErrorInvalidValue, "destination: " + to.problem);
  if (!direction_fits(c.kind, from.place.memory, to.place.memory))
    return refuse(cudaErrorInvalidValue,
                  fmt::format("{}, but the source is {} and the destination {} memory", direction_name(c.kind),
                              memory_name(from.place.memory), memory_name(to.place.memory)));
  return cudaSuccess;
}

namespace {

// Notes how much of the managed memory the host has written before the GPU writes it.
void see_managed(const void* pointer) {
  const Place place = place_of(pointer);
  if (place.memory == Memory::managed) session::managed_memory().see(place.low, place.high);
}

struct Route {
  timing::CopyPath path = timing::CopyPath::host_to_host;
  timing::HostMemory memory = timing::HostMemory::pinned;
};

Route route_of(const CopyOperation& c) {
  const Side from = side_of(c.from, c), to = side_of(c.to, c);
  auto on_device = [](const Side& s) { return s.place.memory == Memory::device || s.place.memory == Memory::managed; };
  using timing::CopyPath;
  Route route;
  route.path = on_device(from) && on_device(to)
                   ? (c.peer || from.place.device != to.place.device ? CopyPath::peer : CopyPath::device_to_device)
               : on_device(to)   ? CopyPath::host_to_device
               : on_device(from) ? CopyPath::device_to_host
                                 : CopyPath::host_to_host;
  if (from.place.memory == Memory::pageable || to.place.memory == Memory::pageable)
    route.memory = timing::HostMemory::pageable;
  return route;
}

// Memory of one side of a copy, if that is no array.
timing::L2Contents::Span span_of(const CopyOperation& c, const CopySide& s) {
  const std::size_t rows = c.depth > 1 ? s.rows * (c.depth - 1) + c.height : c.height;
  const std::uint64_t begin = reinterpret_cast<std::uint64_t>(s.pointer);
  return {begin, begin + (rows - 1) * s.pitch + c.width, as_double(c.width * c.height * c.depth)};
}

// Asks the host at once for the pages that a copy or fill is the first to touch. A page takes 1.0 us then, and 1.7 us
// by a fault. Hosts that cannot (before Linux 5.14) change nothing.
void prepare_to_touch(void* to, std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096, kFewPages = 16;
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers lack
  const auto first = reinterpret_cast<std::uint64_t>(to);
  const std::uint64_t low = (first + kPage - 1) / kPage * kPage, high = (first + bytes) / kPage * kPage;
  if (high < low + kFewPages * kPage) return;
  unsigned char resident = 0;
  if (::mincore(reinterpret_cast<void*>(low), kPage, &resident) != 0 || (resident & 1) != 0) return;
  ::madvise(reinterpret_cast<void*>(low), high - low, kPopulateWrite);
}

void move_bytes(const CopyOperation& c) {
  bool whole_rows = !c.from.array && !c.to.array && c.from.pitch == c.width && c.to.pitch == c.width;
  if (c.depth == 1 && whole_rows) {
    prepare_to_touch(row(c.to, 0, 0), c.width * c.height);
    std::memmove(row(c.to, 0, 0), row(c.from, 0, 0), c.width * c.height);
    return;
  }
  for (std::size_t z = 0; z < c.depth; z++)
    for (std::size_t y = 0; y < c.height; y++) std::memmove(row(c.to, y, z), row(c.from, y, z), c.width);
}

// ---- For observers

events::CopySide event_side(const CopySide& side) {
  events::CopySide s;
  s.address = reinterpret_cast<std::uint64_t>(row(side, 0, 0));
  if (side.array) {
    s.pitch = side.array->row_bytes();
    s.slice = side.array->slice_bytes();
    s.memory = events::CopyMemory::array;
    return s;
  }
  s.pitch = side.pitch;
  s.slice = side.pitch * side.rows;
  const Place place = place_of(side.pointer);
  s.device = place.device;
  switch (place.memory) {
    case Memory::device:
      s.memory = events::CopyMemory::device;
      break;
    case Memory::managed:
      s.memory = events::CopyMemory::managed;
      break;
    case Memory::pinned:
      s.memory = events::CopyMemory::pinned;
      break;
    default:
      s.memory = events::CopyMemory::pageable;
  }
  return s;
}

void publish(const CopyOperation& c, int device) {
  const device::Device& gpu = session::devices()[device];
  if (!gpu.wants().host_copies) return;
  events::HostCopy copy;
  copy.device = device;
  copy.work = Executor::running_work();
  copy.to = event_side(c.to);
  copy.from = event_side(c.from);
  copy.bytes = c.width;
  copy.rows = c.height;
  copy.slices = c.depth;
  copy.staged = c.staged != nullptr;
  gpu.publish(copy);
}

void publish(const FillOperation& f, int device) {
  const device::Device& gpu = session::devices()[device];
  if (!gpu.wants().host_fills) return;
  events::HostFill fill;
  fill.device = device;
  fill.work = Executor::running_work();
  fill.to = reinterpret_cast<std::uint64_t>(f.pointer);
  fill.bytes = static_cast<std::uint64_t>(f.width) * f.element;
  fill.rows = f.height;
  fill.pitch = f.pitch;
  fill.slices = f.depth;
  fill.slice = f.pitch * f.rows;
  fill.value = f.value;
  fill.value_bytes = f.element;
  gpu.publish(fill);
}

}  // namespace

// An asynchronous copy from or to pageable memory goes through a staging buffer that the host has to fill or empty. A
// small copy to the device (up to 64 KiB, as in drivers) is staged at once, so that the call need not wait.
bool waits_for_host_memory(CopyOperation& c) {
  constexpr std::size_t kTakenAlong = 65536;
  if (c.width == 0 || c.height == 0 || c.depth == 0) return false;
  const Route route = route_of(c);
  if (route.memory != timing::HostMemory::pageable) return false;
  const bool one_piece = !c.from.array && c.height == 1 && c.depth == 1;
  if (route.path != timing::CopyPath::host_to_device || !one_piece || c.width > kTakenAlong) return true;
  const std::uint8_t* first = row(c.from, 0, 0);
  c.staged = std::make_shared<std::vector<std::uint8_t>>(first, first + c.width);
  return false;
}

cudaError_t make_work(const CopyOperation& copy, const Target& target, bool host_blocks, WorkPtr& out) {
  if (cudaError_t error = check(copy)) return error;
  out = std::make_shared<Work>();
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) {
    out->place = [target] { target.host.pay(); };
    return cudaSuccess;
  }
  const Route route = route_of(copy);
  if (!copy.to.array) see_managed(copy.to.pointer);
  // The host waits for the staging buffer, except in a graph (the target then has no stream handle).
  using Part = session::TimelineEntries::HostPart;
  const bool staged = route.memory == timing::HostMemory::pageable && target.handle;
  const Part part = host_blocks || (staged && !copy.staged) ? Part::waits : staged ? Part::stages : Part::none;
  const std::uint64_t bytes = static_cast<std::uint64_t>(copy.width) * copy.height * copy.depth;
  CopyOperation c = copy;
  if (c.staged) {
    WG_ASSERT(c.staged->size() == bytes);
    c.from = {};
    c.from.pointer = c.staged->data();
    c.from.pitch = c.width;
    c.from.rows = 1;
  }
  out->kind = Work::Kind::memory;
  out->what = events::StreamWork::Kind::copy;
  out->run = [c, device = target.device] {
    if (context(device).runs_nothing()) return;
    publish(c, device);
    move_bytes(c);
  };
  const bool in_l2 = route.path == timing::CopyPath::device_to_device && !c.from.array && !c.to.array;
  const timing::L2Contents::Span from = in_l2 ? span_of(c, c.from) : timing::L2Contents::Span{};
  const timing::L2Contents::Span to = in_l2 ? span_of(c, c.to) : timing::L2Contents::Span{};
  out->place = [target, route, bytes, part, in_l2, from, to] {
    target.host.pay();
    session::timeline_entries().copy(target.device, target.stream, *target.host.clock, route.path, route.memory, bytes,
                                     part);
    if (in_l2) session::timeline_entries().copied(target.device, from, to);
  };
  return cudaSuccess;
}

namespace {

// The driver adds the size of a plain fill to its address unchecked. A fill beyond the end of the address space is
// accepted, and faults on the GPU (CUDA 13.0 on an H200).
bool faults_later(const FillOperation& f) {
  return f.element == 1 && f.height == 1 && f.depth == 1;
}

}  // namespace

cudaError_t check(const FillOperation& f) {
  if (f.element != 1 && f.element != 2 && f.element != 4) return cudaErrorInvalidValue;
  if (f.width == 0 || f.height == 0 || f.depth == 0) return cudaSuccess;
  if (f.width > ~std::size_t{0} / f.element) return refuse(cudaErrorInvalidValue, "the width in bytes is too large");
  const std::size_t bytes = f.width * f.element;
  if ((f.height > 1 || f.depth > 1) && f.pitch < bytes)
    return refuse(cudaErrorInvalidPitchValue,
                  fmt::format("the pitch of {} bytes is smaller than a row of {}", f.pitch, bytes));
  if (reinterpret_cast<std::uint64_t>(f.pointer) % f.element || (f.height > 1 && f.pitch % f.element))
    return refuse(cudaErrorInvalidValue, "the address or the pitch is not a multiple of the element size");
  const Place place = place_of(f.pointer);
  if (!kernel_reachable(place.memory))
    return refuse(cudaErrorInvalidValue,
                  fmt::format("{} is {} memory", fmt::ptr(f.pointer), memory_name(place.memory)));
  const std::optional<Span> span = span_of(f.pointer, f.pitch, f.rows, {0, 0, 0, bytes, f.height, f.depth});
  if (!span && faults_later(f)) return cudaSuccess;
  if (span && span->last <= place.high) return cudaSuccess;
  return refuse(cudaErrorInvalidValue,
                span ? beyond(*span, place)
                     : fmt::format("{} bytes go beyond the end of the address space: a negative size?", bytes));
}

namespace {

// Breaks the context and reports the fill as the cause.
void break_context(const FillOperation& f, int device) {
  device::Fault fault;
  fault.kind = device::FaultKind::illegal_address;
  fault.address = reinterpret_cast<std::uint64_t>(f.pointer);
  fault.message = fmt::format("cudaMemset of {} bytes at {} goes beyond the end of the address space",
                              static_cast<std::uint64_t>(f.width), fmt::ptr(f.pointer));
  fault.advice = "check whether the size is a negative number";
  session::findings().add(fault, results::Severity::error);
  cudaError_t none = cudaSuccess;
  context(device).fault.compare_exchange_strong(none, cudaErrorIllegalAddress);
}

void fill_bytes(const FillOperation& f) {
  for (std::size_t z = 0; z < f.depth && f.width; z++) {
    for (std::size_t y = 0; y < f.height; y++) {
      std::uint8_t* at = f.pointer + z * f.pitch * f.rows + y * f.pitch;
      if (f.element == 1) {
        prepare_to_touch(at, f.width);
        std::memset(at, static_cast<int>(f.value & 0xff), f.width);
      } else if (f.element == 2) {
        std::fill_n(reinterpret_cast<std::uint16_t*>(at), f.width, static_cast<std::uint16_t>(f.value));
      } else {
        std::fill_n(reinterpret_cast<std::uint32_t*>(at), f.width, f.value);
      }
    }
  }
}

}  // namespace

cudaError_t make_work(const FillOperation& f, const Target& target, bool host_blocks, WorkPtr& out) {
  if (cudaError_t error = check(f)) return error;
  see_managed(f.pointer);
  out = std::make_shared<Work>();
  out->kind = Work::Kind::memory;
  out->what = events::StreamWork::Kind::fill;
  out->run = [f, device = target.device] {
    if (context(device).runs_nothing() || !f.width || !f.height || !f.depth) return;
    if (!span_of(f.pointer, f.pitch, f.rows, {0, 0, 0, f.width * f.element, f.height, f.depth}))
      return break_context(f, device);
    publish(f, device);
    fill_bytes(f);
  };
  const std::uint64_t bytes = static_cast<std::uint64_t>(f.width) * f.element * f.height * f.depth;
  out->place = [target, bytes, host_blocks, address = reinterpret_cast<std::uint64_t>(f.pointer)] {
    target.host.pay();
    const timing::Span span = session::timeline_entries().fill(target.stream, *target.host.clock, address, bytes);
    if (host_blocks) session::timeline().synchronize_time(*target.host.clock, span.end);
  };
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
