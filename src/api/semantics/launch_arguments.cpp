// Step 1 of a launch (launch.cpp): kernel operations from the arguments of launches. Reads the forms in which the APIs
// pass arguments, makes the checks that CUDA documents, and packs the parameters.
#include <fmt/core.h>

#include <algorithm>

#include "base/assert.h"
#include "gpu/launch_limits.h"
#include "gpu/occupancy.h"
#include "semantics/launch.h"

namespace warpgrind::semantics {

namespace {

Dim3 to_dim(const dim3& d) {
  return {d.x, d.y, d.z};
}

// A launch with a wrong shape gives cudaErrorInvalidValue in all cases (CUDA 13.0 on an H200).
cudaError_t check_bounds(const ptx::PerformanceDirectives& p, const LaunchArguments& a) {
  if (p.reqntid[0]) {
    auto at_least_one = [](std::uint32_t v) { return v ? v : 1; };
    if (a.block.x != p.reqntid[0] || a.block.y != at_least_one(p.reqntid[1]) || a.block.z != at_least_one(p.reqntid[2]))
      return refuse(
          cudaErrorInvalidValue,
          fmt::format("a block of {} x {} x {} threads, but the kernel requires {} x {} x {}", a.block.x, a.block.y,
                      a.block.z, p.reqntid[0], at_least_one(p.reqntid[1]), at_least_one(p.reqntid[2])));
  }
  if (p.maxntid[0]) {
    std::uint64_t most = p.maxntid[0] * std::uint64_t{std::max(1u, p.maxntid[1])} * std::max(1u, p.maxntid[2]);
    if (to_dim(a.block).count() > most)
      return refuse(cudaErrorInvalidValue,
                    fmt::format("{} threads per block; the kernel's launch bounds allow at most {}",
                                to_dim(a.block).count(), most));
  }
  return cudaSuccess;
}

// Checks shared memory and registers per block and, for cooperative launches, that all blocks are resident at once.
cudaError_t check_resources(const KernelHandle& kernel, const session::KernelResources& resources,
                            const LaunchArguments& a) {
  const GpuModel& model = session::model();
  int allowed = kernel.max_dynamic_shared.load();
  std::uint64_t most = allowed >= 0 ? std::max<std::uint64_t>(allowed + resources.static_shared, model.shared_per_block)
                                    : model.shared_per_block;
  if (a.shared > most || resources.static_shared > most - a.shared)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("{} bytes of static and {} of dynamic shared memory per block; at most {} are allowed{}",
                              resources.static_shared, a.shared, most,
                              most < model.shared_per_block_optin
                                  ? fmt::format(" (up to {} with cudaFuncAttributeMaxDynamicSharedMemorySize)",
                                                model.shared_per_block_optin)
                                  : std::string()));
  if (resources.registers_exact &&
      std::uint64_t{resources.registers} * to_dim(a.block).count() > model.registers_per_block)
    return refuse(cudaErrorLaunchOutOfResources,
                  fmt::format("{} threads with {} registers each; a block has at most {} registers",
                              to_dim(a.block).count(), resources.registers, model.registers_per_block));
  if (!a.cooperative) return cudaSuccess;
  if (!model.cooperative_launch) return cudaErrorNotSupported;
  BlockResources block;
  block.threads = static_cast<std::uint32_t>(to_dim(a.block).count());
  block.registers_per_thread = resources.registers;
  block.static_shared = resources.static_shared;
  block.dynamic_shared = a.shared;
  block.shared_carveout =
      preferred_carveout(model, a.carveout_percent.value_or(preferred_carveout_percent(kernel)), block);
  std::uint64_t resident = std::uint64_t{occupancy(model, block).blocks_per_sm} * model.sm_count;
  if (to_dim(a.grid).count() <= resident) return cudaSuccess;
  return refuse(cudaErrorCooperativeLaunchTooLarge,
                fmt::format("a cooperative launch of {} blocks; at most {} can be resident at the same time",
                            to_dim(a.grid).count(), resident));
}

// Cluster size from the launch's attribute, the kernel's (__cluster_dims__), or cudaFuncAttributeRequiredClusterWidth
// etc.
cudaError_t choose_cluster(const KernelHandle& kernel, const std::uint32_t (&fixed)[3], const LaunchArguments& a,
                           Dim3& out) {
  constexpr std::uint64_t kPortable = 8, kMost = 16;  // CUDA C++ Programming Guide, "Thread Block Clusters"
  const auto dim = [](std::uint32_t v) { return std::max(1u, v); };
  Dim3 cluster{dim(a.cluster.x), dim(a.cluster.y), dim(a.cluster.z)};
  bool named = a.cluster.x != 0;
  if (!named && fixed[0]) {
    cluster = {fixed[0], dim(fixed[1]), dim(fixed[2])};
    named = true;
  }
  if (!named && kernel.cluster[0] > 0) {
    const auto set = [&](int i) { return static_cast<std::uint32_t>(std::max(1, kernel.cluster[i].load())); };
    cluster = {set(0), set(1), set(2)};
    named = true;
  }
  if (!named) return cudaSuccess;
  const std::uint64_t most = kernel.non_portable_cluster ? kMost : kPortable;
  if (a.grid.x % cluster.x || a.grid.y % cluster.y || a.grid.z % cluster.z)
    return refuse(cudaErrorInvalidClusterSize,
                  fmt::format("a grid of {} x {} x {} is not a multiple of the cluster size {} x {} x {}", a.grid.x,
                              a.grid.y, a.grid.z, cluster.x, cluster.y, cluster.z));
  if (cluster.count() > most)
    return refuse(cudaErrorInvalidClusterSize,
                  fmt::format("{} blocks per cluster; at most {} are allowed{}", cluster.count(), most,
                              most == kPortable ? " (16 with cudaFuncAttributeNonPortableClusterSizeAllowed)" : ""));
  out = cluster;
  return cudaSuccess;
}

// Packs the arguments of a launch by the API. Device::launch() does it for tests that use a device directly.
cudaError_t pack(const LaunchArguments& a, const std::vector<jit::ParameterLayout>& layout,
                 device::PackedParameters& out) {
  if (!a.packed) {
    auto packed = device::pack(layout, a.parameters);
    if (!packed) return cudaErrorInvalidValue;
    out = std::move(*packed);
    return cudaSuccess;
  }
  const std::size_t size = layout.empty() ? 0 : layout.back().offset + layout.back().size;
  if (a.packed->size() < size)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("{} bytes of packed parameters, but the kernel has {}", a.packed->size(), size));
  out.bytes.assign(a.packed->begin(), a.packed->begin() + static_cast<std::ptrdiff_t>(size));
  return cudaSuccess;
}

}  // namespace

