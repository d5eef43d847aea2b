// Occupancy of an SM of the H200 that the tests run on.
#include "code.h"

namespace warpgrind::driver::test {

namespace {

const auto kNoFunction = reinterpret_cast<CUfunction>(0x1234);
constexpr int kThreadsPerSm = 2048, kSms = 132;

}  // namespace

using Occupancy = WithModule;

TEST_F(Occupancy, OfBlocks) {
  const CUfunction f = function("add_step");
  int blocks = 0;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 0));
  EXPECT_EQ(blocks, kThreadsPerSm / 256);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, 32, 48 << 10,
                                                          CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
  EXPECT_EQ(blocks, 4);  // of 228 KiB; the system reserves 1 KiB a block
  FAILS(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kNoFunction, 256, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, 32, 0, 2));
}

TEST_F(Occupancy, OfTheBestBlock) {
  int grid = 0, threads = 0;
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, function("add_step"), nullptr, 0, 0));
  EXPECT_EQ(threads, 1024);
  EXPECT_EQ(grid, kSms * kThreadsPerSm / 1024);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, function("bounded"), nullptr, 0, 0));
  EXPECT_EQ(threads, 64);  // from its launch bounds
  // 512 bytes of shared memory a thread: 228 KiB hold some 448 threads at once, for any block size.
  const auto shared_of = [](int size) { return static_cast<size_t>(size) * 512; };
  OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &threads, function("add_step"), shared_of, 0, 96, 0));
  EXPECT_LE(threads, 96);
  EXPECT_GE(grid / kSms * threads, 384);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSize(nullptr, &threads, function("sum"), nullptr, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &threads, function("sum"), nullptr, 0, 0, 8));
}

TEST_F(Occupancy, OfSharedMemory) {
  size_t bytes = 0;
  int blocks = 0;
  const CUfunction f = function("add_step");
  OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 2, 128));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, bytes));
  EXPECT_EQ(blocks, 2);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, bytes + 128));
  EXPECT_EQ(blocks, 1);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 0, 128));
}

TEST_F(Occupancy, OfClusters) {
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 8, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 1024, config.blockDimY = config.blockDimZ = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int size = 0, clusters = 0;
  OK(cuOccupancyMaxPotentialClusterSize(&size, function("add_step"), &config));
  EXPECT_EQ(size, 8);  // the portable size
  OK(cuOccupancyMaxActiveClusters(&clusters, function("add_step"), &config));
  EXPECT_EQ(clusters, kSms);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuOccupancyMaxPotentialClusterSize(&size, function("add_step"), nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuOccupancyMaxActiveClusters(&clusters, nullptr, &config));
}

}  // namespace warpgrind::driver::test
