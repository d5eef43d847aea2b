// Memory management: device, pinned and managed memory.
#include <sys/mman.h>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

constexpr size_t kMinus4 = static_cast<size_t>(-4);
constexpr size_t kBytes = 1 << 20;

using Memory = test::WithContext;

void* host(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

TEST_F(Memory, IsAllocatedAndFreed) {
  CUdeviceptr a = 0, base = 0;
  size_t size = 0, free = 0, total = 0;
  const size_t before = test::free_bytes();
  OK(cuMemAlloc(&a, kBytes));
  EXPECT_EQ(before - test::free_bytes(), kBytes);
  OK(cuMemGetAddressRange(&base, &size, a + 100));
  EXPECT_EQ(base, a);
  EXPECT_EQ(size, kBytes);
  OK(cuMemGetAddressRange(nullptr, &size, a));
  FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, a + kBytes));
  FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, reinterpret_cast<CUdeviceptr>(&size)));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(a + 4));
  OK(cuMemFree(a));
  EXPECT_EQ(test::free_bytes(), before);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(a));
  OK(cuMemFree(0));  // programs do this to test for a context
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(reinterpret_cast<CUdeviceptr>(&size)));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&a, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(nullptr, 4));
  FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&a, size_t{1} << 45));
  FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&a, kMinus4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemGetInfo(nullptr, &total));
  OK(cuMemGetInfo(&free, &total));
  EXPECT_LE(free, total);
}

TEST_F(Memory, NeedsAContext) {
  CUdeviceptr a = 0;
  OK(cuCtxSetCurrent(nullptr));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&a, 4));
  OK(cuCtxSetCurrent(context));
}

// A pointer identifies its context. Numba frees its memory after no context is current any more (in its reset()).
TEST_F(Memory, IsFreedWithoutAContext) {
  CUdeviceptr a = 0;
  void* host = nullptr;
  OK(cuMemAlloc(&a, 4));
  OK(cuMemAllocHost(&host, 4));
  OK(cuCtxSetCurrent(nullptr));
  OK(cuMemFree(a));
  OK(cuMemFreeHost(host));
  OK(cuCtxSetCurrent(context));
}

TEST_F(Memory, IsThatOfTheContextsDevice) {
  CUcontext other = nullptr;
  CUdeviceptr a = 0;
  const size_t before = test::free_bytes();
  OK(cuCtxCreate(&other, nullptr, 0, 1));
  OK(cuMemAlloc(&a, kBytes));
  OK(cuCtxPopCurrent(&other));
  EXPECT_EQ(test::free_bytes(), before);  // of device 0
  OK(cuMemFree(a));                       // with any current context
  OK(cuCtxDestroy(other));
}

TEST_F(Memory, GoesWithItsContext) {
  CUcontext other = nullptr;
  CUdeviceptr kept = 0, a = 0, b = 0, managed = 0;
  void* pinned = nullptr;
  size_t size = 0;
  OK(cuMemAlloc(&kept, kBytes));
  const size_t before = test::free_bytes();
  OK(cuCtxCreate(&other, nullptr, 0, 0));
  OK(cuMemAlloc(&a, kBytes));
  OK(cuMemAlloc(&b, kBytes));
  OK(cuMemAllocManaged(&managed, kBytes, CU_MEM_ATTACH_GLOBAL));
  OK(cuMemAllocHost(&pinned, kBytes));
  OK(cuMemFree(b));
  OK(cuCtxDestroy(other));
  EXPECT_EQ(test::free_bytes(), before);
  for (const CUdeviceptr gone : {a, b, managed, reinterpret_cast<CUdeviceptr>(pinned)})
    FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(nullptr, &size, gone));
  OK(cuMemFree(kept));
}

TEST_F(Memory, HasPitches) {
  CUdeviceptr a = 0;
  size_t pitch = 0;
  OK(cuMemAllocPitch(&a, &pitch, 100, 10, 4));
  EXPECT_GE(pitch, 100u);
  EXPECT_EQ(pitch % 512, 0u);
  OK(cuMemsetD2D8(a, pitch, 1, pitch, 10));
  OK(cuMemFree(a));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&a, &pitch, 100, 10, 3));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&a, &pitch, 0, 10, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&a, &pitch, 100, 0, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&a, nullptr, 100, 10, 4));
}

TEST_F(Memory, OfTheHostIsPinned) {
  void *a = nullptr, *b = nullptr;
  CUdeviceptr device = 0;
  unsigned flags = 0;
  OK(cuMemAllocHost(&a, 64));
  OK(cuMemHostAlloc(&b, 64, CU_MEMHOSTALLOC_PORTABLE));
  OK(cuMemHostGetFlags(&flags, b));
  EXPECT_TRUE(flags & CU_MEMHOSTALLOC_PORTABLE);
  OK(cuMemHostGetDevicePointer(&device, b, 0));
  OK(cuMemsetD32(device, 7, 16));
  EXPECT_EQ(static_cast<unsigned*>(b)[15], 7u);
  OK(cuMemFreeHost(a));
  OK(cuMemFreeHost(b));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(b));
  OK(cuMemFreeHost(nullptr));
  OK(cuMemAllocHost(&a, 0));
  EXPECT_EQ(a, nullptr);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocHost(nullptr, 64));
  OK(cuMemHostAlloc(&a, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&a, 64, 1u << 20));
  FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemHostAlloc(&a, kMinus4, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&device, &flags, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, &flags));
}

