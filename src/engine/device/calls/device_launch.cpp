// Device runtime (CUDA dynamic parallelism, version 2): grids and copies launched by kernels. They are queued and run
// when the parent grid has ended, in the order of the parent's blocks; tail launches run last.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "device/access/access.h"
#include "device/calls/planes.h"
#include "device/device_impl.h"
#include "device/fault.h"
#include "device/memory/conditions.h"
#include "device/memory/device_graphs.h"
#include "device/module.h"
#include "device/symbols.h"
#include "gpu/launch_limits.h"

namespace warpgrind::device {

namespace {

// cudaError_t and cudaStream_t values of the device runtime (cuda_device_runtime_api.h).
constexpr std::uint32_t kSuccess = 0, kInvalidValue = 1, kMemoryAllocation = 2, kInvalidConfiguration = 9,
                        kLaunchFailure = 719, kMaxDepthExceeded = 65, kNotSupported = 801;
constexpr unsigned kMostNested = 24;  // CUDA C++ Programming Guide, "Nesting Depth"; tail launches do not nest
constexpr std::uint64_t kTailStream = 3, kFirstNamedStream = 0x100;
// Named streams of cudaGraphLaunch in device code.
constexpr std::uint64_t kGraphTail = 0x0100000000000000, kGraphForget = 0x0200000000000000,
                        kGraphSibling = 0x0300000000000000;

using Arguments = const std::uint32_t*;
using Results = std::uint32_t*;

template <class F>
void each_lane(LaneMask mask, F&& f) {
  for (LaneMask m = mask; m != 0; m &= m - 1) f(static_cast<unsigned>(std::countr_zero(m)));
}

std::uint64_t parameter_buffer(jit::WarpContext& c, std::uint64_t handle, const std::uint32_t* grid,
                               const std::uint32_t* block, std::uint32_t shared) {
  Launch& launch = launch_of(c);
  const ptx::Module& module = launch.module->module();
  if (handle == 0 || handle > module.functions.size() || !module.functions[handle - 1].is_entry) return 0;
  const auto layout = jit::parameter_layout(module.functions[handle - 1]);
  const std::uint64_t bytes = layout.empty() ? 0 : layout.back().offset + layout.back().size;
  Device::Impl& device = launch.device->impl();
  if (!shape_problem(device.model, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}).empty()) {
    worker_of(c).child_error = kInvalidConfiguration;
    return 0;
  }
  const std::uint64_t at = device.launch_memory.allocate(std::max<std::uint64_t>(16, bytes));
  if (!at) return 0;
  LaunchBuffer buffer;
  buffer.function = static_cast<std::uint32_t>(handle - 1);
  buffer.config.grid = {grid[0], grid[1], grid[2]};
  buffer.config.block = {block[0], block[1], block[2]};
  buffer.config.dynamic_shared = shared;
  buffer.bytes = bytes;
  device.launch_buffers.add(at, buffer);
  return at;
}

std::uint32_t queue_launch(jit::WarpContext& c, std::uint64_t address, std::uint64_t stream) {
  const Launch& launch = launch_of(c);
  Device::Impl& device = launch.device->impl();
  const std::optional<LaunchBuffer> buffer = device.launch_buffers.take(address);
  if (!buffer) return kLaunchFailure;
  ChildLaunch child;
  child.block = fiber_of(c).block_linear;
  child.function = buffer->function;
  child.config = buffer->config;
  child.tail = stream == kTailStream;
  child.depth = launch.depth + (child.tail ? 0 : 1);
  const auto* p = reinterpret_cast<const std::uint8_t*>(address);
  child.parameters.assign(p, p + buffer->bytes);
  device.launch_memory.release(address);
  if (child.depth > kMostNested) return worker_of(c).child_error = kMaxDepthExceeded;
  worker_of(c).children.push_back(std::move(child));
  return kSuccess;
}

// A copy or fill runs after the block has ended, so its memory must be global (CUDA C++ Programming Guide, "Memory
// Operations" of dynamic parallelism: no shared or local memory).
bool queue(jit::WarpContext& c, ChildLaunch work, std::uint64_t to, const std::uint64_t* from) {
  if (work.bytes == 0) return true;
  const Launch& launch = launch_of(c);
  const auto target = global_stretch(launch, GenericAddress{to}, work.bytes, true);
  if (!target) return false;
  work.to = *target;
  if (from) {
    const auto source = global_stretch(launch, GenericAddress{*from}, work.bytes, false);
    if (!source) return false;
    work.from = *source;
  }
  work.block = fiber_of(c).block_linear;
  worker_of(c).children.push_back(std::move(work));
  return true;
}

// void* cudaGetParameterBufferV2(void* func, dim3 grid, dim3 block, unsigned shared)
extern "C" void wg_call_get_parameter_buffer_v2(jit::WarpContext* c, std::uint32_t, std::uint32_t mask, Arguments a,
                                                Results r) {
  each_lane(mask, [&](unsigned l) {
    const std::uint32_t grid[3] = {plane32(a, 2, l), plane32(a, 3, l), plane32(a, 4, l)};
    const std::uint32_t block[3] = {plane32(a, 5, l), plane32(a, 6, l), plane32(a, 7, l)};
    set_plane64(r, 0, l, parameter_buffer(*c, plane64(a, 0, l), grid, block, plane32(a, 8, l)));
  });
}

// cudaError_t cudaLaunchDeviceV2(void* parameterBuffer, cudaStream_t stream)
extern "C" void wg_call_launch_device_v2(jit::WarpContext* c, std::uint32_t, std::uint32_t mask, Arguments a,
                                         Results r) {
  each_lane(mask, [&](unsigned l) { set_plane32(r, 0, l, queue_launch(*c, plane64(a, 0, l), plane64(a, 2, l))); });
}

// cudaError_t cudaMalloc(void** pointer, size_t size)
extern "C" void wg_call_cdp_malloc(jit::WarpContext* c, std::uint32_t site, std::uint32_t mask, Arguments a,
                                   Results r) {
  each_lane(mask, [&](unsigned l) {
    const std::uint64_t memory = heap_allocate(*c, site, l, plane64(a, 2, l));
    const bool written = write_stretch(*c, site, l, GenericAddress{plane64(a, 0, l)}, &memory, sizeof memory);
    set_plane32(r, 0, l, !written ? kInvalidValue : memory ? kSuccess : kMemoryAllocation);
  });
}

extern "C" void wg_call_cdp_free(jit::WarpContext* c, std::uint32_t site, std::uint32_t mask, Arguments a, Results r) {
  each_lane(mask, [&](unsigned l) {
    const bool freed = heap_release(*c, site, l, plane64(a, 0, l)) == DeviceHeap::Released::Was::in_use;
    set_plane32(r, 0, l, freed ? kSuccess : kInvalidValue);
  });
}

// cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream)
extern "C" void wg_call_cdp_memcpy_async(jit::WarpContext* c, std::uint32_t, std::uint32_t mask, Arguments a,
                                         Results r) {
  each_lane(mask, [&](unsigned l) {
    ChildLaunch copy;
    copy.kind = ChildLaunch::Kind::copy;
    copy.bytes = plane64(a, 4, l);
    copy.tail = plane64(a, 8, l) == kTailStream;
    const std::uint64_t from = plane64(a, 2, l);
    set_plane32(r, 0, l, queue(*c, std::move(copy), plane64(a, 0, l), &from) ? kSuccess : kInvalidValue);
  });
}

// cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream)
extern "C" void wg_call_cdp_memset_async(jit::WarpContext* c, std::uint32_t, std::uint32_t mask, Arguments a,
                                         Results r) {
  each_lane(mask, [&](unsigned l) {
    ChildLaunch fill;
    fill.kind = ChildLaunch::Kind::fill;
    fill.value = static_cast<std::uint8_t>(plane32(a, 2, l));
    fill.bytes = plane64(a, 4, l);
    fill.tail = plane64(a, 6, l) == kTailStream;
    set_plane32(r, 0, l, queue(*c, std::move(fill), plane64(a, 0, l), nullptr) ? kSuccess : kInvalidValue);
  });
}

// Handles are never read: work of all streams runs in the order in which it was queued.
extern "C" void wg_call_cdp_create_handle(jit::WarpContext* c, std::uint32_t site, std::uint32_t mask, Arguments a,
                                          Results r) {
  each_lane(mask, [&](unsigned l) {
    const std::uint64_t handle = kFirstNamedStream + l;
    const bool written = write_stretch(*c, site, l, GenericAddress{plane64(a, 0, l)}, &handle, sizeof handle);
    set_plane32(r, 0, l, written ? kSuccess : kInvalidValue);
  });
}

extern "C" void wg_call_cdp_success(jit::WarpContext*, std::uint32_t, std::uint32_t mask, Arguments, Results r) {
  each_lane(mask, [&](unsigned l) { set_plane32(r, 0, l, kSuccess); });
}

template <bool kClears>
void last_error(jit::WarpContext* c, std::uint32_t mask, Results r) {
  std::uint32_t& error = worker_of(*c).child_error;
  each_lane(mask, [&](unsigned l) { set_plane32(r, 0, l, error); });
  if (kClears) error = kSuccess;
}
extern "C" void wg_call_cdp_get_last_error(jit::WarpContext* c, std::uint32_t, std::uint32_t mask, Arguments,
                                           Results r) {
  last_error<true>(c, mask, r);
}
extern "C" void wg_call_cdp_peek_at_last_error(jit::WarpContext* c, std::uint32_t, std::uint32_t mask, Arguments,
                                               Results r) {
  last_error<false>(c, mask, r);
}

template <int kValueOf>
void store_int(jit::WarpContext* c, std::uint32_t site, std::uint32_t mask, Arguments a, Results r) {
  each_lane(mask, [&](unsigned l) {
    const std::int32_t value = kValueOf == 0 ? launch_of(*c).device->ordinal() : 1;
    const bool written = write_stretch(*c, site, l, GenericAddress{plane64(a, 0, l)}, &value, sizeof value);
    set_plane32(r, 0, l, written ? kSuccess : kInvalidValue);
  });
}
extern "C" void wg_call_cdp_get_device(jit::WarpContext* c, std::uint32_t site, std::uint32_t mask, Arguments a,
                                       Results r) {
  store_int<0>(c, site, mask, a, r);
}
extern "C" void wg_call_cdp_get_device_count(jit::WarpContext* c, std::uint32_t site, std::uint32_t mask, Arguments a,
                                             Results r) {
  store_int<1>(c, site, mask, a, r);
}

// const char* cudaGetErrorString(cudaError_t): in device memory, kept until the device is destroyed.
extern "C" void wg_call_cdp_get_error_string(jit::WarpContext* c, std::uint32_t, std::uint32_t mask, Arguments a,
                                             Results r) {
  DeviceHeap& heap = launch_of(*c).device->impl().launch_memory;
  each_lane(mask, [&](unsigned l) {
    const std::uint32_t error = plane32(a, 0, l);
    const char* text = error == kSuccess            ? "no error"
                       : error == kInvalidValue     ? "invalid argument"
                       : error == kMemoryAllocation ? "out of memory"
                       : error == kLaunchFailure    ? "unspecified launch failure"
                       : error == kMaxDepthExceeded ? "launch would exceed maximum depth of nested launches"
                                                    : "unrecognized error code";
    const std::uint64_t at = heap.allocate(std::strlen(text) + 1);
    if (at) std::memcpy(reinterpret_cast<void*>(at), text, std::strlen(text) + 1);
    set_plane64(r, 0, l, at);
  });
}

}  // namespace

