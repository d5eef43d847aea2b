// Copies and fills of memory: checks, the work itself, and how it counts.
#include <algorithm>
#include <cstring>

#include "cudart/operation.h"
#include "cudart/runtime.h"
#include "device/memory/address_space.h"

namespace warpgrind::cudart {

Place place_of(const void* pointer) {
  auto address = reinterpret_cast<std::uint64_t>(pointer);
  auto& space = device::AddressSpace::instance();
  auto range = space.find(address);
  if (!range) return {space.inside_reserved(address) ? Memory::invalid : Memory::pageable, 0, 0, 0};
  Memory memory = range->host ? Memory::pinned : range->managed ? Memory::managed : Memory::device;
  return {memory, range->device, range->low, range->high};
}

namespace {

// The bytes [first, last) that a side of a copy touches, and its memory.
struct Side {
  Place place;
  std::uint64_t first = 0, last = 0;
};

Side side_of(const CopySide& side, const CopyOperation& copy) {
  Side s;
  if (side.array) {
    s.place.memory = Memory::device;
    return s;
  }
  s.place = place_of(side.pointer);
  std::uint64_t slice = static_cast<std::uint64_t>(side.pitch) * side.rows;
  s.first = reinterpret_cast<std::uint64_t>(side.pointer) + side.z * slice + side.y * side.pitch + side.x;
  s.last = s.first + (copy.depth - 1) * slice + (copy.height - 1) * side.pitch + copy.width;
  return s;
}

bool in_bounds(const CopySide& side, const Side& s, const CopyOperation& copy) {
  if (side.array) {
    const device::Array& a = *side.array;
    return side.x + copy.width <= a.row_bytes() && side.y + copy.height <= a.shape().rows() &&
           side.z + copy.depth <= a.shape().slices();
  }
  switch (s.place.memory) {
    case Memory::invalid:
      return false;
    case Memory::device:
    case Memory::managed:
      return s.first >= s.place.low && s.last <= s.place.high;
    case Memory::pageable:
    case Memory::pinned:
      return side.pointer != nullptr;  // the end of a registered piece of host memory is not the end of the memory
  }
  return false;
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
      return kernel_reachable(from) && to != Memory::device;
    case cudaMemcpyDeviceToDevice:
      return kernel_reachable(from) && kernel_reachable(to);
    case cudaMemcpyDefault:
      return true;
  }
  return false;
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
    if (!side->array && c.height > 1 && side->pitch < c.width) return cudaErrorInvalidPitchValue;
  if (!in_bounds(c.from, from, c) || !in_bounds(c.to, to, c)) return cudaErrorInvalidValue;
  if (!direction_fits(c.kind, from.place.memory, to.place.memory)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t perform(const CopyOperation& c, Stream& stream, bool host_blocks) {
  if (cudaError_t error = check(c)) return error;
  if (c.width == 0 || c.height == 0 || c.depth == 0) return cudaSuccess;
  Side from = side_of(c.from, c), to = side_of(c.to, c);
  bool whole_rows = !c.from.array && !c.to.array && c.from.pitch == c.width && c.to.pitch == c.width;
  if (c.depth == 1 && whole_rows) {
    std::memmove(row(c.to, 0, 0), row(c.from, 0, 0), c.width * c.height);
  } else {
    for (std::size_t z = 0; z < c.depth; z++)
      for (std::size_t y = 0; y < c.height; y++) std::memmove(row(c.to, y, z), row(c.from, y, z), c.width);
  }
  auto on_device = [](const Side& s) { return s.place.memory == Memory::device || s.place.memory == Memory::managed; };
  bool pageable = from.place.memory == Memory::pageable || to.place.memory == Memory::pageable;
  using timing::CopyPath;
  CopyPath path = on_device(from) && on_device(to)
                      ? (c.peer || from.place.device != to.place.device ? CopyPath::peer : CopyPath::device_to_device)
                  : on_device(to)   ? CopyPath::host_to_device
                  : on_device(from) ? CopyPath::device_to_host
                                    : CopyPath::host_to_host;
  session::Session& s = the_session();
  s.timeline().host_work(kHostCallNs);
  // An asynchronous copy from or to pageable memory goes through a staging buffer that the host has to fill or empty.
  bool blocks = host_blocks || pageable;
  if (path == CopyPath::device_to_device && !host_blocks) blocks = false;
  if (blocks && s.device_in_use(stream.device)) s.device(stream.device).flush_output();
  s.copy(stream.device, stream.id, path, pageable ? timing::HostMemory::pageable : timing::HostMemory::pinned,
         static_cast<std::uint64_t>(c.width) * c.height * c.depth, blocks);
  return cudaSuccess;
}

cudaError_t check(const FillOperation& f) {
  if (f.element != 1 && f.element != 2 && f.element != 4) return cudaErrorInvalidValue;
  if (f.width == 0 || f.height == 0 || f.depth == 0) return cudaSuccess;
  if ((f.height > 1 || f.depth > 1) && f.pitch < f.width * f.element) return cudaErrorInvalidPitchValue;
  Place place = place_of(f.pointer);
  if (!kernel_reachable(place.memory)) return cudaErrorInvalidValue;
  std::uint64_t last = reinterpret_cast<std::uint64_t>(f.pointer) + (f.depth - 1) * f.pitch * f.rows +
                       (f.height - 1) * f.pitch + f.width * f.element;
  return last <= place.high ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t perform(const FillOperation& f, Stream& stream, bool host_blocks) {
  if (cudaError_t error = check(f)) return error;
  for (std::size_t z = 0; z < f.depth && f.width; z++) {
    for (std::size_t y = 0; y < f.height; y++) {
      std::uint8_t* at = f.pointer + z * f.pitch * f.rows + y * f.pitch;
      if (f.element == 1) {
        std::memset(at, static_cast<int>(f.value & 0xff), f.width);
      } else if (f.element == 2) {
        std::fill_n(reinterpret_cast<std::uint16_t*>(at), f.width, static_cast<std::uint16_t>(f.value));
      } else {
        std::fill_n(reinterpret_cast<std::uint32_t*>(at), f.width, f.value);
      }
    }
  }
  session::Session& s = the_session();
  s.timeline().host_work(kHostCallNs);
  timing::Span span = s.fill(stream.id, static_cast<std::uint64_t>(f.width) * f.element * f.height * f.depth);
  if (host_blocks) s.timeline().synchronize_time(span.end);
  return cudaSuccess;
}

}  // namespace warpgrind::cudart
