// One piece of work of a stream: done at once, or kept as a node of a graph. Stream calls, captures, explicit graph
// nodes and graph launches all come down to these.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "cudart/objects.h"
#include "device/device.h"
#include "device/memory/array.h"

namespace warpgrind::cudart {

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
  bool peer = false;  // cudaMemcpyPeer and its like
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
  std::uint32_t function = 0;
  device::LaunchConfig config;
  std::vector<std::uint8_t> parameters;  // as the .param list lies in memory
  std::vector<std::size_t> offsets;      // of each parameter
  std::vector<void*> pointers();
};
struct HostOperation {
  cudaHostFn_t function = nullptr;
  cudaStreamCallback_t callback = nullptr;  // cudaStreamAddCallback; else `function`
  void* data = nullptr;
};
struct EventOperation {
  Event* event = nullptr;
  bool wait = false;
};
struct EmptyOperation {};
struct ChildGraphOperation {
  std::shared_ptr<Graph> graph;
};
struct AllocOperation {
  std::size_t bytes = 0;
  void* pointer = nullptr;  // chosen when the node is made, so that later nodes can name it
  int device = 0;
};
struct FreeOperation {
  void* pointer = nullptr;
};
using Operation = std::variant<KernelOperation, CopyOperation, FillOperation, HostOperation, EventOperation,
                               EmptyOperation, ChildGraphOperation, AllocOperation, FreeOperation>;

// Does the work and places it on the timeline. host_blocks: the host waits for it.
cudaError_t execute(Operation& operation, Stream& stream, bool host_blocks);
// Now, or as the next node of the stream's capture.
cudaError_t submit(Stream* stream, Operation operation, bool host_blocks);

// Copies (copy.cpp).
cudaError_t check(const CopyOperation& copy);
cudaError_t perform(const CopyOperation& copy, Stream& stream, bool host_blocks);
cudaError_t check(const FillOperation& fill);
cudaError_t perform(const FillOperation& fill, Stream& stream, bool host_blocks);
CopyOperation linear_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

// Kernels (launch.cpp).
struct LaunchArguments {
  const void* function = nullptr;
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t shared = 0;
  void** parameters = nullptr;
  bool cooperative = false;
  dim3 cluster{0, 0, 0};
};
cudaError_t make_kernel(const LaunchArguments& arguments, KernelOperation& out);
cudaError_t perform(KernelOperation& kernel, Stream& stream);

// What memory a pointer is in.
enum class Memory : std::uint8_t { pageable, pinned, device, managed, invalid };
struct Place {
  Memory memory = Memory::pageable;
  int device = 0;
  std::uint64_t low = 0, high = 0;
};
Place place_of(const void* pointer);

// Device memory of graphs and pools (memory.cpp).
cudaError_t allocate(int device, std::size_t bytes, void** out, bool managed = false);
cudaError_t release(void* pointer);
void release_all(int device);           // cudaDeviceReset
void forget_pool_block(void* pointer);  // it is free: its pool uses less (pools.cpp)
void release_arrays(int device);        // cudaDeviceReset (textures.cpp)

}  // namespace warpgrind::cudart
