// A program as CUDA 11 or 12 compiles it (OLDER_RELEASE). It calls that release's functions with its names and
// parameters, and passes structures of that release's size. Linked against our library of that release's name and, as
// older_static, against a stand-in for NVIDIA's static runtime, whose functions must be replaced.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "api_test.h"
#include "runtime/older/types.h"

namespace warpgrind::runtime {

// The functions as that release declares them, beside the prototypes of 13.
extern "C" {
#if OLDER_RELEASE == 11
using Properties = DeviceProperties11;
cudaError_t get_properties(Properties*, int) __asm__("cudaGetDeviceProperties");
cudaError_t instantiate(cudaGraphExec_t*, cudaGraph_t, cudaGraphNode_t*, char*, size_t) __asm__("cudaGraphInstantiate");
cudaError_t update(cudaGraphExec_t, cudaGraph_t, cudaGraphNode_t*,
                   cudaGraphExecUpdateResult*) __asm__("cudaGraphExecUpdate");
cudaError_t function_attributes(FunctionAttributes11*, const void*) __asm__("cudaFuncGetAttributes");
cudaError_t create_texture(cudaTextureObject_t*, const ResourceDescription12*, const TextureDescription11*,
                           const ResourceViewDescription12*) __asm__("cudaCreateTextureObject");
cudaError_t texture_description(TextureDescription11*, cudaTextureObject_t) __asm__("cudaGetTextureObjectTextureDesc");
using TextureDescription = TextureDescription11;
#else
using Properties = DeviceProperties12;
cudaError_t get_properties(Properties*, int) __asm__("cudaGetDeviceProperties_v2");
cudaError_t get_properties_of_11(DeviceProperties11*, int) __asm__("cudaGetDeviceProperties");
cudaError_t create_texture(cudaTextureObject_t*, const ResourceDescription12*, const cudaTextureDesc*,
                           const ResourceViewDescription12*) __asm__("cudaCreateTextureObject");
cudaError_t texture_description(cudaTextureDesc*, cudaTextureObject_t) __asm__("cudaGetTextureObjectTextureDesc");
cudaError_t elapsed_v2(float*, cudaEvent_t, cudaEvent_t) __asm__("cudaEventElapsedTime_v2");
using TextureDescription = cudaTextureDesc;
#endif
cudaError_t choose(int*, const DeviceProperties11*) __asm__("cudaChooseDevice");
cudaError_t pointer_attributes(PointerAttributes12*, const void*) __asm__("cudaPointerGetAttributes");
cudaError_t prefetch(const void*, size_t, int, cudaStream_t) __asm__("cudaMemPrefetchAsync");
cudaError_t advise(const void*, size_t, cudaMemoryAdvise, int) __asm__("cudaMemAdvise");
cudaError_t add_dependencies(cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*,
                             size_t) __asm__("cudaGraphAddDependencies");
cudaError_t get_edges(cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*, size_t*) __asm__("cudaGraphGetEdges");
cudaError_t get_dependencies(cudaGraphNode_t, cudaGraphNode_t*, size_t*) __asm__("cudaGraphNodeGetDependencies");
cudaError_t capture_info(cudaStream_t, cudaStreamCaptureStatus*,
                         unsigned long long*) __asm__("cudaStreamGetCaptureInfo");
cudaError_t capture_info_v2(cudaStream_t, cudaStreamCaptureStatus*, unsigned long long*, cudaGraph_t*,
                            const cudaGraphNode_t**, size_t*) __asm__("cudaStreamGetCaptureInfo_v2");
cudaError_t resource_description(ResourceDescription12*,
                                 cudaTextureObject_t) __asm__("cudaGetTextureObjectResourceDesc");
cudaError_t thread_synchronize() __asm__("cudaThreadSynchronize");
}

namespace {

// A structure followed by memory that no call may write.
template <class T>
struct Guarded {
  Guarded() { behind.fill(std::byte{0x5a}); }
  bool whole() const {
    return std::all_of(behind.begin(), behind.end(), [](std::byte b) { return b == std::byte{0x5a}; });
  }
  T value{};
  std::array<std::byte, 512> behind;
};

TEST(Older, PropertiesEndWhereTheyDid) {
  Guarded<Properties> p;
  OK(get_properties(&p.value, 0));
  EXPECT_TRUE(p.whole());
  EXPECT_NE(std::string(p.value.name).find("H200"), std::string::npos);
  EXPECT_EQ(p.value.multiProcessorCount, 132);
  EXPECT_EQ(p.value.major, 9);
  int attribute = 0;
  OK(cudaDeviceGetAttribute(&attribute, cudaDevAttrClockRate, 0));
  EXPECT_GT(attribute, 0);
  EXPECT_EQ(p.value.clockRate, attribute);
  OK(cudaDeviceGetAttribute(&attribute, cudaDevAttrReservedSharedMemoryPerBlock, 0));
  EXPECT_EQ(p.value.reservedSharedMemPerBlock, static_cast<size_t>(attribute));
  FAILS(cudaErrorInvalidDevice, get_properties(&p.value, 99));
  FAILS(cudaErrorInvalidValue, get_properties(nullptr, 0));
#if OLDER_RELEASE == 12
  EXPECT_EQ(p.value.clusterLaunch, 1);
  Guarded<DeviceProperties11> shorter;
  OK(get_properties_of_11(&shorter.value, 0));
  EXPECT_TRUE(shorter.whole());
  EXPECT_EQ(std::memcmp(&shorter.value, &p.value, sizeof shorter.value), 0);
#endif
  DeviceProperties11 wanted{};
  wanted.major = 9;
  int device = -1;
  OK(choose(&device, &wanted));
  EXPECT_EQ(device, 0);
}

#ifndef OLDER_STATIC
// The library has every function that the table has for this release, and none that only the other release has.
TEST(Older, EveryFunctionIsThere) {
  void* library = ::dlopen(OLDER_RELEASE == 11 ? "libcudart.so.11.0" : "libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto there = [&](const char* name) { EXPECT_NE(::dlsym(library, name), nullptr) << name; };
#define WG_OLDER(name, parameters, arguments) there(#name);
#define WG_OLDER_PTSZ(name, parameters, arguments) there(#name), there(#name "_ptsz");
#if OLDER_RELEASE == 11
#define WG_OLDER_11 WG_OLDER
#define WG_OLDER_11_PTSZ WG_OLDER_PTSZ
#define WG_OLDER_12(name, parameters, arguments)
#define WG_OLDER_12_PTSZ WG_OLDER_12
#else
#define WG_OLDER_12 WG_OLDER
#define WG_OLDER_12_PTSZ WG_OLDER_PTSZ
#define WG_OLDER_11(name, parameters, arguments)
#define WG_OLDER_11_PTSZ WG_OLDER_11
#endif
#include "warpgrind/older_functions.inc"
  EXPECT_EQ(::dlvsym(library, "cudaMalloc", OLDER_RELEASE == 11 ? "libcudart.so.12" : "libcudart.so.11.0"), nullptr);
  EXPECT_NE(::dlvsym(library, "cudaMalloc", OLDER_RELEASE == 11 ? "libcudart.so.11.0" : "libcudart.so.12"), nullptr);
}
#endif

TEST(Older, TheVersionIsTheReleasesLast) {
  int version = 0;
  OK(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, OLDER_RELEASE == 11 ? 11080 : 12090);
}

TEST(Older, AKernelRunsAndItsAttributesAreThere) {
  test::Words words(64);
  OK(test::launch_fill(words, 7, 64, nullptr));
  OK(thread_synchronize());
  EXPECT_EQ(words.read(), std::vector<unsigned>(64, 7));
#if OLDER_RELEASE == 11
  Guarded<FunctionAttributes11> attributes;
  OK(function_attributes(&attributes.value, &test::bounded));
  EXPECT_TRUE(attributes.whole());
  EXPECT_EQ(attributes.value.maxThreadsPerBlock, 128);
#endif
}

TEST(Older, MemoryByADevicesNumber) {
  unsigned* managed = nullptr;
  OK(cudaMallocManaged(reinterpret_cast<void**>(&managed), 4096, cudaMemAttachGlobal));
  OK(prefetch(managed, 4096, 0, nullptr));
  OK(prefetch(managed, 4096, cudaCpuDeviceId, nullptr));
  FAILS(cudaErrorInvalidDevice, prefetch(managed, 4096, 99, nullptr));
  OK(advise(managed, 4096, cudaMemAdviseSetPreferredLocation, 0));
  int location = -9;
  OK(cudaMemRangeGetAttribute(&location, sizeof location, cudaMemRangeAttributePreferredLocation, managed, 4096));
  EXPECT_EQ(location, 0);
  Guarded<PointerAttributes12> attributes;
  OK(pointer_attributes(&attributes.value, managed));
  EXPECT_TRUE(attributes.whole());
  EXPECT_EQ(attributes.value.type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes.value.devicePointer, managed);
  OK(cudaFree(managed));
}

TEST(Older, GraphsWithoutTheDataOfEdges) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  OK(cudaGraphAddEmptyNode(&second, graph, nullptr, 0));
  OK(add_dependencies(graph, &first, &second, 1));
  size_t count = 1;
  cudaGraphNode_t from = nullptr, to = nullptr;
  OK(get_edges(graph, &from, &to, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(from, first);
  EXPECT_EQ(to, second);
  cudaGraphNode_t before = nullptr;
  OK(get_dependencies(second, &before, &count));
  EXPECT_EQ(before, first);
  cudaGraphExec_t exec = nullptr;
#if OLDER_RELEASE == 11
  char log[16] = "?";
  cudaGraphNode_t wrong = first;
  OK(instantiate(&exec, graph, &wrong, log, sizeof log));
  EXPECT_EQ(wrong, nullptr);
  EXPECT_STREQ(log, "");
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
  OK(update(exec, graph, &wrong, &result));
  EXPECT_EQ(result, cudaGraphExecUpdateSuccess);
#else
  OK(cudaGraphInstantiate(&exec, graph, 0));
#endif
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

TEST(Older, WhatIsBeingCaptured) {
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0, same = 0;
  OK(capture_info(stream, &status, &id));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr, captured = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  size_t count = 99;
  OK(capture_info_v2(stream, &status, &same, &graph, &nodes, &count));
  EXPECT_EQ(same, id);
  EXPECT_EQ(count, 0u);
  OK(cudaStreamEndCapture(stream, &captured));
  EXPECT_EQ(captured, graph);
  OK(cudaGraphDestroy(captured));
  OK(cudaStreamDestroy(stream));
}

TEST(Older, TexturesAndTheirDescriptions) {
  test::Words words(64, 5);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = words;
  resource.res.linear.desc = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};
  resource.res.linear.sizeInBytes = 256;
  ResourceDescription12 given;
  std::memcpy(&given, &resource, sizeof given);
  TextureDescription how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  OK(create_texture(&texture, &given, &how, nullptr));
  Guarded<ResourceDescription12> back;
  OK(resource_description(&back.value, texture));
  EXPECT_TRUE(back.whole());
  EXPECT_EQ(std::memcmp(&back.value, &given, 8 + 40), 0);  // the type, and the union's member for linear memory
  Guarded<TextureDescription> back_how;
  OK(texture_description(&back_how.value, texture));
  EXPECT_TRUE(back_how.whole());
  OK(cudaDestroyTextureObject(texture));
}

#if OLDER_RELEASE == 12
TEST(Older, TimesOfEvents) {
  cudaEvent_t start = nullptr, end = nullptr;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&end));
  OK(cudaEventRecord(start, nullptr));
  OK(cudaEventRecord(end, nullptr));
  OK(cudaDeviceSynchronize());
  float milliseconds = -1;
  OK(elapsed_v2(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0);
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(end));
}
#endif

}  // namespace

}  // namespace warpgrind::runtime
