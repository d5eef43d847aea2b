// Functions that device code calls by name: printf, assert, malloc, free. Parameters are in planes of 32-bit words:
// word w of lane l at [w*32 + l].
#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

#include "device/access/access.h"
#include "device/access/count.h"
#include "device/calls/planes.h"
#include "device/device_impl.h"
#include "device/fault.h"
#include "device/memory/shadow_memory.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

// The calling lane, for memory read on its behalf.
struct Caller {
  jit::WarpContext& context;
  std::uint32_t site;
  unsigned lane;

  bool read(std::uint64_t address, void* out, std::uint64_t bytes) const {
    return read_stretch(context, site, lane, GenericAddress{address}, out, bytes);
  }
};

// Text of at most kLongest bytes at a generic address; false: not readable.
bool read_string(const Caller& caller, std::uint64_t address, std::string* out) {
  constexpr std::size_t kLongest = 65536;
  out->clear();
  char byte = 0;
  while (out->size() < kLongest) {
    if (!caller.read(address + out->size(), &byte, 1)) return false;
    if (byte == 0) return true;
    out->push_back(byte);
  }
  return true;
}

// One lane's arguments, as nvcc packs them: each aligned to its own size.
class PackedArguments {
 public:
  PackedArguments(const Caller& caller, std::uint64_t address) : caller_(caller), address_(address) {}

  template <class T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (!address_ || !caller_.read(address_ + offset_, &value, sizeof value)) good_ = false;
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  bool good() const { return good_; }
  int count() const { return count_; }
  std::uint64_t bytes() const { return offset_; }

 private:
  const Caller caller_;
  const std::uint64_t address_;
  std::uint64_t offset_ = 0;
  int count_ = 0;
  bool good_ = true;
};

template <class T>
void append_formatted(std::string* out, const std::string& spec, T value) {
  char small[256];
  const int n = std::snprintf(small, sizeof small, spec.c_str(), value);
  if (n < 0) return;
  if (static_cast<std::size_t>(n) < sizeof small) {
    out->append(small, static_cast<std::size_t>(n));
    return;
  }
  std::string large(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(large.data(), large.size(), spec.c_str(), value);
  out->append(large.data(), static_cast<std::size_t>(n));
}

// The parts of a conversion such as "%-08.3lld"; flags, width and precision are kept as written.
struct Conversion {
  std::string flags;
  bool wide = false;  // l, ll, z, j, t: 64 bits
  char letter = 0;
};

// Reads the conversion after '%' at text[i] and moves i past it. `*` takes an int argument.
Conversion parse_conversion(const std::string& text, std::size_t* i, PackedArguments* arguments) {
  Conversion c;
  for (; *i < text.size() && std::strchr("-+ #0123456789.*", text[*i]); ++*i) {
    if (text[*i] == '*')
      c.flags += std::to_string(arguments->next<int>());
    else
      c.flags += text[*i];
  }
  for (; *i < text.size() && std::strchr("hlqjzt", text[*i]); ++*i) c.wide |= text[*i] != 'h';
  if (*i < text.size()) c.letter = text[(*i)++];
  return c;
}

std::string format_lane(const Caller& caller, const std::string& format, PackedArguments& arguments) {
  std::string out;
  std::size_t i = 0;
  while (i < format.size()) {
    if (format[i] != '%') {
      out += format[i++];
      continue;
    }
    const std::size_t start = i++;
    const Conversion c = parse_conversion(format, &i, &arguments);
    const std::string head = "%" + c.flags;
    switch (c.letter) {
      case '%':
        out += '%';
        break;
      case 'd':
      case 'i':
        if (c.wide)
          append_formatted(&out, head + "lld", arguments.next<long long>());
        else
          append_formatted(&out, head + "d", arguments.next<int>());
        break;
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        if (c.wide)
          append_formatted(&out, head + "ll" + c.letter, arguments.next<unsigned long long>());
        else
          append_formatted(&out, head + c.letter, arguments.next<unsigned>());
        break;
      case 'c':
        append_formatted(&out, head + "c", arguments.next<int>());
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        append_formatted(&out, head + c.letter, arguments.next<double>());
        break;
      case 'p':
        append_formatted(&out, head + "p", reinterpret_cast<void*>(arguments.next<std::uint64_t>()));
        break;
      case 's': {
        const std::uint64_t address = arguments.next<std::uint64_t>();
        std::string text;
        if (address == 0)
          text = "(null)";
        else if (!read_string(caller, address, &text))
          text = "(unreadable string)";
        append_formatted(&out, head + "s", text.c_str());
        break;
      }
      default:  // CUDA prints unknown conversions unchanged
        out += format.substr(start, i - start);
    }
  }
  return out;
}

// A record of CUDA's buffer: a header, the format's address, the arguments.
constexpr std::uint64_t kRecordHeaderBytes = 16;

extern "C" void wg_call_vprintf(jit::WarpContext* context, std::uint32_t site, std::uint32_t mask,
                                const std::uint32_t* arguments, std::uint32_t* results) {
  jit::WarpContext& c = *context;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    std::string format;
    int result = -1;
    const Caller caller{c, site, lane};
    if (read_string(caller, plane64(arguments, 0, lane), &format)) {
      PackedArguments packed(caller, plane64(arguments, 2, lane));
      std::string text = format_lane(caller, format, packed);
      if (packed.good()) result = packed.count();
      worker_of(c).output.push_back({fiber_of(c).block_linear, kRecordHeaderBytes + packed.bytes(), std::move(text)});
    }
    set_plane32(results, 0, lane, static_cast<std::uint32_t>(result));
  }
}

