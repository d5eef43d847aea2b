// Older forms of runtime functions: memory, kernels, textures. CUDA 13 extended some structures; these functions read
// and write only as many bytes as the program's structures have.
#include <cstring>

#include "runtime/call.h"
#include "runtime/older/functions.h"
#include "semantics/batches.h"

namespace warpgrind::runtime {

namespace {

cudaMemLocation location_of(int device) {
  cudaMemLocation out{};
  out.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  out.id = device == cudaCpuDeviceId ? 0 : device;
  return out;
}

// Input of a call: CUDA 13's structure, which begins with the older one (null stays null).
template <class Now, class Older>
struct Longer {
  explicit Longer(const Older* older) : given(older != nullptr) {
    static_assert(sizeof(Older) <= sizeof(Now));
    if (older) std::memcpy(&now, older, sizeof *older);
  }
  const Now* get() const { return given ? &now : nullptr; }
  Now now{};
  bool given;
};
using Resource = Longer<cudaResourceDesc, ResourceDescription12>;
using View = Longer<cudaResourceViewDesc, ResourceViewDescription12>;

// Output of a call: copies the beginning of CUDA 13's structure to the program's.
template <class Now, class Older, class Call>
cudaError_t give(Older* out, const Call& call) {
  static_assert(sizeof(Older) <= sizeof(Now));
  Now now{};
  const cudaError_t error = call(out ? &now : nullptr);
  if (error == cudaSuccess && out) std::memcpy(out, &now, sizeof *out);
  return error;
}

}  // namespace

extern "C" {

WG_API cudaError_t warpgrind_older_cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise what, int device) {
  return cudaMemAdvise(pointer, count, what, location_of(device));
}
WG_API cudaError_t warpgrind_cuda12_cudaMemAdvise_v2(const void* pointer, size_t count, cudaMemoryAdvise what,
                                                     cudaMemLocation location) {
  return cudaMemAdvise(pointer, count, what, location);
}
WG_API cudaError_t warpgrind_older_cudaMemPrefetchAsync(const void* pointer, size_t count, int device,
                                                        cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, count, location_of(device), 0, stream);
}
WG_API cudaError_t warpgrind_cuda12_cudaMemPrefetchAsync_v2(const void* pointer, size_t count, cudaMemLocation location,
                                                            unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, count, location, flags, stream);
}
WG_API cudaError_t warpgrind_cuda12_cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* operations,
                                                           size_t* failed, unsigned long long flags,
                                                           cudaStream_t stream) {
  return api([&] { return copy_3d_batch(count, operations, failed, flags, stream); });
}
WG_API cudaError_t warpgrind_cuda12_cudaMemcpyBatchAsync(void** to, void** from, size_t* sizes, size_t count,
                                                         cudaMemcpyAttributes* attributes, size_t* indices,
                                                         size_t attribute_count, size_t* failed, cudaStream_t stream) {
  return api([&] { return copy_batch(to, from, sizes, count, attributes, indices, attribute_count, failed, stream); });
}
WG_API cudaError_t warpgrind_older_cudaPointerGetAttributes(PointerAttributes12* out, const void* pointer) {
  return give<cudaPointerAttributes>(out, [&](auto* now) { return cudaPointerGetAttributes(now, pointer); });
}

WG_API cudaError_t warpgrind_cuda11_cudaFuncGetAttributes(FunctionAttributes11* out, const void* function) {
  return give<cudaFuncAttributes>(out, [&](auto* now) { return cudaFuncGetAttributes(now, function); });
}
WG_API cudaError_t warpgrind_older_cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams*, unsigned, unsigned) {
  return unsupported_call("cudaLaunchCooperativeKernelMultiDevice");
}
// These two rounded doubles for GPUs without double precision (before compute capability 1.3). They do nothing here.
WG_API cudaError_t warpgrind_older_cudaSetDoubleForDevice(double*) {
  return api([&] { return cudaSuccess; });
}
WG_API cudaError_t warpgrind_older_cudaSetDoubleForHost(double*) {
  return api([&] { return cudaSuccess; });
}

WG_API cudaError_t warpgrind_cuda11_cudaGetDriverEntryPoint(const char* name, void** function,
                                                            unsigned long long flags) {
  return cudaGetDriverEntryPointByVersion(name, function, 11080, flags, nullptr);
}

