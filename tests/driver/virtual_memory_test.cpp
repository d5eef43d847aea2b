// Virtual memory management.
#include "code.h"

namespace warpgrind::driver {

namespace {

constexpr size_t kPage = 2 << 20;  // the granularity
using Words = std::vector<unsigned>;

CUmemAllocationProp properties_of(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

class VirtualMemory : public test::WithContext {
 protected:
  VirtualMemory() {
    const CUmemAllocationProp properties = properties_of(0);
    OK(cuMemAddressReserve(&space, 4 * kPage, 0, 0, 0));
    OK(cuMemCreate(&memory, kPage, &properties, 0));
  }
  ~VirtualMemory() override {
    OK(cuMemRelease(memory));
    OK(cuMemAddressFree(space, 4 * kPage));
  }
  CUresult access(CUdeviceptr at, size_t size, CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                  int device = 0) {
    const CUmemAccessDesc description{{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    return cuMemSetAccess(at, size, &description, 1);
  }
  CUdeviceptr space = 0;
  CUmemGenericAllocationHandle memory = 0;
};

}  // namespace

TEST_F(VirtualMemory, HasAGranularity) {
  int supported = 0;
  size_t bytes = 0;
  CUmemAllocationProp properties = properties_of(0);
  OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  EXPECT_EQ(supported, 1);
  OK(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_EQ(bytes, kPage);
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuMemGetAllocationGranularity(nullptr, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  properties.location.id = 9;
  OK(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemGetAllocationGranularity(&bytes, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

TEST_F(VirtualMemory, IsReserved) {
  CUdeviceptr a = 0, b = 0;
  OK(cuMemAddressReserve(&a, kPage, size_t{8} << 20, 0, 0));
  EXPECT_EQ(a % (size_t{8} << 20), 0u);
  OK(cuMemAddressReserve(&b, kPage, 0, a + 8 * kPage, 0));
  EXPECT_EQ(b, a + 8 * kPage);  // at the requested address
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&a, 0, 0, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&a, 100, 0, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&a, kPage, 3, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&a, kPage, 0, 0, 1));
  FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&a, size_t{1} << 50, 0, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(a, 2 * kPage));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(a + kPage, kPage));
  OK(cuMemAddressFree(a, kPage));
  OK(cuMemAddressFree(b, kPage));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(b, kPage));
}

TEST_F(VirtualMemory, IsTakenAndGivenBack) {
  CUmemAllocationProp properties = properties_of(0), seen{};
  CUmemGenericAllocationHandle other = 0, same = 0;
  const size_t before = test::free_bytes();
  OK(cuMemCreate(&other, 3 * kPage, &properties, 0));
  EXPECT_EQ(before - test::free_bytes(), 3 * kPage);
  OK(cuMemGetAllocationPropertiesFromHandle(&seen, other));
  EXPECT_EQ(seen.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  OK(cuMemMap(space, 3 * kPage, 0, other, 0));
  OK(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(space + kPage)));
  EXPECT_EQ(same, other);
  OK(cuMemRelease(other));
  OK(cuMemRelease(other));
  EXPECT_EQ(before - test::free_bytes(), 3 * kPage);  // still mapped
  OK(cuMemUnmap(space, 3 * kPage));
  EXPECT_EQ(test::free_bytes(), before);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemRelease(other));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&seen, other));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(space)));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&other, 0, &properties, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&other, kPage + 4096, &properties, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&other, kPage, nullptr, 0));
  FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&other, size_t{1} << 45, &properties, 0));
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&other, kPage, &properties, 0));
}

TEST_F(VirtualMemory, MappedTwiceIsOneMemory) {
  unsigned value = 0;
  OK(cuMemMap(space, kPage, 0, memory, 0));
  OK(cuMemMap(space + 2 * kPage, kPage, 0, memory, 0));
  OK(access(space, kPage));
  OK(access(space + 2 * kPage, kPage));
  OK(cuMemsetD32(space + 64, 77, 1));
  OK(cuMemcpyDtoH(&value, space + 2 * kPage + 64, 4));
  EXPECT_EQ(value, 77u);
  OK(cuMemUnmap(space, kPage));
  OK(cuMemUnmap(space + 2 * kPage, kPage));
  OK(cuMemMap(space + kPage, kPage, 0, memory, 0));  // keeps its contents
  OK(access(space + kPage, kPage));
  value = 0;
  OK(cuMemcpyDtoH(&value, space + kPage + 64, 4));
  EXPECT_EQ(value, 77u);
  OK(cuMemUnmap(space + kPage, kPage));
}

