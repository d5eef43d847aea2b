// One piece of work of a stream: issued to the executor, or kept as a node of a graph. Stream calls, captures, explicit
// graph nodes and graph launches all come down to these.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "device/device.h"
#include "device/memory/array.h"
#include "host/executor.h"
#include "host/library_calls.h"
#include "host/state.h"

namespace warpgrind::host {

// One side of a copy: a pointer with a pitch, or an array. x in bytes.
struct CopySide {
  std::shared_ptr<device::Array> array;  // shared: it may be freed before the copy is done
  std::uint8_t* pointer = nullptr;
  std::size_t pitch = 0, rows = 0;  // bytes a row, rows a slice
  std::size_t x = 0, y = 0, z = 0;
};
struct CopyOperation {
  CopySide from, to;
  std::size_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
  cudaMemcpyKind kind = cudaMemcpyDefault;
  bool peer = false;                                  // cudaMemcpyPeer and its like
  std::shared_ptr<std::vector<std::uint8_t>> staged;  // what `from` held at the call
};
struct FillOperation {
  std::uint8_t* pointer = nullptr;
  std::size_t pitch = 0, rows = 1;  // bytes a row, rows a slice
  std::uint32_t value = 0;
  unsigned element = 1;                          // 1, 2 or 4 bytes
  std::size_t width = 0, height = 1, depth = 1;  // elements, rows, slices
};
struct KernelOperation {
  KernelHandle* kernel = nullptr;
  const session::KernelEntry* entry = nullptr;
  device::LaunchConfig config;
  int carveout_percent = -1;
  bool early = false;  // may begin before the kernel before it in its stream has ended
  device::PackedParameters parameters;
  std::vector<void*> pointers();  // to each parameter
};
struct HostOperation {
  cudaHostFn_t function = nullptr;
  cudaStreamCallback_t callback = nullptr;  // cudaStreamAddCallback; else `function`
  void* data = nullptr;
};
struct EventOperation {
  EventRef event;
  bool wait = false;
  bool external = false;  // in a capture it becomes a node, and orders nothing
};
struct EmptyOperation {};
struct ChildGraphOperation {
  std::shared_ptr<Graph> graph;
};
// Graphs of which one runs, or none: which the handle's value says when everything before has ended.
struct ConditionalOperation {
  enum class Kind : std::uint8_t { if_else, while_true, one_of } kind = Kind::if_else;
  std::uint64_t handle = 0;
  std::shared_ptr<std::vector<std::shared_ptr<Graph>>> bodies;
  std::shared_ptr<std::vector<Graph*>> handles;  // of the bodies, as the API gives them

  const Graph* chosen(std::uint32_t value) const;  // null: none
};
struct AllocOperation {
  std::size_t bytes = 0;
  void* pointer = nullptr;  // chosen when the node is made, so that later nodes can name it
  int device = 0;
};
struct FreeOperation {
  void* pointer = nullptr;
};
struct LibraryOperation {
  LibraryCallRef call;
};
// Words of memory that are written or waited for, one after the other (stream_memory.h).
struct MemoryOperation {
  struct Step {
    enum class Kind : std::uint8_t { wait, write, barrier } kind = Kind::barrier;
    enum class Compare : std::uint8_t { greater_equal, equal, any_bit, any_bit_of_neither } compare{};
    unsigned bytes = 4;  // of the word: 4 or 8
    void* address = nullptr;
    std::uint64_t value = 0;
  };
  std::vector<Step> steps;
  std::shared_ptr<const void> given;  // of a node: the parameters as its API has them
};
using Operation = std::variant<KernelOperation, CopyOperation, FillOperation, HostOperation, EventOperation,
                               EmptyOperation, ChildGraphOperation, ConditionalOperation, AllocOperation, FreeOperation,
                               LibraryOperation, MemoryOperation>;

// Where work goes: a device, a stream of the timeline, the clock of the thread that issues it.
struct Target {
  int device = 0;
  timing::StreamId stream = 0;
  HostTime host;
  cudaStream_t handle = nullptr;  // for cudaStreamAddCallback
};
// Work for the executor. host_blocks: on the timeline the host waits for it.
cudaError_t make_work(Operation& operation, const Target& target, bool host_blocks, WorkPtr& out);
// To the executor, or as the next node of the stream's capture. host_blocks: the call returns when it is done.
cudaError_t submit(const StreamRef& stream, Operation operation, bool host_blocks);

// Copies (copy.cpp).
cudaError_t check(const CopyOperation& copy);
cudaError_t make_work(const CopyOperation& copy, const Target& target, bool host_blocks, WorkPtr& out);
// Whether an asynchronous call that makes this copy waits for it; else small pageable sources are kept in `copy`.
bool waits_for_host_memory(CopyOperation& copy);
cudaError_t check(const FillOperation& fill);
cudaError_t make_work(const FillOperation& fill, const Target& target, bool host_blocks, WorkPtr& out);
CopyOperation linear_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

// Kernels (launch.cpp).
struct LaunchArguments {
  const void* function = nullptr;
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t shared = 0;
  void** parameters = nullptr;
  std::optional<std::span<const std::uint8_t>> packed;  // instead: as they lie in parameter memory
  bool cooperative = false;
  bool early = false;
  dim3 cluster{0, 0, 0};
  std::optional<int> carveout_percent;  // instead of the kernel's own
};
cudaError_t make_kernel(const LaunchArguments& arguments, KernelOperation& out);
cudaError_t make_work(const KernelOperation& kernel, const Target& target, WorkPtr& out);
// The host's part of loading a kernel's code, at its first launch or when its attributes are asked for: a row of its
// own; and of a launch.
void charge_load(KernelHandle& kernel, int device);
// What all threads have been charged for that, ns.
double loading_ns();
void charge_launch(const KernelOperation& kernel, int device);
// What decides the code of a launch. Compiling it ahead may take seconds, so that it is done without locks.
struct KernelShape {
  KernelHandle* kernel = nullptr;
  const session::KernelEntry* entry = nullptr;
  device::LaunchConfig config;
  int carveout_percent = -1;
  int device = 0;
};
cudaError_t compile(const KernelShape& shape);

// Calls of libraries (library_calls.cpp).
cudaError_t make_work(const LibraryOperation& call, const Target& target, bool host_blocks, WorkPtr& out);
// Stream memory operations (stream_memory.cpp).
cudaError_t make_work(const MemoryOperation& operation, const Target& target, WorkPtr& out);

// What memory a pointer is in.
enum class Memory : std::uint8_t { pageable, pinned, device, managed, invalid };
struct Place {
  Memory memory = Memory::pageable;
  int device = 0;
  std::uint64_t low = 0, high = 0;
  std::uint64_t id = 0;    // of the allocation; no other one of the process has it
  bool read_only = false;  // for kernels
};
Place place_of(const void* pointer);

// Device memory of graphs and pools (memory.cpp).
cudaError_t allocate(int device, std::size_t bytes, void** out,
                     events::Allocation::Kind kind = events::Allocation::Kind::device,
                     int file = -1);  // that its pages are of (device::Range::file)
cudaError_t release(void* pointer);
// Of a function that frees: who observes frees of what is no such allocation says it, and nobody else.
cudaError_t tell_if_invalid(cudaError_t error, const void* pointer, const char* by);
void release_all(int device);           // cudaDeviceReset
void forget_pool_block(void* pointer);  // it is free: its pool uses less (pools.cpp)
void release_arrays(int device);        // cudaDeviceReset (textures.cpp)

}  // namespace warpgrind::host
