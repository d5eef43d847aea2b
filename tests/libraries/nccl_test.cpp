// NCCL between virtual GPUs of this process: results of all operations, order in streams, graphs, and wrong use.
#include <nccl.h>

#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include "library_test.h"

namespace {

using warpgrind::test::Array;

constexpr int kRanks = 4;

class Nccl : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Four virtual GPUs: the same as `warpgrind run --devices 4`, before the first call of the runtime.
    ::setenv("WARPGRIND_OPTIONS", R"({"gpu": "h200", "devices": 4, "threads": 2, "quiet": true})", 0);
  }
  void SetUp() override {
    ASSERT_EQ(ncclCommInitAll(comms, kRanks, nullptr), ncclSuccess);
    for (int r = 0; r < kRanks; ++r) {
      cudaSetDevice(r);
      ASSERT_EQ(cudaStreamCreate(&streams[r]), cudaSuccess);
    }
  }
  void TearDown() override {
    wait();
    for (int r = 0; r < kRanks; ++r) {
      EXPECT_EQ(ncclCommDestroy(comms[r]), ncclSuccess);
      cudaSetDevice(r);
      EXPECT_EQ(cudaStreamDestroy(streams[r]), cudaSuccess);
    }
    cudaSetDevice(0);
  }
  void wait() {
    for (int r = 0; r < kRanks; ++r) {
      cudaSetDevice(r);
      EXPECT_EQ(cudaStreamSynchronize(streams[r]), cudaSuccess);
    }
  }
  // Calls of all ranks, in a group.
  void each(const std::function<ncclResult_t(int)>& call) {
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int r = 0; r < kRanks; ++r) EXPECT_EQ(call(r), ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    wait();
  }
  ncclComm_t comms[kRanks] = {};
  cudaStream_t streams[kRanks] = {};
};

// Buffers of all ranks in one array: rank r has `each` elements from r * each on.
template <class T>
struct Buffers {
  explicit Buffers(std::size_t of_each) : each(of_each), data(of_each * kRanks) {}
  T* of(int rank) const { return data.data() + each * static_cast<std::size_t>(rank); }
  std::size_t each;
  Array<T> data;
};

