// Attributes, occupancy and parameters of kernels.
#include "semantics/kernels.h"

#include <algorithm>

#include "base/element.h"
#include "gpu/occupancy.h"
#include "semantics/launch.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

namespace {

struct Described {
  KernelHandle* kernel = nullptr;
  std::uint32_t function = 0;
  std::shared_ptr<const ptx::Module> module;
  session::KernelResources resources;
  const ptx::Function& entry() const { return element(module->functions, function); }
};

cudaError_t describe(const void* function, Described& out) {
  out.kernel = find_kernel(function);
  if (!out.kernel) return cudaErrorInvalidDeviceFunction;
  if (cudaError_t error = resolve_function(*out.kernel, out.function)) return error;
  out.module = *out.kernel->program->module();
  if (!out.entry().is_entry) return cudaErrorInvalidDeviceFunction;
  auto resources = out.kernel->program->resources(out.kernel->name);
  if (!resources) {
    session::messages().problem(resources.error());
    return error_of(resources.error());
  }
  out.resources = *resources;
  return cudaSuccess;
}

// Maximum threads per block of the kernel, by its launch bounds and then its registers.
int max_threads(const Described& d) {
  const GpuModel& model = session::model();
  std::uint64_t most = model.max_threads_per_block;
  const ptx::PerformanceDirectives& p = d.entry().performance;
  auto product = [](const std::uint32_t v[3]) { return std::uint64_t{v[0]} * std::max(1u, v[1]) * std::max(1u, v[2]); };
  if (p.maxntid[0]) most = std::min(most, product(p.maxntid));
  if (p.reqntid[0]) most = std::min(most, product(p.reqntid));
  if (d.resources.registers_exact && d.resources.registers) {
    std::uint64_t unit = std::max(1u, model.register_allocation_unit);
    std::uint64_t per_warp = (std::uint64_t{d.resources.registers} * 32 + unit - 1) / unit * unit;
    most = std::min(most, model.registers_per_block / per_warp * 32);
  }
  return static_cast<int>(most);
}

int max_dynamic_shared(const Described& d) {
  int set = d.kernel->max_dynamic_shared.load();
  if (set >= 0) return set;
  const GpuModel& model = session::model();
  return static_cast<int>(model.shared_per_block - std::min(model.shared_per_block, d.resources.static_shared));
}

}  // namespace

cudaError_t attributes_of(cudaFuncAttributes& out, const void* function) {
  Described d;
  if (cudaError_t error = describe(function, d)) return error;
  out = {};
  out.sharedSizeBytes = d.resources.static_shared;
  out.constSizeBytes = d.resources.constant_bytes;
  out.localSizeBytes = d.resources.local_bytes;
  out.maxThreadsPerBlock = max_threads(d);
  out.numRegs = static_cast<int>(d.resources.registers);
  const GpuModel& model = session::model();
  int target = 0;
  for (char c : d.module->target)
    if (c >= '0' && c <= '9') target = target * 10 + (c - '0');
  out.ptxVersion = target;
  out.binaryVersion = model.cc_major * 10 + model.cc_minor;
  out.maxDynamicSharedSizeBytes = max_dynamic_shared(d);
  out.preferredShmemCarveout = d.kernel->carveout;
  out.clusterDimMustBeSet = d.kernel->cluster_must_be_set;
  const std::uint32_t* cluster = d.entry().performance.reqnctapercluster;
  auto wanted = [&](int i) {
    int set = d.kernel->cluster[i].load();
    return set ? set : static_cast<int>(cluster[i]);
  };
  out.requiredClusterWidth = wanted(0);
  out.requiredClusterHeight = wanted(1);
  out.requiredClusterDepth = wanted(2);
  out.clusterSchedulingPolicyPreference = d.kernel->cluster_policy;
  out.nonPortableClusterSizeAllowed = d.kernel->non_portable_cluster;
  return cudaSuccess;
}

cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  KernelHandle* kernel = find_kernel(function);
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
      const GpuModel& model = session::model();
      Described d;
      if (cudaError_t error = describe(function, d)) return error;
      std::uint64_t most = model.shared_per_block_optin ? model.shared_per_block_optin : model.shared_per_block;
      if (value < 0 || static_cast<std::uint64_t>(value) + d.resources.static_shared > most)
        return cudaErrorInvalidValue;
      kernel->max_dynamic_shared = value;
      return cudaSuccess;
    }
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      kernel->carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
      kernel->cluster_must_be_set = value;
      return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      kernel->cluster[attribute - cudaFuncAttributeRequiredClusterWidth] = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      kernel->non_portable_cluster = value;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      kernel->cluster_policy = value;
      return cudaSuccess;
    case cudaFuncAttributeMax:
      break;
  }
  return cudaErrorInvalidValue;
}

cudaError_t occupancy_of(const void* function, int block_size, std::size_t dynamic_shared, Occupancy& out) {
  if (block_size <= 0) return cudaErrorInvalidValue;
  Described d;
  if (cudaError_t error = describe(function, d)) return error;
  BlockResources block;
  block.threads = static_cast<std::uint32_t>(block_size);
  block.registers_per_thread = d.resources.registers;
  block.static_shared = d.resources.static_shared;
  block.dynamic_shared = dynamic_shared;
  block.shared_carveout = preferred_carveout(session::model(), preferred_carveout_percent(*d.kernel), block);
  out = occupancy(session::model(), block);
  if (block_size > max_threads(d)) out.blocks_per_sm = 0;
  return cudaSuccess;
}