// The memory may have been freed after the copy was queued.
std::optional<Fault> run_queued_copy(Device::Impl& device, const ChildLaunch& work, std::uint64_t id) {
  const bool copies = work.kind == ChildLaunch::Kind::copy;
  const auto gone = [&](GlobalAddress address) {
    const auto range = AddressSpace::instance().find(raw(address));
    return !range || work.bytes > range->high - raw(address);
  };
  for (const GlobalAddress address : {work.to, copies ? work.from : work.to}) {
    if (!gone(address)) continue;
    Fault fault;
    fault.message = describe_address(copies ? "copy by a kernel" : "fill by a kernel", raw(address), work.bytes);
    fault.advice = "keep the memory allocated until the copy is done, after the end of the grid";
    fault.address = raw(address);
    return fault;
  }
  auto* to = reinterpret_cast<std::uint8_t*>(raw(work.to));
  if (copies) {
    events::HostCopy copy;
    copy.device = device.ordinal;
    copy.work = id;
    copy.to.address = raw(work.to);
    copy.from.address = raw(work.from);
    copy.to.pitch = copy.from.pitch = copy.bytes = work.bytes;
    copy.to.device = copy.from.device = device.ordinal;
    device.device.publish(copy);
    std::memmove(to, reinterpret_cast<const std::uint8_t*>(raw(work.from)), work.bytes);
  } else {
    events::HostFill fill;
    fill.device = device.ordinal;
    fill.work = id;
    fill.to = raw(work.to);
    fill.pitch = fill.bytes = work.bytes;
    fill.value = work.value;
    device.device.publish(fill);
    std::memset(to, work.value, work.bytes);
  }
  return std::nullopt;
}

