// The binary layout of src/cudart/api_types.h against the toolkit's own headers, where there is a toolkit.
#include <gtest/gtest.h>

#include "cudart/api_types.h"

#if __has_include("/usr/local/cuda/include/cuda_runtime_api.h")
#include "/usr/local/cuda/include/cuda_runtime_api.h"
#define WG_HAVE_TOOLKIT (CUDART_VERSION >= 13000 && CUDART_VERSION < 14000)
#else
#define WG_HAVE_TOOLKIT 0
#endif

namespace {

#if WG_HAVE_TOOLKIT
namespace ours = warpgrind::cudart;

#define SAME_SIZE(type) EXPECT_EQ(sizeof(ours::type), sizeof(::type)) << #type
#define SAME_FIELD(type, field) EXPECT_EQ(offsetof(ours::type, field), offsetof(::type, field)) << #type "::" #field

TEST(CudartLayout, Sizes) {
  SAME_SIZE(dim3);
  SAME_SIZE(cudaChannelFormatDesc);
  SAME_SIZE(cudaPitchedPtr);
  SAME_SIZE(cudaExtent);
  SAME_SIZE(cudaMemcpy3DParms);
  SAME_SIZE(cudaMemcpy3DPeerParms);
  SAME_SIZE(cudaMemsetParams);
  SAME_SIZE(cudaPointerAttributes);
  SAME_SIZE(cudaMemLocation);
  SAME_SIZE(cudaMemAccessDesc);
  SAME_SIZE(cudaMemPoolProps);
  SAME_SIZE(cudaResourceDesc);
  SAME_SIZE(cudaResourceViewDesc);
  SAME_SIZE(cudaTextureDesc);
  SAME_SIZE(cudaFuncAttributes);
  SAME_SIZE(cudaLaunchAttribute);
  SAME_SIZE(cudaLaunchAttributeValue);
  SAME_SIZE(cudaLaunchConfig_t);
  SAME_SIZE(cudaKernelNodeParams);
  SAME_SIZE(cudaHostNodeParams);
  SAME_SIZE(cudaMemAllocNodeParams);
  SAME_SIZE(cudaGraphNodeParams);
  SAME_SIZE(cudaGraphEdgeData);
  SAME_SIZE(cudaGraphInstantiateParams);
  SAME_SIZE(cudaGraphExecUpdateResultInfo);
  SAME_SIZE(cudaConditionalNodeParams);
  SAME_SIZE(cudaDeviceProp);
}

TEST(CudartLayout, Fields) {
  SAME_FIELD(cudaMemcpy3DParms, dstArray);
  SAME_FIELD(cudaMemcpy3DParms, extent);
  SAME_FIELD(cudaMemcpy3DParms, kind);
  SAME_FIELD(cudaMemcpy3DPeerParms, dstArray);
  SAME_FIELD(cudaMemcpy3DPeerParms, dstDevice);
  SAME_FIELD(cudaPointerAttributes, hostPointer);
  SAME_FIELD(cudaMemPoolProps, maxSize);
  SAME_FIELD(cudaResourceDesc, res);
  SAME_FIELD(cudaResourceDesc, flags);
  SAME_FIELD(cudaTextureDesc, borderColor);
  SAME_FIELD(cudaTextureDesc, normalizedCoords);
  SAME_FIELD(cudaTextureDesc, seamlessCubemap);
  SAME_FIELD(cudaFuncAttributes, maxThreadsPerBlock);
  SAME_FIELD(cudaFuncAttributes, numRegs);
  SAME_FIELD(cudaFuncAttributes, nonPortableClusterSizeAllowed);
  SAME_FIELD(cudaLaunchAttribute, val);
  SAME_FIELD(cudaLaunchConfig_t, stream);
  SAME_FIELD(cudaLaunchConfig_t, numAttrs);
  SAME_FIELD(cudaMemAllocNodeParams, dptr);
  SAME_FIELD(cudaGraphNodeParams, kernel);
  SAME_FIELD(cudaConditionalNodeParams, phGraph_out);
  SAME_FIELD(cudaDeviceProp, totalGlobalMem);
  SAME_FIELD(cudaDeviceProp, maxGridSize);
  SAME_FIELD(cudaDeviceProp, major);
  SAME_FIELD(cudaDeviceProp, multiProcessorCount);
  SAME_FIELD(cudaDeviceProp, maxTexture3D);
  SAME_FIELD(cudaDeviceProp, maxSurfaceCubemapLayered);
  SAME_FIELD(cudaDeviceProp, surfaceAlignment);
  SAME_FIELD(cudaDeviceProp, memoryBusWidth);
  SAME_FIELD(cudaDeviceProp, l2CacheSize);
  SAME_FIELD(cudaDeviceProp, sharedMemPerMultiprocessor);
  SAME_FIELD(cudaDeviceProp, cooperativeLaunch);
  SAME_FIELD(cudaDeviceProp, sharedMemPerBlockOptin);
  SAME_FIELD(cudaDeviceProp, reservedSharedMemPerBlock);
  SAME_FIELD(cudaDeviceProp, memoryPoolsSupported);
  SAME_FIELD(cudaDeviceProp, clusterLaunch);
  SAME_FIELD(cudaDeviceProp, gpuPciSubsystemID);
  SAME_FIELD(cudaDeviceProp, reserved);
}

TEST(CudartLayout, ErrorCodes) {
#define WG_ERROR(name, value, text) EXPECT_EQ(static_cast<int>(ours::name), static_cast<int>(::name));
#include "cudart/errors.inc"
#undef WG_ERROR
}
#else
TEST(CudartLayout, NoToolkit) {
  GTEST_SKIP() << "no CUDA 13 toolkit in /usr/local/cuda";
}
#endif

}  // namespace