int preferred_carveout_percent(const KernelHandle& kernel) {
  if (const int percent = kernel.carveout; percent >= 0) return percent;
  cudaFuncCache config = kernel.cache_config;
  if (config == cudaFuncCachePreferNone) config = current_context().cache_config;
  switch (config) {
    case cudaFuncCachePreferNone:
      break;
    case cudaFuncCachePreferShared:
      return 100;
    case cudaFuncCachePreferL1:
      return 0;
    case cudaFuncCachePreferEqual:
      return 50;
  }
  return -1;
}

cudaError_t set_cache_config(const void* function, cudaFuncCache config) {
  KernelHandle* kernel = find_kernel(function);
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  if (config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
  kernel->cache_config = config;
  return cudaSuccess;
}

cudaError_t parameter_info(const void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  KernelHandle* kernel = find_kernel(function);
  const session::KernelEntry* entry = nullptr;
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  if (cudaError_t error = find_entry(*kernel, entry)) return error;
  const auto& layout = entry->parameters;
  if (index >= layout.size() || !offset) return cudaErrorInvalidValue;
  *offset = layout[index].offset;
  if (size) *size = layout[index].size;
  return cudaSuccess;
}

cudaError_t available_shared(std::size_t* bytes, const void* function, int blocks, int block_size) {
  if (!bytes || blocks <= 0) return cudaErrorInvalidValue;
  Occupancy o;
  if (cudaError_t error = occupancy_of(function, block_size, 0, o)) return error;
  if (o.blocks_per_sm < static_cast<std::uint32_t>(blocks)) return cudaErrorInvalidValue;
  const GpuModel& model = session::model();
  std::size_t low = 0, high = model.shared_per_block_optin ? model.shared_per_block_optin : model.shared_per_block;
  while (low < high) {
    std::size_t middle = (low + high + 1) / 2;
    Occupancy probe;
    if (cudaError_t error = occupancy_of(function, block_size, middle, probe)) return error;
    if (probe.blocks_per_sm >= static_cast<std::uint32_t>(blocks)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  *bytes = low;
  return cudaSuccess;
}

cudaError_t func_get_attributes(cudaFuncAttributes* out, const void* function) {
  if (!out) return cudaErrorInvalidValue;
  const cudaError_t error = attributes_of(*out, function);
  if (error == cudaSuccess) charge_load(*find_kernel(function), thread_state().device);
  return error;
}

cudaError_t kernel_set_attribute_for_device(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device) {
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  return set_attribute(kernel, attribute, value);
}

cudaError_t func_get_name(const char** name, const void* function) {
  KernelHandle* kernel = find_kernel(function);
  if (!kernel || !name) return kernel ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction;
  *name = kernel->name.c_str();
  return cudaSuccess;
}

cudaError_t occupancy_max_active_blocks_per_multiprocessor_with_flags(int* blocks, const void* function, int block_size,
                                                                      std::size_t dynamic_shared) {
  Occupancy o;
  if (!blocks) return cudaErrorInvalidValue;
  if (cudaError_t error = occupancy_of(function, block_size, dynamic_shared, o)) return error;
  *blocks = static_cast<int>(o.blocks_per_sm);
  return cudaSuccess;
}

cudaError_t most_occupying_block(int* grid, int* block_size, const void* function,
                                 const std::function<std::size_t(int)>& shared_of, int limit) {
  Described d;
  if (cudaError_t error = describe(function, d)) return error;
  constexpr int kWarp = 32;
  int largest = static_cast<int>(max_threads(d));
  if (limit > 0) largest = std::min(largest, limit);
  int best = 0;
  *grid = *block_size = 0;
  for (int size = (largest + kWarp - 1) / kWarp * kWarp; size > 0; size -= kWarp) {
    const int threads = std::min(size, largest);
    Occupancy o;
    if (cudaError_t error = occupancy_of(function, threads, shared_of(threads), o)) return error;
    const int resident = static_cast<int>(o.blocks_per_sm) * threads;
    if (resident <= best) continue;
    best = resident;
    *block_size = threads;
    *grid = static_cast<int>(o.blocks_per_sm * session::model().sm_count);
  }
  return cudaSuccess;
}

namespace {

unsigned cluster_blocks(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; i++)
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& c = config.attrs[i].val.clusterDim;
      return std::max(1u, c.x) * std::max(1u, c.y) * std::max(1u, c.z);
    }
  return 1;
}

}  // namespace

cudaError_t occupancy_max_potential_cluster_size(int* size, const void* function, const cudaLaunchConfig_t* config) {
  KernelHandle* kernel = find_kernel(function);
  if (!size || !config || !kernel) return cudaErrorInvalidValue;
  if (session::model().cc_major < 9) return cudaErrorNotSupported;
  *size = kernel->non_portable_cluster ? 16 : 8;
  return cudaSuccess;
}

cudaError_t occupancy_max_active_clusters(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  if (!clusters || !config) return cudaErrorInvalidValue;
  if (session::model().cc_major < 9) return cudaErrorNotSupported;
  Occupancy o;
  const dim3& b = config->blockDim;
  if (cudaError_t error = occupancy_of(function, static_cast<int>(b.x * b.y * b.z), config->dynamicSmemBytes, o))
    return error;
  *clusters = static_cast<int>(std::uint64_t{o.blocks_per_sm} * session::model().sm_count / cluster_blocks(*config));
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