namespace {

// A graph that runs, or that was requested and has not begun, cannot be launched again; as its own tail it can. An H200
// gives the same error for graphs that were not uploaded.
std::uint32_t queue_graph(jit::WarpContext& c, std::uint64_t graph, std::uint64_t stream) {
  const LaunchConfig& config = launch_of(c).config;
  if (!config.in_graph) return kNotSupported;
  if (stream != kGraphTail && stream != kGraphForget && stream != kGraphSibling) return kInvalidValue;
  if (graph == config.graph && stream != kGraphTail) return kInvalidValue;
  if (!request_device_graph(graph)) return kInvalidValue;
  ChildLaunch child;
  child.kind = ChildLaunch::Kind::graph;
  child.block = fiber_of(c).block_linear;
  child.graph.graph = graph;
  child.graph.kind = stream == kGraphTail     ? GraphRequest::Kind::tail
                     : stream == kGraphForget ? GraphRequest::Kind::forget
                                              : GraphRequest::Kind::sibling;
  worker_of(c).children.push_back(std::move(child));
  return kSuccess;
}

// cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
extern "C" void wg_call_graph_launch(jit::WarpContext* c, std::uint32_t, std::uint32_t mask, Arguments a, Results r) {
  each_lane(mask, [&](unsigned l) { set_plane32(r, 0, l, queue_graph(*c, plane64(a, 0, l), plane64(a, 2, l))); });
}

}  // namespace

