// Operations: pieces of work that are issued to a stream's executor or stored as graph nodes. Stream calls, captures,
// explicit graph nodes and graph launches all use them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "device/device.h"
#include "device/memory/array.h"
#include "semantics/executor.h"
#include "semantics/library_calls.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

// One side of a copy: a pointer with a pitch, or an array. x in bytes.
struct CopySide {
  std::shared_ptr<device::Array> array;  // shared: it may be freed before the copy is done
  std::uint8_t* pointer = nullptr;
  std::size_t pitch = 0, rows = 0;  // bytes per row, rows per slice
  std::size_t x = 0, y = 0, z = 0;
};
struct CopyOperation {
  CopySide from, to;
  std::size_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
  cudaMemcpyKind kind = cudaMemcpyDefault;
  bool peer = false;                                  // cudaMemcpyPeer etc.
  std::shared_ptr<std::vector<std::uint8_t>> staged;  // the bytes of `from` at the time of the call
};
struct FillOperation {
  std::uint8_t* pointer = nullptr;
  std::size_t pitch = 0, rows = 1;  // bytes per row, rows per slice
  std::uint32_t value = 0;
  unsigned element = 1;                          // 1, 2 or 4 bytes
  std::size_t width = 0, height = 1, depth = 1;  // elements, rows, slices
};
struct KernelOperation {
  KernelHandle* kernel = nullptr;
  const session::KernelEntry* entry = nullptr;
  device::LaunchConfig config;
  int carveout_percent = -1;
  bool early = false;  // may begin before the previous kernel in its stream has ended
  device::PackedParameters parameters;
  std::vector<void*> pointers();  // to each parameter
};
struct HostOperation {
  cudaHostFn_t function = nullptr;
  cudaStreamCallback_t callback = nullptr;  // cudaStreamAddCallback; else `function`
  void* data = nullptr;
};
struct GraphRun;
struct EventOperation {
  EventRef event;
  bool wait = false;
  bool external = false;  // a capture makes it a node, instead of an order between captured streams
};
struct EmptyOperation {};
struct ChildGraphOperation {
  std::shared_ptr<Graph> graph;
};
// Conditional node: at most one of the bodies runs. The value of the handle selects it after all dependencies ended.
struct ConditionalOperation {
  enum class Kind : std::uint8_t { if_else, while_true, one_of } kind = Kind::if_else;
  std::uint64_t handle = 0;
  std::shared_ptr<std::vector<std::shared_ptr<Graph>>> bodies;
  std::shared_ptr<std::vector<Graph*>> handles;  // handles of the bodies, as the API returns them

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
// Writes of, and waits for, words of memory, in their order (stream_memory.h).
struct MemoryOperation {
  struct Step {
    enum class Kind : std::uint8_t { wait, write, barrier } kind = Kind::barrier;
    enum class Compare : std::uint8_t { greater_equal, equal, any_bit, any_bit_of_neither } compare{};
    unsigned bytes = 4;  // of the word: 4 or 8
    void* address = nullptr;
    std::uint64_t value = 0;
  };
  std::vector<Step> steps;
  std::shared_ptr<const void> given;  // of a node: its parameters in the form of the API
};
using Operation = std::variant<KernelOperation, CopyOperation, FillOperation, HostOperation, EventOperation,
                               EmptyOperation, ChildGraphOperation, ConditionalOperation, AllocOperation, FreeOperation,
                               LibraryOperation, MemoryOperation>;

// Destination of work: a device, a stream of the timeline, and the clock of the issuing thread.
struct Target {
  int device = 0;
  timing::StreamId stream = 0;
  HostTime host;
  cudaStream_t handle = nullptr;  // for cudaStreamAddCallback
  std::shared_ptr<GraphRun> run;  // of a graph's node; collects the graphs that kernels launch
};
// Creates work for the executor. host_blocks: on the timeline, the host waits for it.
cudaError_t make_work(Operation& operation, const Target& target, bool host_blocks, WorkPtr& out);
// Issues to the executor, or adds the next node of the stream's capture. host_blocks: the call returns when it is done.
// For all operations but kernels: launch_kernel() has their steps.
cudaError_t submit(const StreamRef& stream, Operation operation, bool host_blocks);
// The parts of a submission. try_capture() returns the result of the call if the stream is being captured, or may not
// be used because another one is; else nullopt, and leaves the operation as it is.
std::optional<cudaError_t> try_capture(Stream& stream, Operation& operation, bool host_blocks);
Target target_of(Stream& stream);  // takes the host time that the thread owes
void issue(const StreamRef& stream, const WorkPtr& work, const std::vector<WorkPtr>& others = {});

// Copies (copy.cpp).
cudaError_t check(const CopyOperation& copy);
cudaError_t make_work(const CopyOperation& copy, const Target& target, bool host_blocks, WorkPtr& out);
// True if an asynchronous call for this copy has to wait for it. Otherwise a small pageable source is saved in `copy`.
bool waits_for_host_memory(CopyOperation& copy);
cudaError_t check(const FillOperation& fill);
cudaError_t make_work(const FillOperation& fill, const Target& target, bool host_blocks, WorkPtr& out);
CopyOperation linear_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

// Kernels (launch.cpp).
cudaError_t make_work(const KernelOperation& kernel, const Target& target, WorkPtr& out);

// Calls of libraries (library_calls.cpp).
cudaError_t make_work(const LibraryOperation& call, const Target& target, bool host_blocks, WorkPtr& out);
// Stream memory operations (stream_memory.cpp).
cudaError_t make_work(const MemoryOperation& operation, const Target& target, WorkPtr& out);

// Kind of memory that a pointer points into.
enum class Memory : std::uint8_t { pageable, pinned, device, managed, invalid };
struct Place {
  Memory memory = Memory::pageable;
  int device = 0;
  std::uint64_t low = 0, high = 0;
  std::uint64_t id = 0;    // of the allocation; unique in the process
  bool read_only = false;  // for kernels
};
Place place_of(const void* pointer);

// Device memory of graphs and pools (memory.cpp).
cudaError_t allocate(int device, std::size_t bytes, void** out,
                     events::Allocation::Kind kind = events::Allocation::Kind::device,
                     int file = -1);  // file that its pages belong to (device::Range::file)
cudaError_t release(void* pointer);
// For functions that free: reports an invalid free to observers, if any. Their finding then replaces other messages.
cudaError_t report_invalid_free(cudaError_t error, const void* pointer, const char* by);
void release_all(int device);           // cudaDeviceReset
void forget_pool_block(void* pointer);  // the block is free: its pool uses less (pools.cpp)
void release_arrays(int device);        // cudaDeviceReset (textures.cpp)

}  // namespace warpgrind::semantics