WG_API cudaError_t warpgrind_older_cudaCreateSurfaceObject(cudaSurfaceObject_t* out,
                                                           const ResourceDescription12* resource) {
  return cudaCreateSurfaceObject(out, Resource(resource).get());
}
WG_API cudaError_t warpgrind_older_cudaGetSurfaceObjectResourceDesc(ResourceDescription12* out,
                                                                    cudaSurfaceObject_t object) {
  return give<cudaResourceDesc>(out, [&](auto* now) { return cudaGetSurfaceObjectResourceDesc(now, object); });
}
WG_API cudaError_t warpgrind_cuda12_cudaCreateTextureObject(cudaTextureObject_t* out,
                                                            const ResourceDescription12* resource,
                                                            const cudaTextureDesc* texture,
                                                            const ResourceViewDescription12* view) {
  return cudaCreateTextureObject(out, Resource(resource).get(), texture, View(view).get());
}
WG_API cudaError_t warpgrind_cuda11_cudaCreateTextureObject_v2(cudaTextureObject_t* out,
                                                               const ResourceDescription12* resource,
                                                               const cudaTextureDesc* texture,
                                                               const ResourceViewDescription12* view) {
  return warpgrind_cuda12_cudaCreateTextureObject(out, resource, texture, view);
}
WG_API cudaError_t warpgrind_cuda11_cudaCreateTextureObject(cudaTextureObject_t* out,
                                                            const ResourceDescription12* resource,
                                                            const TextureDescription11* texture,
                                                            const ResourceViewDescription12* view) {
  const Longer<cudaTextureDesc, TextureDescription11> now(texture);
  return warpgrind_cuda12_cudaCreateTextureObject(out, resource, now.get(), view);
}
WG_API cudaError_t warpgrind_older_cudaGetTextureObjectResourceDesc(ResourceDescription12* out,
                                                                    cudaTextureObject_t object) {
  return give<cudaResourceDesc>(out, [&](auto* now) { return cudaGetTextureObjectResourceDesc(now, object); });
}
WG_API cudaError_t warpgrind_older_cudaGetTextureObjectResourceViewDesc(ResourceViewDescription12* out,
                                                                        cudaTextureObject_t object) {
  return give<cudaResourceViewDesc>(out, [&](auto* now) { return cudaGetTextureObjectResourceViewDesc(now, object); });
}
WG_API cudaError_t warpgrind_cuda11_cudaGetTextureObjectTextureDesc(TextureDescription11* out,
                                                                    cudaTextureObject_t object) {
  return give<cudaTextureDesc>(out, [&](auto* now) { return cudaGetTextureObjectTextureDesc(now, object); });
}
WG_API cudaError_t warpgrind_cuda11_cudaGetTextureObjectTextureDesc_v2(cudaTextureDesc* out,
                                                                       cudaTextureObject_t object) {
  return cudaGetTextureObjectTextureDesc(out, object);
}

// ---- Texture and surface references of programs compiled with CUDA 11
WG_API cudaError_t warpgrind_cuda11___cudaRegisterSurface(void**, const void*, const void**, const char*, int, int) {
  return cudaSuccess;
}
WG_API cudaError_t warpgrind_cuda11___cudaRegisterTexture(void**, const void*, const void**, const char*, int, int,
                                                          int) {
  return cudaSuccess;
}
#define WG_REFUSED(name, parameters)                      \
  WG_API cudaError_t warpgrind_cuda11_##name parameters { \
    return unsupported_call(#name);                       \
  }
WG_REFUSED(cudaBindSurfaceToArray, (const void*, cudaArray_const_t, const cudaChannelFormatDesc*))
WG_REFUSED(cudaBindTexture, (size_t*, const void*, const void*, const cudaChannelFormatDesc*, size_t))
WG_REFUSED(cudaBindTexture2D, (size_t*, const void*, const void*, const cudaChannelFormatDesc*, size_t, size_t, size_t))
WG_REFUSED(cudaBindTextureToArray, (const void*, cudaArray_const_t, const cudaChannelFormatDesc*))
WG_REFUSED(cudaBindTextureToMipmappedArray, (const void*, cudaMipmappedArray_const_t, const cudaChannelFormatDesc*))
WG_REFUSED(cudaGetSurfaceReference, (const void**, const void*))
WG_REFUSED(cudaGetTextureAlignmentOffset, (size_t*, const void*))
WG_REFUSED(cudaGetTextureReference, (const void**, const void*))
WG_REFUSED(cudaUnbindTexture, (const void*))
#undef WG_REFUSED

}  // extern "C"

}  // namespace warpgrind::runtime