// void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value)
extern "C" void wg_call_set_conditional(jit::WarpContext*, std::uint32_t, std::uint32_t mask, Arguments a, Results) {
  each_lane(mask, [&](unsigned l) { set_condition(plane64(a, 0, l), plane32(a, 2, l)); });
}

std::span<const jit::CallSymbol> device_launch_symbols() {
#define WG_DEVICE_RUNTIME(name, function, parameters, results)                                        \
  {"wg_call___cudaCDP2" name, reinterpret_cast<void*>(&function), parameters, results},               \
      {"wg_call_cuda" name, reinterpret_cast<void*>(&function), parameters, results},                 \
      {"wg_call___cudaCDP2" name "_ptsz", reinterpret_cast<void*>(&function), parameters, results}, { \
    "wg_call_cuda" name "_ptsz", reinterpret_cast<void*>(&function), parameters, results              \
  }
  static const jit::CallSymbol symbols[] = {
      WG_DEVICE_RUNTIME("GetParameterBufferV2", wg_call_get_parameter_buffer_v2, 9, 2),
      WG_DEVICE_RUNTIME("LaunchDeviceV2", wg_call_launch_device_v2, 4, 1),
      WG_DEVICE_RUNTIME("Malloc", wg_call_cdp_malloc, 4, 1),
      WG_DEVICE_RUNTIME("Free", wg_call_cdp_free, 2, 1),
      WG_DEVICE_RUNTIME("MemcpyAsync", wg_call_cdp_memcpy_async, 10, 1),
      WG_DEVICE_RUNTIME("MemsetAsync", wg_call_cdp_memset_async, 8, 1),
      WG_DEVICE_RUNTIME("StreamCreateWithFlags", wg_call_cdp_create_handle, 2, 1),
      WG_DEVICE_RUNTIME("StreamDestroy", wg_call_cdp_success, 0, 1),
      WG_DEVICE_RUNTIME("StreamWaitEvent", wg_call_cdp_success, 0, 1),
      WG_DEVICE_RUNTIME("EventCreateWithFlags", wg_call_cdp_create_handle, 2, 1),
      WG_DEVICE_RUNTIME("EventRecord", wg_call_cdp_success, 0, 1),
      WG_DEVICE_RUNTIME("EventRecordWithFlags", wg_call_cdp_success, 0, 1),
      WG_DEVICE_RUNTIME("EventDestroy", wg_call_cdp_success, 0, 1),
      WG_DEVICE_RUNTIME("GetLastError", wg_call_cdp_get_last_error, 0, 1),
      WG_DEVICE_RUNTIME("PeekAtLastError", wg_call_cdp_peek_at_last_error, 0, 1),
      WG_DEVICE_RUNTIME("GetErrorString", wg_call_cdp_get_error_string, 1, 2),
      WG_DEVICE_RUNTIME("GetErrorName", wg_call_cdp_get_error_string, 1, 2),
      WG_DEVICE_RUNTIME("GetDevice", wg_call_cdp_get_device, 2, 1),
      WG_DEVICE_RUNTIME("GetDeviceCount", wg_call_cdp_get_device_count, 2, 1),
      WG_DEVICE_RUNTIME("GraphSetConditional", wg_call_set_conditional, 3, 0),
      WG_DEVICE_RUNTIME("GraphLaunch", wg_call_graph_launch, 4, 1),
  };
#undef WG_DEVICE_RUNTIME
  return symbols;
}

}  // namespace warpgrind::device