template <class T>
void reduce_with(ncclComm_t* comms, cudaStream_t* streams, ncclDataType_t type, ncclRedOp_t op, T expected) {
  Buffers<T> send(3), recv(3);
  for (int r = 0; r < kRanks; ++r)
    for (int i = 0; i < 3; ++i) send.of(r)[i] = static_cast<T>(r + 1);
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    EXPECT_EQ(ncclAllReduce(send.of(r), recv.of(r), 3, type, op, comms[r], streams[r]), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(cudaStreamSynchronize(streams[r]), cudaSuccess);
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(recv.of(r)[2], expected) << "type " << type << ", op " << op;
}

template <class T>
void reduce_all_ways(ncclComm_t* comms, cudaStream_t* streams, ncclDataType_t type) {
  reduce_with<T>(comms, streams, type, ncclSum, T{10});
  reduce_with<T>(comms, streams, type, ncclProd, T{24});
  reduce_with<T>(comms, streams, type, ncclMax, T{4});
  reduce_with<T>(comms, streams, type, ncclMin, T{1});
  reduce_with<T>(comms, streams, type, ncclAvg, static_cast<T>(2.5));
}

TEST_F(Nccl, ReducesAllTypes) {
  reduce_all_ways<std::int8_t>(comms, streams, ncclInt8);
  reduce_all_ways<std::uint8_t>(comms, streams, ncclUint8);
  reduce_all_ways<std::int32_t>(comms, streams, ncclInt32);
  reduce_all_ways<std::uint32_t>(comms, streams, ncclUint32);
  reduce_all_ways<std::int64_t>(comms, streams, ncclInt64);
  reduce_all_ways<std::uint64_t>(comms, streams, ncclUint64);
  reduce_all_ways<float>(comms, streams, ncclFloat32);
  reduce_all_ways<double>(comms, streams, ncclFloat64);
}

// Bits of 1, 3 and the sum 4 * 3 in the small types.
TEST_F(Nccl, ReducesSmallFloats) {
  struct Row {
    ncclDataType_t type;
    std::size_t bytes;
    std::uint16_t three, twelve;
  };
  for (const Row& row : {Row{ncclFloat16, 2, 0x4200, 0x4a00}, Row{ncclBfloat16, 2, 0x4040, 0x4140},
                         Row{ncclFloat8e4m3, 1, 0x44, 0x54}, Row{ncclFloat8e5m2, 1, 0x42, 0x4a}}) {
    Buffers<std::uint16_t> buffers(1);
    for (int r = 0; r < kRanks; ++r) *buffers.of(r) = row.three;
    each(
        [&](int r) { return ncclAllReduce(buffers.of(r), buffers.of(r), 1, row.type, ncclSum, comms[r], streams[r]); });
    for (int r = 0; r < kRanks; ++r) EXPECT_EQ(*buffers.of(r), row.twelve) << row.type;
  }
}

TEST_F(Nccl, MultipliesFirst) {
  Buffers<float> buffers(1);
  ncclRedOp_t ops[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    *buffers.of(r) = 1;
    float factor = static_cast<float>(r);
    ASSERT_EQ(ncclRedOpCreatePreMulSum(&ops[r], &factor, ncclFloat32, ncclScalarHostImmediate, comms[r]), ncclSuccess);
  }
  each(
      [&](int r) { return ncclAllReduce(buffers.of(r), buffers.of(r), 1, ncclFloat32, ops[r], comms[r], streams[r]); });
  for (int r = 0; r < kRanks; ++r) {
    EXPECT_EQ(*buffers.of(r), 6);
    EXPECT_EQ(ncclRedOpDestroy(ops[r], comms[r]), ncclSuccess);
    EXPECT_EQ(ncclRedOpDestroy(ops[r], comms[r]), ncclInvalidArgument);
  }
}

TEST_F(Nccl, MovesData) {
  Buffers<int> one(2), many(2 * kRanks), out(2 * kRanks);
  const auto fill = [&] {
    for (int r = 0; r < kRanks; ++r) {
      for (int i = 0; i < 2; ++i) one.of(r)[i] = 10 * r + i;
      for (int i = 0; i < 2 * kRanks; ++i) many.of(r)[i] = 100 * r + i, out.of(r)[i] = -1;
    }
  };
  fill();
  each([&](int r) { return ncclAllGather(one.of(r), out.of(r), 2, ncclInt, comms[r], streams[r]); });
  for (int r = 0; r < kRanks; ++r)
    for (int i = 0; i < 2 * kRanks; ++i) EXPECT_EQ(out.of(r)[i], 10 * (i / 2) + i % 2);
  fill();
  each([&](int r) { return ncclReduceScatter(many.of(r), out.of(r), 2, ncclInt, ncclSum, comms[r], streams[r]); });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(out.of(r)[1], 600 + kRanks * (2 * r + 1));
  fill();
  each([&](int r) { return ncclBroadcast(one.of(r), out.of(r), 2, ncclInt, 2, comms[r], streams[r]); });
  each([&](int r) { return ncclBcast(one.of(r), 2, ncclInt, 3, comms[r], streams[r]); });
  for (int r = 0; r < kRanks; ++r) {
    EXPECT_EQ(out.of(r)[1], 21);
    EXPECT_EQ(one.of(r)[1], 31);
  }
  fill();
  each([&](int r) {
    return ncclReduce(one.of(r), r == 1 ? out.of(r) : nullptr, 2, ncclInt, ncclMax, 1, comms[r], streams[r]);
  });
  EXPECT_EQ(out.of(1)[0], 30);
  EXPECT_EQ(out.of(0)[0], -1);
  each([&](int r) { return ncclAlltoAll(many.of(r), out.of(r), 2, ncclInt, comms[r], streams[r]); });
  for (int r = 0; r < kRanks; ++r)
    for (int i = 0; i < 2 * kRanks; ++i) EXPECT_EQ(out.of(r)[i], 100 * (i / 2) + 2 * r + i % 2);
  each([&](int r) { return ncclGather(one.of(r), out.of(r), 2, ncclInt, 3, comms[r], streams[r]); });
  EXPECT_EQ(out.of(3)[4], 20);
  each([&](int r) { return ncclScatter(many.of(r), out.of(r), 2, ncclInt, 1, comms[r], streams[r]); });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(out.of(r)[1], 100 + 2 * r + 1);
}

// A ring of sends and receives in one group: each rank sends before it receives.
TEST_F(Nccl, SendsAndReceives) {
  Buffers<double> send(1), recv(1);
  for (int r = 0; r < kRanks; ++r) *send.of(r) = r;
  each([&](int r) {
    const ncclResult_t sent = ncclSend(send.of(r), 1, ncclDouble, (r + 1) % kRanks, comms[r], streams[r]);
    return sent != ncclSuccess ? sent
                               : ncclRecv(recv.of(r), 1, ncclDouble, (r + kRanks - 1) % kRanks, comms[r], streams[r]);
  });
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(*recv.of(r), (r + kRanks - 1) % kRanks);
}

// One thread for each rank, communicators from an id, and copies before and behind the collective in its stream.
TEST_F(Nccl, WorksInThreads) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  int results[kRanks] = {};
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r)
    threads.emplace_back([&, r] {
      cudaSetDevice(r);
      ncclComm_t comm = nullptr;
      EXPECT_EQ(ncclCommInitRank(&comm, kRanks, id, r), ncclSuccess);
      int count = 0, device = 0, rank = 0;
      EXPECT_EQ(ncclCommCount(comm, &count), ncclSuccess);
      EXPECT_EQ(ncclCommCuDevice(comm, &device), ncclSuccess);
      EXPECT_EQ(ncclCommUserRank(comm, &rank), ncclSuccess);
      EXPECT_EQ(count, kRanks);
      EXPECT_TRUE(device == r && rank == r);
      int* data = nullptr;
      EXPECT_EQ(ncclMemAlloc(reinterpret_cast<void**>(&data), sizeof(int)), ncclSuccess);
      const int value = r + 1;
      cudaMemcpyAsync(data, &value, sizeof value, cudaMemcpyHostToDevice, streams[r]);
      for (int times = 0; times < 3; ++times)
        EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt, ncclSum, comm, streams[r]), ncclSuccess);
      cudaMemcpyAsync(&results[r], data, sizeof value, cudaMemcpyDeviceToHost, streams[r]);
      EXPECT_EQ(cudaStreamSynchronize(streams[r]), cudaSuccess);
      // Even and odd ranks, in reverse order.
      ncclComm_t half = nullptr;
      EXPECT_EQ(ncclCommSplit(comm, r % 2, -r, &half, nullptr), ncclSuccess);
      EXPECT_EQ(ncclCommUserRank(half, &rank), ncclSuccess);
      EXPECT_EQ(rank, r < 2 ? 1 : 0);
      cudaMemcpyAsync(data, &value, sizeof value, cudaMemcpyHostToDevice, streams[r]);
      EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt, ncclSum, half, streams[r]), ncclSuccess);
      int sum = 0;
      cudaMemcpyAsync(&sum, data, sizeof sum, cudaMemcpyDeviceToHost, streams[r]);
      EXPECT_EQ(cudaStreamSynchronize(streams[r]), cudaSuccess);
      EXPECT_EQ(sum, r % 2 ? 6 : 4);
      EXPECT_EQ(ncclCommFinalize(half), ncclSuccess);
      EXPECT_EQ(ncclCommDestroy(half), ncclSuccess);
      EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
      EXPECT_EQ(ncclMemFree(data), ncclSuccess);
    });
  for (std::thread& t : threads) t.join();
  for (const int result : results) EXPECT_EQ(result, 10 * kRanks * kRanks);
}

