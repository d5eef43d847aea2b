// Stream ordered memory allocator.
#include "driver_test.h"

namespace warpgrind::driver {

namespace {

class Pools : public test::WithContext {
 protected:
  Pools() {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    OK(cuMemPoolCreate(&pool, &properties));
  }
  cuuint64_t attribute(CUmemPool_attribute which) {
    cuuint64_t value = 77;
    OK(cuMemPoolGetAttribute(pool, which, &value));
    return value;
  }
  CUmemoryPool pool = nullptr;
  const CUmemoryPool wrong = reinterpret_cast<CUmemoryPool>(&pool);
};

}  // namespace

TEST_F(Pools, AllocateAndFree) {
  CUdeviceptr a = 0, b = 0;
  CUmemoryPool of = nullptr, given = nullptr;
  OK(cuDeviceSetMemPool(0, pool));
  OK(cuMemAllocAsync(&a, 64, nullptr));
  OK(cuMemAllocFromPoolAsync(&b, 64, pool, CU_STREAM_PER_THREAD));
  OK(cuMemsetD32Async(a, 6, 16, nullptr));
  unsigned last = 0;
  OK(cuMemcpyDtoH(&last, a + 60, 4));
  EXPECT_EQ(last, 6u);
  OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, b));
  EXPECT_EQ(of, pool);
  CUcontext owner = context;
  OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, b));
  EXPECT_EQ(owner, nullptr);  // the pool owns it
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 128u);
  OK(cuMemFreeAsync(a, nullptr));
  OK(cuMemFree(b));
  OK(cuCtxSynchronize());
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 128u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(a, nullptr));
  OK(cuMemFreeAsync(0, nullptr));
  OK(cuMemAllocAsync(&a, 0, nullptr));
  EXPECT_EQ(a, 0u);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemAllocAsync(&a, 64, reinterpret_cast<CUstream>(&a)));
  FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&a, size_t{1} << 45, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&a, 64, wrong, nullptr));
  OK(cuMemPoolTrimTo(pool, 0));
  OK(cuMemPoolDestroy(pool));
  OK(cuDeviceGetMemPool(&given, 0));
  EXPECT_NE(given, pool);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(pool, 0));
}

TEST_F(Pools, HaveAttributes) {
  cuuint64_t threshold = 1 << 20;
  int no = 0, reuse = 7;
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), threshold);
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &no));
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
  EXPECT_EQ(reuse, 0);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &threshold));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(99), &threshold));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(wrong, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  OK(cuMemPoolDestroy(pool));
}

TEST_F(Pools, AreForAllDevices) {
  const CUmemAccessDesc both{{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
      none{{CU_MEM_LOCATION_TYPE_DEVICE, 9}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemLocation peer = both.location, no_device = none.location;
  CUmemAccess_flags flags{};
  OK(cuMemPoolSetAccess(pool, &both, 1));
  OK(cuMemPoolGetAccess(&flags, pool, &peer));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemPoolSetAccess(pool, &none, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAccess(&flags, pool, &no_device));
  CUmemLocation cpu{CU_MEM_LOCATION_TYPE_HOST, 0};
  const CUmemAccessDesc for_cpu{cpu, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  OK(cuMemPoolGetAccess(&flags, pool, &cpu));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolSetAccess(pool, &for_cpu, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAccess(nullptr, pool, &peer));
  OK(cuMemPoolDestroy(pool));
}

TEST_F(Pools, AreFoundByPlace) {
  CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0}, nowhere{CU_MEM_LOCATION_TYPE_DEVICE, 9},
      cpu{CU_MEM_LOCATION_TYPE_HOST, 0};
  CUmemoryPool first = nullptr, given = nullptr;
  OK(cuMemGetDefaultMemPool(&first, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  OK(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
  OK(cuMemGetMemPool(&given, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(given, pool);
  OK(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, first));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemGetDefaultMemPool(&given, &nowhere, CU_MEM_ALLOCATION_TYPE_PINNED));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemGetMemPool(&given, &cpu, CU_MEM_ALLOCATION_TYPE_PINNED));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, nullptr));
  OK(cuMemPoolDestroy(pool));
}

TEST_F(Pools, HaveKnownProperties) {
  CUmemPoolProps properties{};
  CUmemoryPool other = nullptr;
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 9};
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&other, &properties));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(nullptr, &properties));
  properties.location.id = 1;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolCreate(&other, &properties));
  OK(cuMemPoolDestroy(pool));
}

}  // namespace warpgrind::driver