// A debugger runs a launch again to go back. What its assertions said then is not said again.
bool is_said(const Launch& launch, const std::string& line) {
  if (!launch.stops) return false;
  static std::mutex lock;
  static auto& said = *new std::set<std::string>;  // kernels may run until the process ends
  const std::lock_guard held(lock);
  const bool is_new = said.insert(line).second;
  return launch.repeats && !is_new;
}

// void __assertfail(const void* message, const void* file, unsigned line, const void* function, size_t char_size)
extern "C" void wg_call___assertfail(jit::WarpContext* context, std::uint32_t site, std::uint32_t mask,
                                     const std::uint32_t* arguments, std::uint32_t*) {
  jit::WarpContext& c = *context;
  std::string first;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    std::string message, file, function;
    const Caller caller{c, site, lane};
    read_string(caller, plane64(arguments, 0, lane), &message);
    read_string(caller, plane64(arguments, 2, lane), &file);
    read_string(caller, plane64(arguments, 6, lane), &function);
    const std::uint32_t line = arguments[4 * kWarpSize + lane];
    Fault where;
    set_thread(where, c, lane);
    const std::string text = fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n",
                                         file, line, function, where.block.x, where.block.y, where.block.z,
                                         where.thread.x, where.thread.y, where.thread.z, message);
    if (!is_said(launch_of(c), text)) std::fputs(text.c_str(), stderr);
    if (first.empty()) first = fmt::format("assertion `{}` failed ({}:{})", message, file, line);
  }
  if (mask) raise(c, site, static_cast<unsigned>(std::countr_zero(mask)), FaultKind::assertion, std::move(first));
}

void publish_problem(jit::WarpContext& c, std::uint32_t site, unsigned lane, events::HeapProblem::Kind kind,
                     std::uint64_t address, std::uint64_t bytes) {
  const events::HeapProblem event{warp_event(c, site, LaneMask{1} << lane), kind, address, bytes};
  events::publish_heap_problem(*launch_of(c).observers, event, worker_of(c).number);
}

