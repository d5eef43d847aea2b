// Unified addressing: attributes of pointers.
#include "driver_test.h"

namespace warpgrind::driver {

namespace {

using Pointers = test::WithContext;

template <class T>
T attribute(CUpointer_attribute which, CUdeviceptr of) {
  T value{};
  OK(cuPointerGetAttribute(&value, which, of));
  return value;
}

}  // namespace

TEST_F(Pointers, ToDeviceMemory) {
  CUdeviceptr a = 0, b = 0;
  void* host = nullptr;
  OK(cuMemAlloc(&a, 1000));
  OK(cuMemAlloc(&b, 1000));
  EXPECT_EQ(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, a + 4), context);
  EXPECT_EQ(attribute<CUmemorytype>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 4), CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, a + 4), a + 4);
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a + 4), a);
  EXPECT_EQ(attribute<size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, a + 4), 1000u);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, a), 0u);
  EXPECT_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a), 0);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MAPPED, a), 1u);
  EXPECT_EQ(attribute<CUmemoryPool>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a), nullptr);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, a),
            unsigned{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE});
  const auto id = attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, a + 4);
  EXPECT_EQ(id, attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, a));
  EXPECT_NE(id, attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, b));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, a));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_CONTEXT, a));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&host, static_cast<CUpointer_attribute>(77), a));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_CONTEXT, a + 1000));
  OK(cuMemFree(b));
  OK(cuMemFree(a));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_CONTEXT, a));
}

TEST_F(Pointers, AreKnownInAllContexts) {
  CUcontext other = nullptr;
  CUdeviceptr a = 0;
  OK(cuMemAlloc(&a, 64));
  OK(cuCtxCreate(&other, nullptr, 0, 1));
  EXPECT_EQ(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, a), context);
  OK(cuCtxSetCurrent(nullptr));
  EXPECT_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a), 0);
  OK(cuCtxDestroy(other));
  OK(cuCtxSetCurrent(context));
  OK(cuMemFree(a));
}

TEST_F(Pointers, ToMemoryOfTheHost) {
  void* pinned = nullptr;
  CUdeviceptr managed = 0;
  OK(cuMemAllocHost(&pinned, 64));
  OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  const auto address = reinterpret_cast<CUdeviceptr>(pinned);
  EXPECT_EQ(attribute<CUmemorytype>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CU_MEMORYTYPE_HOST);
  EXPECT_EQ(attribute<void*>(CU_POINTER_ATTRIBUTE_HOST_POINTER, address), pinned);
  EXPECT_EQ(attribute<CUmemorytype>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, managed), CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, managed), 1u);
  OK(cuMemFree(managed));
  OK(cuMemFreeHost(pinned));
}

// For a pointer unknown to CUDA, a query of several attributes returns nothing, without an error.
TEST_F(Pointers, HaveSeveralAttributesAtOnce) {
  CUdeviceptr a = 0;
  OK(cuMemAlloc(&a, 64));
  CUmemorytype type{};
  int device = -1;
  CUcontext of = nullptr;
  void* host = &host;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* data[] = {&type, &device, &of, &host};
  OK(cuPointerGetAttributes(4, which, data, a));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(of, context);
  EXPECT_EQ(host, nullptr);
  OK(cuPointerGetAttributes(4, which, data, reinterpret_cast<CUdeviceptr>(&a)));
  EXPECT_EQ(static_cast<int>(type), 0);
  EXPECT_EQ(device, CU_DEVICE_INVALID);
  EXPECT_EQ(of, nullptr);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttributes(0, which, data, a));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttributes(3, nullptr, data, a));
  OK(cuMemFree(a));
}

TEST_F(Pointers, MaySynchronizeCopies) {
  CUdeviceptr a = 0;
  const unsigned no = 0;
  OK(cuMemAlloc(&a, 64));
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a), 1u);
  OK(cuPointerSetAttribute(&no, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a), 0u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerSetAttribute(&no, CU_POINTER_ATTRIBUTE_BUFFER_ID, a));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerSetAttribute(&no, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0));
  OK(cuMemFree(a));
}

}  // namespace warpgrind::driver