TEST_F(Memory, OfTheProgramIsRegistered) {
  alignas(4096) static char memory[2 * 4096];
  CUdeviceptr device = 0;
  OK(cuMemHostRegister(memory, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
  OK(cuMemHostGetDevicePointer(&device, memory + 8, 0));
  OK(cuMemsetD8(device, 5, 1));
  EXPECT_EQ(memory[8], 5);
  FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(memory, 4096, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory + 4096, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory + 4096, 4096, 1u << 20));
  OK(cuMemHostUnregister(memory));
  FAILS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory));
#undef cuMemHostRegister
  OK(cuMemHostRegister(memory, 4096, 0));
  FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(memory, 4096, 0));
  OK(cuMemHostUnregister(memory));
}

TEST_F(Memory, IsManaged) {
  CUdeviceptr a = 0;
  OK(cuMemAllocManaged(&a, kBytes, CU_MEM_ATTACH_GLOBAL));
  OK(cuMemsetD32(a, 9, 4));
  EXPECT_EQ(static_cast<unsigned*>(host(a))[3], 9u);
  const CUmemLocation gpu{CU_MEM_LOCATION_TYPE_DEVICE, 0}, cpu{CU_MEM_LOCATION_TYPE_HOST, 0},
      none{CU_MEM_LOCATION_TYPE_DEVICE, 9};
  OK(cuMemAdvise(a, kBytes, CU_MEM_ADVISE_SET_READ_MOSTLY, gpu));
  OK(cuMemAdvise(a, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, cpu));
  OK(cuMemPrefetchAsync(a, kBytes, gpu, 0, nullptr));
  int read_mostly = -1, preferred = 7, where = -7;
  void* data[] = {&read_mostly, &preferred};
  size_t sizes[] = {4, 4};
  CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
  OK(cuMemRangeGetAttributes(data, sizes, attributes, 2, a, kBytes));
  EXPECT_EQ(read_mostly, 1);
  EXPECT_EQ(preferred, CU_DEVICE_CPU);
  OK(cuMemRangeGetAttribute(&where, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, a, kBytes));
  EXPECT_EQ(where, 0);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(a, kBytes, static_cast<CUmem_advise>(77), gpu));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemAdvise(a, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, none));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(a, 2 * kBytes, gpu, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(a, kBytes, gpu, 1, nullptr));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemPrefetchAsync(a, kBytes, none, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemRangeGetAttributes(nullptr, sizes, attributes, 2, a, kBytes));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemRangeGetAttribute(&where, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, a, 2 * kBytes));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&a, 0, CU_MEM_ATTACH_GLOBAL));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&a, 4, 9));
#undef cuMemAdvise
#undef cuMemPrefetchAsync
  OK(cuMemAdvise(a, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 1));
  OK(cuMemPrefetchAsync(a, kBytes, CU_DEVICE_CPU, nullptr));
  OK(cuMemRangeGetAttributes(data, sizes, attributes, 2, a, kBytes));
  EXPECT_EQ(preferred, 1);
  OK(cuMemRangeGetAttribute(&where, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, a, kBytes));
  EXPECT_EQ(where, CU_DEVICE_CPU);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemAdvise(a, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 9));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemPrefetchAsync(a, kBytes, 9, nullptr));
  OK(cuMemFree(a));
}

// In batches, ranges are prefetched and discarded as by the single calls.
TEST_F(Memory, IsPrefetchedAndDiscardedInBatches) {
  const CUstream stream = CU_STREAM_PER_THREAD;
  CUdeviceptr a = 0;
  OK(cuMemAllocManaged(&a, kBytes, CU_MEM_ATTACH_GLOBAL));
  CUdeviceptr ranges[] = {a, a + kBytes / 2};
  size_t sizes[] = {kBytes / 2, kBytes / 2}, firsts[] = {0, 1};
  CUmemLocation places[] = {{CU_MEM_LOCATION_TYPE_HOST, 0}, {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  OK(cuMemPrefetchBatchAsync(ranges, sizes, 2, places, firsts, 2, 0, stream));
  OK(cuMemDiscardBatchAsync(ranges, sizes, 2, 0, stream));
  OK(cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 2, places, firsts, 1, 0, stream));
  OK(cuCtxSynchronize());
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchBatchAsync(ranges, sizes, 2, places, firsts, 2, 1, stream));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchBatchAsync(ranges, sizes, 2, places, firsts, 2, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemDiscardBatchAsync(ranges, sizes, 0, 0, stream));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 2, places, firsts, 3, 0, stream));
  sizes[1] = kBytes;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemDiscardBatchAsync(ranges, sizes, 2, 0, stream));
  OK(cuMemFree(a));
}

}  // namespace warpgrind::driver