TEST_F(Nccl, MakesCommunicatorsInAGroup) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t made[3] = {};
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  for (int r = 0; r < 3; ++r) {
    cudaSetDevice(r);
    EXPECT_EQ(r == 0   ? ncclCommInitRank(&made[r], 3, id, r)
              : r == 1 ? ncclCommInitRankConfig(&made[r], 3, id, r, &config)
                       : ncclCommInitRankScalable(&made[r], 3, r, 1, &id, &config),
              ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  for (ncclComm_t comm : made) {
    ncclResult_t error = ncclInternalError;
    EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
    EXPECT_EQ(error, ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  }
}

// Each rank's stream is captured; the graphs are launched twice.
TEST_F(Nccl, IsCaptured) {
  Buffers<int> data(1);
  cudaGraphExec_t graphs[kRanks] = {};
  for (int r = 0; r < kRanks; ++r) {
    *data.of(r) = 1;
    cudaSetDevice(r);
    ASSERT_EQ(cudaStreamBeginCapture(streams[r], cudaStreamCaptureModeRelaxed), cudaSuccess);
  }
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    EXPECT_EQ(ncclAllReduce(data.of(r), data.of(r), 1, ncclInt, ncclSum, comms[r], streams[r]), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (int r = 0; r < kRanks; ++r) {
    cudaGraph_t graph = nullptr;
    cudaSetDevice(r);
    ASSERT_EQ(cudaStreamEndCapture(streams[r], &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&graphs[r], graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
  }
  EXPECT_EQ(*data.of(0), 1);
  for (int times = 0; times < 2; ++times)
    for (int r = 0; r < kRanks; ++r) {
      cudaSetDevice(r);
      EXPECT_EQ(cudaGraphLaunch(graphs[r], streams[r]), cudaSuccess);
    }
  wait();
  for (int r = 0; r < kRanks; ++r) EXPECT_EQ(*data.of(r), kRanks * kRanks);
  for (cudaGraphExec_t graph : graphs) cudaGraphExecDestroy(graph);
}

// The collective ends at the same virtual time on all ranks, behind the work of the slowest.
TEST_F(Nccl, RanksEndTogether) {
  constexpr std::size_t kBytes = 64 << 20;
  char* slow = nullptr;
  int* small[kRanks] = {};
  cudaEvent_t begin[kRanks], end[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    if (r == 2) ASSERT_EQ(cudaMalloc(&slow, kBytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&small[r], sizeof(int)), cudaSuccess);
    cudaEventCreate(&begin[r]);
    cudaEventCreate(&end[r]);
    cudaEventRecord(begin[r], streams[r]);
    if (r == 2)
      for (int times = 0; times < 8; ++times) cudaMemsetAsync(slow, 0, kBytes, streams[r]);
    cudaMemsetAsync(small[r], 0, sizeof(int), streams[r]);
  }
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r) ncclAllReduce(small[r], small[r], 1, ncclInt, ncclSum, comms[r], streams[r]);
  ncclGroupEnd();
  float ms[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    cudaEventRecord(end[r], streams[r]);
  }
  wait();
  for (int r = 0; r < kRanks; ++r) {
    ASSERT_EQ(cudaEventElapsedTime(&ms[r], begin[r], end[r]), cudaSuccess);
    EXPECT_GT(ms[r], 0.1f);  // 8 fills of 64 MiB
    cudaSetDevice(r);
    cudaFree(small[r]);
    cudaEventDestroy(begin[r]);
    cudaEventDestroy(end[r]);
  }
  EXPECT_NEAR(ms[0], ms[2], 0.1f);
  cudaSetDevice(2);
  cudaFree(slow);
}

// On the virtual timeline, calls take their estimated time: the ranks take part at the same time, not in turn.
TEST_F(Nccl, RanksWorkAtTheSameTime) {
  constexpr int kCalls = 10;
  constexpr std::size_t kCount = 1 << 20;
  float* data[kRanks] = {};
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    ASSERT_EQ(cudaMalloc(&data[r], kCount * sizeof(float)), cudaSuccess);
    ASSERT_EQ(cudaMemset(data[r], 0, kCount * sizeof(float)), cudaSuccess);
  }
  const auto add_calls = [&] {
    ncclGroupStart();
    for (int times = 0; times < kCalls; ++times)
      for (int r = 0; r < kRanks; ++r) ncclBroadcast(data[r], data[r], kCount, ncclFloat, 0, comms[r], streams[r]);
  };
  add_calls();
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclSuccess);
  cudaEvent_t begin, end;
  cudaSetDevice(0);
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int times = 0; times < 2; ++times) {  // the first leaves all streams at the same time
    cudaEventRecord(begin, streams[0]);
    add_calls();
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    cudaSetDevice(0);
    cudaEventRecord(end, streams[0]);
  }
  wait();
  float ms = 0;
  ASSERT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
  EXPECT_NEAR(ms * 1000, info.estimatedTime / kRanks, 0.1f * info.estimatedTime / kRanks);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  for (int r = 0; r < kRanks; ++r) {
    cudaSetDevice(r);
    cudaFree(data[r]);
  }
}

TEST_F(Nccl, RefusesWrongArguments) {
  Buffers<int> data(1);
  int* const at = data.of(0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(ncclAllReduce(at, at, 1, ncclInt, ncclSum, nullptr, streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(nullptr, at, 1, ncclInt, ncclSum, comms[0], streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(at, at, 1, ncclNumTypes, ncclSum, comms[0], streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(at, at, 1, ncclInt, ncclNumOps, comms[0], streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclBroadcast(at, at, 1, ncclInt, kRanks, comms[0], streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclSend(at, 1, ncclInt, -1, comms[0], streams[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(at, at, 1, ncclInt, ncclSum, comms[0], streams[1]), ncclInvalidUsage);
  EXPECT_STREQ(ncclGetLastError(comms[0]),
               "ncclAllReduce: the stream belongs to device 1, rank 0 of the communicator to device 0");
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  const int twice[] = {1, 1};
  ncclComm_t none[2] = {};
  EXPECT_EQ(ncclCommInitAll(none, 2, twice), ncclInvalidUsage);
  EXPECT_EQ(ncclCommInitAll(none, 99, nullptr), ncclInvalidArgument);
  ncclUniqueId id = {};
  EXPECT_EQ(ncclCommInitRank(none, 1, id, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(reinterpret_cast<ncclComm_t>(at)), ncclInvalidArgument);
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the send buffer is NULL"), std::string::npos);
  // The call in the wrong stream took no part. A rank that took a number without issuing it would now wait forever.
  each([&](int r) { return ncclAllReduce(data.of(r), data.of(r), 1, ncclInt, ncclSum, comms[r], streams[r]); });
}

TEST_F(Nccl, AnswersQuestions) {
  int version = 0;
  EXPECT_EQ(ncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version, NCCL_VERSION_CODE);
  EXPECT_STREQ(ncclGetErrorString(ncclInvalidUsage), "invalid usage (run with NCCL_DEBUG=WARN for details)");
  ncclResetDebugInit();
  Buffers<float> data(1024);
  void* handle = nullptr;
  EXPECT_EQ(ncclCommRegister(comms[0], data.of(0), 4096, &handle), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comms[0], handle), ncclSuccess);
  ncclWindow_t window = nullptr;
  EXPECT_EQ(ncclCommWindowRegister(comms[0], data.of(0), 4096, &window, NCCL_WIN_DEFAULT), ncclSuccess);
  EXPECT_EQ(ncclCommWindowDeregister(comms[0], window), ncclSuccess);
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(data.of(r), data.of(r), 1024, ncclFloat, ncclSum, comms[r], streams[r]);
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclSuccess);
  EXPECT_GT(info.estimatedTime, 0);
}

// Sets 8 x 64 MiB, which takes some 100 us of the GPU's time.
void keep_busy(char* memory, cudaStream_t stream) {
  for (int i = 0; i < 8; ++i) EXPECT_EQ(cudaMemsetAsync(memory, 0, std::size_t{64} << 20, stream), cudaSuccess);
}

// "This will enforce a stream dependency of all streams before the NCCL kernel starts and block all streams until the
// NCCL kernel completes." (NCCL user guide, CUDA Stream Semantics)
TEST_F(Nccl, JoinsTheStreamsOfAGroup) {
  constexpr int kUsed = 2;
  constexpr std::size_t kCount = std::size_t{1} << 20;
  Buffers<float> send(kCount), recv(kCount), small(1);
  char* memory[kUsed] = {};
  cudaStream_t others[kUsed] = {};
  cudaEvent_t busy[kUsed], after[kUsed], after_other[kUsed];
  for (int r = 0; r < kUsed; ++r) {
    cudaSetDevice(r);
    ASSERT_EQ(cudaMalloc(&memory[r], std::size_t{64} << 20), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&others[r], cudaStreamNonBlocking), cudaSuccess);
    for (cudaEvent_t* event : {&busy[r], &after[r], &after_other[r]}) ASSERT_EQ(cudaEventCreate(event), cudaSuccess);
    keep_busy(memory[r], others[r]);
    cudaEventRecord(busy[r], others[r]);
    small.of(r)[0] = static_cast<float>(r + 1);
  }
  // The large operation is in the stream that is free, the small one in the stream that is busy.
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int r = 0; r < kUsed; ++r) {
    EXPECT_EQ(ncclSend(send.of(r), kCount, ncclFloat, 1 - r, comms[r], streams[r]), ncclSuccess);
    EXPECT_EQ(ncclSend(small.of(r), 1, ncclFloat, 1 - r, comms[r], others[r]), ncclSuccess);
    EXPECT_EQ(ncclRecv(recv.of(r), kCount, ncclFloat, 1 - r, comms[r], streams[r]), ncclSuccess);
    EXPECT_EQ(ncclRecv(small.of(r + 2), 1, ncclFloat, 1 - r, comms[r], others[r]), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  for (int r = 0; r < kUsed; ++r) {
    cudaSetDevice(r);
    cudaEventRecord(after[r], streams[r]);
    cudaEventRecord(after_other[r], others[r]);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(small.of(r + 2)[0], static_cast<float>(2 - r));
    float to_end = 0, to_other = -1;
    EXPECT_EQ(cudaEventElapsedTime(&to_end, busy[r], after[r]), cudaSuccess);
    EXPECT_GT(to_end, 0) << "the operation did not wait for the busy stream";
    EXPECT_EQ(cudaEventElapsedTime(&to_other, after[r], after_other[r]), cudaSuccess);
    EXPECT_GE(to_other, 0) << "the other stream did not wait for the operation";
    for (const cudaEvent_t event : {busy[r], after[r], after_other[r]}) cudaEventDestroy(event);
    cudaFree(memory[r]);
    cudaStreamDestroy(others[r]);
  }
}

TEST_F(Nccl, RefusesAGroupThatIsCapturedInPart) {
  Array<float> data(2);
  cudaSetDevice(0);
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreate(&other), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed), cudaSuccess);
  ncclGroupStart();
  for (const cudaStream_t stream : {streams[0], other})
    EXPECT_EQ(ncclAllReduce(data.data(), data.data() + 1, 1, ncclFloat, ncclSum, comms[0], stream), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(streams[0], &graph), cudaSuccess);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(other);
}

}  // namespace