// The pattern of growing vectors: kernels and copies see adjacent mappings as one range, but these stay two mappings.
TEST_F(VirtualMemory, GrowsInPlace) {
  const CUmemAllocationProp properties = properties_of(0);
  CUmemGenericAllocationHandle more = 0;
  CUdeviceptr base = 0;
  size_t size = 0;
  OK(cuMemCreate(&more, kPage, &properties, 0));
  OK(cuMemMap(space, kPage, 0, memory, 0));
  OK(access(space, kPage));
  OK(cuMemMap(space + kPage, kPage, 0, more, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(space, 1, 2 * kPage));  // the second mapping has no access
  OK(access(space, 2 * kPage));
  OK(cuMemsetD8(space, 1, 2 * kPage));
  OK(cuMemGetAddressRange(&base, &size, space + kPage));
  EXPECT_EQ(base, space + kPage);
  EXPECT_EQ(size, kPage);
  OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, space + kPage));
  EXPECT_EQ(size, 4 * kPage);  // the reserved size
  OK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, space + kPage));
  EXPECT_EQ(base, space);
  OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, space + kPage));
  EXPECT_EQ(size, kPage);
  OK(cuMemUnmap(space, kPage));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(space, 1, 1));
  OK(cuMemsetD8(space + kPage, 1, kPage));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(space + kPage));
  OK(cuMemUnmap(space + kPage, kPage));
  OK(cuMemRelease(more));
}

TEST_F(VirtualMemory, HasAccess) {
  const CUmemLocation first{CU_MEM_LOCATION_TYPE_DEVICE, 0}, second{CU_MEM_LOCATION_TYPE_DEVICE, 1},
      no_device{CU_MEM_LOCATION_TYPE_DEVICE, 9};
  unsigned long long flags = 77;
  OK(cuMemMap(space, kPage, 0, memory, 0));
  OK(cuMemGetAccess(&flags, &first, space + 4));
  EXPECT_EQ(flags, unsigned{CU_MEM_ACCESS_FLAGS_PROT_NONE});
  OK(access(space, kPage));
  OK(access(space, kPage, CU_MEM_ACCESS_FLAGS_PROT_READ, 1));
  OK(cuMemGetAccess(&flags, &first, space + 4));
  EXPECT_EQ(flags, unsigned{CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  OK(cuMemGetAccess(&flags, &second, space + 4));
  EXPECT_EQ(flags, unsigned{CU_MEM_ACCESS_FLAGS_PROT_READ});
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemGetAccess(&flags, &first, space + kPage));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemGetAccess(&flags, &no_device, space));
  const CUmemAccessDesc wrong{no_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(space, kPage, &wrong, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(space, kPage, nullptr, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, access(space, 2 * kPage));
  OK(cuMemUnmap(space, kPage));
}

TEST_F(VirtualMemory, IsMappedWhereNothingIs) {
  OK(cuMemMap(space + kPage, kPage, 0, memory, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(space + kPage, kPage, 0, memory, 0));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(space, 2 * kPage, 0, memory, 0));  // smaller than the memory
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(space + 4 * kPage, kPage, 0, memory, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(space + 4096, kPage, 0, memory, 0));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(space, kPage, kPage, memory, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(space, kPage, 0, 12345, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(space + kPage, 4096));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(space, 5 * kPage));  // beyond the reserved range
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(space, 4 * kPage));
  OK(cuMemUnmap(space, 2 * kPage));
  OK(cuMemUnmap(space + kPage, kPage));  // not mapped any more
}

// ---- In kernels
namespace {

// Runs add_step on 32 words at the address.
CUresult run(CUdeviceptr at) {
  CUmodule module = nullptr;
  CUfunction add_step = nullptr;
  OK(cuModuleLoadData(&module, test::kCode));
  OK(cuModuleGetFunction(&add_step, module, "add_step"));
  void* arguments[] = {&at};
  OK(cuLaunchKernel(add_step, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  return cuCtxSynchronize();
}

}  // namespace

TEST_F(VirtualMemory, IsUsedByKernels) {
  Words words(32);
  OK(cuMemMap(space, kPage, 0, memory, 0));
  OK(access(space, kPage));
  OK(run(space + 128));
  OK(run(space + 128));
  OK(cuMemcpyDtoH(words.data(), space + 128, 128));
  EXPECT_EQ(words, Words(32, 6));
  OK(cuMemUnmap(space, kPage));
}

// Each of these cases breaks its process.
TEST_F(VirtualMemory, IsNothingForKernelsBeforeItIsMapped) {
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, run(space));
}
TEST_F(VirtualMemory, IsNothingForKernelsWithoutAccess) {
  OK(cuMemMap(space, kPage, 0, memory, 0));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, run(space));
  OK(cuMemUnmap(space, kPage));
}
TEST_F(VirtualMemory, IsNothingForKernelsOfOtherDevices) {
  OK(cuMemMap(space, kPage, 0, memory, 0));
  OK(access(space, kPage, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 1));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, run(space));
  OK(cuMemUnmap(space, kPage));
}
TEST_F(VirtualMemory, IsNotWrittenWhereItIsReadOnly) {
  OK(cuMemMap(space, kPage, 0, memory, 0));
  OK(access(space, kPage, CU_MEM_ACCESS_FLAGS_PROT_READ));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, run(space));
  OK(cuMemUnmap(space, kPage));
}

}  // namespace warpgrind::driver
