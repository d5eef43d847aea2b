// Conversion of graph node parameters (kernels, copies) between the driver API and the host layer.
#include "driver/graph_parameters.h"

#include <algorithm>

#include "semantics/arrays.h"
#include "semantics/graph.h"
#include "semantics/launch.h"

namespace warpgrind::driver {

CUresult launch_of(const CUDA_KERNEL_NODE_PARAMS_v3& p, semantics::LaunchArguments& out) {
  // A CUkernel can be used in place of its function, in any context.
  const semantics::KernelHandle* kernel = p.func ? p.func : p.kern;
  if (!semantics::is_kernel(kernel)) return CUDA_ERROR_INVALID_VALUE;
  if (p.kernelParams && p.extra) return CUDA_ERROR_INVALID_VALUE;
  out.function = kernel;
  out.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  out.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  out.shared = p.sharedMemBytes;
  out.parameters = p.kernelParams;
  return p.extra ? driver_error(semantics::take_packed(p.extra, out)) : CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS_v3 parameters_of(semantics::GraphNode& node, semantics::KernelOperation& kernel) {
  node.parameter_pointers = kernel.pointers();
  const device::LaunchConfig& c = kernel.config;
  CUDA_KERNEL_NODE_PARAMS_v3 p{};
  p.func = kernel.kernel;
  p.gridDimX = c.grid.x, p.gridDimY = c.grid.y, p.gridDimZ = c.grid.z;
  p.blockDimX = c.block.x, p.blockDimY = c.block.y, p.blockDimZ = c.block.z;
  p.sharedMemBytes = static_cast<unsigned>(c.dynamic_shared);
  p.kernelParams = node.parameter_pointers.data();
  return p;
}

namespace {

// Bytes of an array's element; 1 if there is no array.
std::size_t element_bytes(const semantics::ArrayHandle* array) {
  const std::shared_ptr<device::Array> there = semantics::array_of(array);
  return there ? there->element_bytes() : 1;
}

// One side of a copy: its type of memory and its place there.
struct Side {
  CUmemorytype type{};
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  std::size_t x = 0, y = 0, z = 0, pitch = 0, height = 0;
};

bool place_side(const Side& side, const CUDA_MEMCPY3D& p, cudaArray_t& array, cudaPos& at, cudaPitchedPtr& memory) {
  at = {side.x, side.y, side.z};
  if (side.type == CU_MEMORYTYPE_ARRAY) {
    array = side.array;
    const std::size_t element = element_bytes(array);
    if (!semantics::array_of(array) || side.x % element) return false;
    at.x /= element;
    return true;
  }
  const bool of_host = side.type == CU_MEMORYTYPE_HOST;
  if (!of_host && side.type != CU_MEMORYTYPE_DEVICE && side.type != CU_MEMORYTYPE_UNIFIED) return false;
  void* pointer = of_host ? const_cast<void*>(side.host) : reinterpret_cast<void*>(side.device);
  // A single row needs no pitch, and a single slice no height.
  const std::size_t pitch = side.pitch ? side.pitch : side.x + p.WidthInBytes;
  const std::size_t rows = side.height ? side.height : side.y + p.Height;
  if ((!side.pitch && p.Height > 1) || (!side.height && p.Depth > 1)) return false;
  memory = {pointer, pitch, pitch, rows};
  return pointer != nullptr;
}

CUmemorytype type_of(cudaArray_const_t array, cudaMemcpyKind kind, bool is_source) {
  if (array) return CU_MEMORYTYPE_ARRAY;
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  const bool of_host =
      kind == cudaMemcpyHostToHost || kind == (is_source ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
  return of_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

}  // namespace

CUresult copy_of(const CUDA_MEMCPY3D* p, cudaMemcpy3DParms& out) {
  if (!p || p->srcLOD || p->dstLOD) return CUDA_ERROR_INVALID_VALUE;
  out = {};
  const Side from{p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
                  p->srcY,          p->srcZ,    p->srcPitch,  p->srcHeight};
  const Side to{p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
                p->dstY,          p->dstZ,    p->dstPitch,  p->dstHeight};
  if (!place_side(from, *p, out.srcArray, out.srcPos, out.srcPtr) ||
      !place_side(to, *p, out.dstArray, out.dstPos, out.dstPtr))
    return CUDA_ERROR_INVALID_VALUE;
  const std::size_t element = std::max(element_bytes(out.srcArray), element_bytes(out.dstArray));
  if (p->WidthInBytes % element) return CUDA_ERROR_INVALID_VALUE;
  out.extent = {p->WidthInBytes / element, p->Height, p->Depth};
  const auto is = [](CUmemorytype type, CUmemorytype what) { return type == what; };
  const bool from_host = is(from.type, CU_MEMORYTYPE_HOST), to_host = is(to.type, CU_MEMORYTYPE_HOST);
  if (is(from.type, CU_MEMORYTYPE_UNIFIED) || is(to.type, CU_MEMORYTYPE_UNIFIED))
    out.kind = cudaMemcpyDefault;
  else if (from_host)
    out.kind = to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  else
    out.kind = to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D parameters_of(const cudaMemcpy3DParms& c) {
  CUDA_MEMCPY3D p{};
  p.srcMemoryType = type_of(c.srcArray, c.kind, true);
  p.dstMemoryType = type_of(c.dstArray, c.kind, false);
  p.srcXInBytes = c.srcPos.x * element_bytes(c.srcArray), p.srcY = c.srcPos.y, p.srcZ = c.srcPos.z;
  p.dstXInBytes = c.dstPos.x * element_bytes(c.dstArray), p.dstY = c.dstPos.y, p.dstZ = c.dstPos.z;
  p.srcArray = c.srcArray, p.srcPitch = c.srcPtr.pitch, p.srcHeight = c.srcPtr.ysize;
  p.dstArray = c.dstArray, p.dstPitch = c.dstPtr.pitch, p.dstHeight = c.dstPtr.ysize;
  if (p.srcMemoryType == CU_MEMORYTYPE_HOST)
    p.srcHost = c.srcPtr.ptr;
  else
    p.srcDevice = reinterpret_cast<CUdeviceptr>(c.srcPtr.ptr);
  if (p.dstMemoryType == CU_MEMORYTYPE_HOST)
    p.dstHost = c.dstPtr.ptr;
  else
    p.dstDevice = reinterpret_cast<CUdeviceptr>(c.dstPtr.ptr);
  p.WidthInBytes = c.extent.width * std::max(element_bytes(c.srcArray), element_bytes(c.dstArray));
  p.Height = c.extent.height;
  p.Depth = c.extent.depth;
  return p;
}

CUresult device_of(CUcontext context, int& device) {
  device = -1;
  if (!context) return CUDA_SUCCESS;
  const CUresult error = check(context);
  if (error == CUDA_SUCCESS) device = context->device;
  return error;
}

}  // namespace warpgrind::driver
