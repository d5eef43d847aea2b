// Device management.
#include <cstring>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

class Devices : public testing::Test {
 protected:
  Devices() { OK(cuInit(0)); }
};

int attribute(CUdevice_attribute which) {
  int value = -1;
  OK(cuDeviceGetAttribute(&value, which, 0));
  return value;
}

}  // namespace

TEST_F(Devices, AreCountedAndNamed) {
  int count = 0;
  OK(cuDeviceGetCount(&count));
  EXPECT_EQ(count, test::kDevices);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetCount(nullptr));
  CUdevice device = -1;
  OK(cuDeviceGet(&device, 1));
  EXPECT_EQ(device, 1);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 2));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGet(nullptr, 0));
  char name[64] = "", shorter[4] = "";
  OK(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_NE(std::string(name).find("H200"), std::string::npos);
  OK(cuDeviceGetName(shorter, sizeof shorter, 0));
  EXPECT_EQ(std::string(name).substr(0, 3), shorter);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetName(name, sizeof name, 2));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetName(nullptr, 3, 0));
}

TEST_F(Devices, AreIdentified) {
  CUuuid first{}, second{}, other{};
  OK(cuDeviceGetUuid_v2(&first, 0));
  OK(cuDeviceGetUuid_v2(&second, 1));
  EXPECT_NE(std::memcmp(&first, &second, sizeof first), 0);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetUuid_v2(&first, 7));
  char id[16] = "";
  CUdevice device = -1;
  OK(cuDeviceGetPCIBusId(id, sizeof id, 1));
  OK(cuDeviceGetByPCIBusId(&device, id));
  EXPECT_EQ(device, 1);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "0000:7f:00.0"));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(&device, "nonsense"));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetPCIBusId(id, sizeof id, 2));
#undef cuDeviceGetUuid
  OK(cuDeviceGetUuid(&other, 0));
  EXPECT_EQ(std::memcmp(&first, &other, sizeof first), 0);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetUuid(nullptr, 0));
}

TEST_F(Devices, HaveAttributes) {
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 132);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
  int value = 0, major = 0, minor = -1;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(100000), 0));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 2));
  OK(cuDeviceComputeCapability(&major, &minor, 0));
  EXPECT_EQ(major * 10 + minor, 90);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceComputeCapability(nullptr, &minor, 0));
  CUdevprop properties{};
  OK(cuDeviceGetProperties(&properties, 0));
  EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQ(properties.SIMDWidth, 32);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetProperties(&properties, -1));
  size_t bytes = 0, width = 0;
  OK(cuDeviceTotalMem(&bytes, 0));
  EXPECT_GT(bytes, size_t{100} << 30);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceTotalMem(nullptr, 0));
  OK(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 0));
  EXPECT_EQ(width, size_t{1} << 30);
  OK(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 4, 0));
  EXPECT_EQ(width, size_t{1} << 28);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetTexture1DLinearMaxWidth(&width, static_cast<CUarray_format>(99), 1, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 3, 0));
  OK(cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
  EXPECT_EQ(value, 0);
  OK(cuDeviceGetExecAffinitySupport(&value, static_cast<CUexecAffinityType>(7), 0));
  EXPECT_EQ(value, 0);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetExecAffinitySupport(&value, static_cast<CUexecAffinityType>(7), 9));
}

// Each attribute of the manual has a value. The numbers have no gaps.
TEST_F(Devices, HaveAllAttributes) {
  for (int number = 1; number < CU_DEVICE_ATTRIBUTE_MAX; number++) {
    int value = 0;
    EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(number), 0), CUDA_SUCCESS) << number;
  }
  int value = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0));
}

TEST_F(Devices, HavePools) {
  CUmemoryPool pool = nullptr, current = nullptr;
  OK(cuDeviceGetDefaultMemPool(&pool, 0));
  OK(cuDeviceGetMemPool(&current, 0));
  EXPECT_EQ(pool, current);
  OK(cuDeviceSetMemPool(0, pool));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetDefaultMemPool(nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetMemPool(nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, nullptr));
}

TEST_F(Devices, AreEachOthersPeers) {
  int value = -1;
  OK(cuDeviceCanAccessPeer(&value, 0, 1));
  EXPECT_EQ(value, 1);
  OK(cuDeviceCanAccessPeer(&value, 0, 0));
  EXPECT_EQ(value, 0);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&value, 0, 2));
  OK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
  EXPECT_EQ(value, 1);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
}

}  // namespace warpgrind::driver