cudaError_t make_kernel(const LaunchArguments& a, KernelOperation& out) {
  KernelHandle* kernel = find_kernel(a.function);
  if (!kernel) return refuse(cudaErrorInvalidDeviceFunction, "not a kernel of this program");
  thread_state().refused_kernel = kernel->name;
  if (std::string problem = shape_problem(session::model(), to_dim(a.grid), to_dim(a.block)); !problem.empty())
    return refuse(cudaErrorInvalidValue, std::move(problem));
  if (cudaError_t error = find_entry(*kernel, out.entry)) return error;
  WG_ASSERT(out.entry && out.entry->text);
  if (cudaError_t error = check_bounds(out.entry->text->performance, a)) return error;
  if (cudaError_t error = check_resources(*kernel, out.entry->resources, a)) return error;
  out.kernel = kernel;
  out.config.grid = to_dim(a.grid);
  out.config.block = to_dim(a.block);
  out.config.dynamic_shared = a.shared;
  out.config.cooperative = a.cooperative;
  out.early = a.early;
  out.carveout_percent = a.carveout_percent.value_or(preferred_carveout_percent(*kernel));
  if (cudaError_t error =
          choose_cluster(*kernel, out.entry->text->performance.reqnctapercluster, a, out.config.cluster))
    return error;
  return pack(a, out.entry->parameters, out.parameters);
}

LaunchArguments plain_launch(const void* function, dim3 grid, dim3 block, void** parameters, std::size_t shared) {
  LaunchArguments a;
  a.function = function;
  a.grid = grid;
  a.block = block;
  a.parameters = parameters;
  a.shared = shared;
  return a;
}

cudaError_t take_packed(void** extra, LaunchArguments& out) {
  void *const kEnd = nullptr, *const kBuffer = reinterpret_cast<void*>(1), *const kSize = reinterpret_cast<void*>(2);
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != kEnd; extra += 2) {
    if (*extra == kBuffer)
      buffer = extra[1];
    else if (*extra == kSize)
      size = *static_cast<const std::size_t*>(extra[1]);
    else
      return cudaErrorInvalidValue;
  }
  if (!buffer && size) return cudaErrorInvalidValue;
  out.packed = std::span(static_cast<const std::uint8_t*>(buffer), size);
  return cudaSuccess;
}

cudaError_t launch_with_attributes(LaunchArguments a, cudaStream_t stream, const cudaLaunchAttribute* attributes,
                                   unsigned count) {
  if (count && !attributes) return cudaErrorInvalidValue;
  Event* completed = nullptr;
  for (const cudaLaunchAttribute& attribute : std::span(attributes, count)) {
    switch (attribute.id) {
      case cudaLaunchAttributeCooperative:
        a.cooperative = attribute.val.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension:
        a.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
        break;
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        a.early = attribute.val.programmaticStreamSerializationAllowed != 0;
        break;
      case cudaLaunchAttributePreferredSharedMemoryCarveout: {
        const unsigned percent = attribute.val.sharedMemCarveout;
        if (percent > 100 && percent != static_cast<unsigned>(-1)) return cudaErrorInvalidValue;
        a.carveout_percent = static_cast<int>(percent);
        break;
      }
      case cudaLaunchAttributeLaunchCompletionEvent:
        completed = attribute.val.launchCompletionEvent.event;
        break;
      case cudaLaunchAttributeProgrammaticEvent:
        completed = attribute.val.programmaticEvent.event;
        break;
      default:
        break;  // scheduling and cache hints: nothing to do here
    }
  }
  const EventRef event = completed ? find_event(completed) : nullptr;
  if (event && !(event->flags & cudaEventDisableTiming)) return cudaErrorNotSupported;
  cudaError_t error = launch_kernel(a, stream);
  if (error == cudaSuccess && event) error = submit(resolve(stream), EventOperation{event, false}, false);
  return error;
}

}  // namespace warpgrind::semantics