extern "C" void wg_call_malloc(jit::WarpContext* context, std::uint32_t site, std::uint32_t mask,
                               const std::uint32_t* arguments, std::uint32_t* results) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    set_plane64(results, 0, lane, heap_allocate(*context, site, lane, plane64(arguments, 0, lane)));
  }
}

extern "C" void wg_call_free(jit::WarpContext* context, std::uint32_t site, std::uint32_t mask,
                             const std::uint32_t* arguments, std::uint32_t*) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t address = plane64(arguments, 0, lane);
    const auto was = heap_release(*context, site, lane, address);
    using Kind = events::HeapProblem::Kind;
    using Was = DeviceHeap::Released::Was;
    if (was == Was::in_use) continue;
    if (launch_of(*context).wants.heap_problems) {
      publish_problem(*context, site, lane, was == Was::freed_before ? Kind::freed_before : Kind::no_piece, address, 0);
      keep_first(*context, site, lane, address, 0, [&] {
        return FaultText{
            FaultKind::illegal_address, fmt::format("free of {:#x}, which is not an allocation in use", address), {}};
      });
      continue;
    }
    if (was == Was::freed_before)
      raise(*context, site, lane, FaultKind::illegal_address,
            fmt::format("double free of {:#x}: a kernel has already freed it", address),
            "if threads share memory, let one thread free it, after its last use by any of them", address);
    if (was == Was::no_piece)
      raise(*context, site, lane, FaultKind::illegal_address,
            fmt::format("free of {:#x}, which malloc in a kernel did not return", address),
            "memory from cudaMalloc must be freed with cudaFree on the host", address);
  }
}

}  // namespace

std::uint64_t heap_allocate(jit::WarpContext& c, std::uint32_t site, unsigned lane, std::uint64_t bytes) {
  const Launch& launch = launch_of(c);
  const std::uint64_t address = launch.device->impl().heap.allocate(bytes);
  if (address) launch.device->fill(address, bytes);
  if (launch.shadow && address) launch.shadow->undefine(address, bytes);
  if (launch.wants.heap_problems && !address && bytes != 0)
    publish_problem(c, site, lane, events::HeapProblem::Kind::no_room, 0, bytes);
  if (launch.wants.allocations && address) {
    const events::WarpEvent by = warp_event(c, site, 1u << lane);
    const events::Allocation event{
        events::Allocation::Kind::kernel_heap, launch.device->ordinal(), address, bytes, {}, &by};
    events::publish_allocation(*launch.observers, event, worker_of(c).number);
  }
  return address;
}

DeviceHeap::Released::Was heap_release(jit::WarpContext& c, std::uint32_t site, unsigned lane, std::uint64_t address) {
  const Launch& launch = launch_of(c);
  const DeviceHeap::Released released = launch.device->impl().heap.release(address);
  if (released.bytes != 0) forget_pieces(worker_of(c));
  if (launch.wants.deallocations && released.bytes != 0) {
    const events::WarpEvent by = warp_event(c, site, 1u << lane);
    const events::Allocation event{
        events::Allocation::Kind::kernel_heap, launch.device->ordinal(), address, released.bytes, {}, &by};
    events::publish_deallocation(*launch.observers, event, worker_of(c).number);
  }
  return released.was;
}

std::span<const jit::CallSymbol> call_symbols() {
  static const jit::CallSymbol symbols[] = {
      {"wg_call_vprintf", reinterpret_cast<void*>(&wg_call_vprintf), 4, 1},
      {"wg_call___assertfail", reinterpret_cast<void*>(&wg_call___assertfail), 8, 0},
      {"wg_call___assert_fail", reinterpret_cast<void*>(&wg_call___assertfail), 8, 0},
      {"wg_call_malloc", reinterpret_cast<void*>(&wg_call_malloc), 2, 2},
      {"wg_call_free", reinterpret_cast<void*>(&wg_call_free), 2, 0},
  };
  return symbols;
}

}  // namespace warpgrind::device
