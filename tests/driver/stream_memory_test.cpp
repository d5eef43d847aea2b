// Stream memory operations: words that streams write and wait for.
#include <atomic>
#include <thread>
#include <vector>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

const auto kNoStream = reinterpret_cast<CUstream>(0x1234);

// Two streams, and words visible to the host and the device.
class StreamMemory : public test::WithContext {
 protected:
  StreamMemory() {
    OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    void* memory = nullptr;
    OK(cuMemAllocHost(&memory, 64));
    words = static_cast<std::atomic<unsigned>*>(memory);
    long_word = static_cast<std::atomic<unsigned long long>*>(memory) + 4;
    for (unsigned i = 0; i < 16; i++) words[i] = 0;
  }
  ~StreamMemory() override {
    OK(cuStreamDestroy(first));
    OK(cuStreamDestroy(second));
    OK(cuMemFreeHost(words));
  }
  static CUdeviceptr at(const void* word) { return reinterpret_cast<CUdeviceptr>(word); }
  // Returns whether a wait for `value` ends with words[0] as it is. Then stores let_pass there, so that the wait ends.
  bool passes(unsigned value, unsigned flags) {
    std::atomic<bool> ended{false};
    OK(cuStreamWaitValue32(first, at(words), value, flags));
    OK(cuLaunchHostFunc(
        first, [](void* out) { *static_cast<std::atomic<bool>*>(out) = true; }, &ended));
    const bool at_once = cuStreamQuery(first) == CUDA_SUCCESS || wait_a_little(ended);
    words[0] = let_pass;
    OK(cuStreamSynchronize(first));
    EXPECT_TRUE(ended);
    return at_once;
  }
  static bool wait_a_little(const std::atomic<bool>& ended) {
    for (int i = 0; i < 100 && !ended; i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ended;
  }

  CUstream first = nullptr, second = nullptr;
  std::atomic<unsigned>* words = nullptr;
  std::atomic<unsigned long long>* long_word = nullptr;
  unsigned let_pass = 0;
};

}  // namespace

TEST_F(StreamMemory, WaitsForAnotherStream) {
  std::atomic<int> number{0};
  OK(cuStreamWaitValue32(second, at(words), 7, CU_STREAM_WAIT_VALUE_EQ));
  OK(cuLaunchHostFunc(
      second, [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &number));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
  EXPECT_EQ(number, 0);
  OK(cuStreamWriteValue32(first, at(words), 7, CU_STREAM_WRITE_VALUE_DEFAULT));
  OK(cuStreamSynchronize(second));
  EXPECT_EQ(number, 1);
  EXPECT_EQ(words[0], 7u);
}

TEST_F(StreamMemory, WaitsForTheHost) {
  OK(cuStreamWaitValue64(first, at(long_word), 1ull << 40, CU_STREAM_WAIT_VALUE_GEQ));
  OK(cuStreamWriteValue64(first, at(long_word), 5, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(first));
  *long_word = (1ull << 40) + 3;
  OK(cuStreamSynchronize(first));
  EXPECT_EQ(*long_word, 5u);
}

// A wait that only another host thread can end.
TEST_F(StreamMemory, WaitsWhileTheHostWaits) {
  OK(cuStreamWaitValue32(first, at(words), 1, CU_STREAM_WAIT_VALUE_GEQ));
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamWriteValue32(second, at(words), 1, 0));
    OK(cuStreamSynchronize(second));
  });
  OK(cuCtxSynchronize());
  other.join();
  EXPECT_EQ(words[0], 1u);
}

TEST_F(StreamMemory, Compares) {
  let_pass = 12;
  words[0] = 5;
  EXPECT_FALSE(passes(6, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_TRUE(passes(12, CU_STREAM_WAIT_VALUE_GEQ));
  words[0] = 0xfffffff0;  // cyclic: -16 comes before 12
  EXPECT_FALSE(passes(12, CU_STREAM_WAIT_VALUE_GEQ));
  let_pass = 6;
  EXPECT_FALSE(passes(6, CU_STREAM_WAIT_VALUE_EQ));
  let_pass = 8;
  EXPECT_FALSE(passes(9, CU_STREAM_WAIT_VALUE_AND));
  EXPECT_TRUE(passes(9, CU_STREAM_WAIT_VALUE_AND));
  words[0] = 0xf0f0f0f0;
  let_pass = 0;
  EXPECT_FALSE(passes(0x0f0f0f0f, CU_STREAM_WAIT_VALUE_NOR));
  EXPECT_TRUE(passes(0x0f0f0f0f, CU_STREAM_WAIT_VALUE_NOR));
}

TEST_F(StreamMemory, InDeviceMemory) {
  CUdeviceptr word = 0;
  OK(cuMemAlloc(&word, 8));
  OK(cuMemsetD32(word, 0, 2));
  OK(cuStreamSynchronize(nullptr));  // device memory may still be in flight, and the streams do not wait for it
  OK(cuStreamWaitValue32(first, word, 3, CU_STREAM_WAIT_VALUE_EQ));
  OK(cuStreamWriteValue32(first, word + 4, 9, 0));
  OK(cuStreamWriteValue32(second, word, 3, 0));
  OK(cuStreamSynchronize(first));
  unsigned seen[2] = {0, 0};
  OK(cuMemcpyDtoH(seen, word, sizeof seen));
  EXPECT_EQ(seen[0], 3u);
  EXPECT_EQ(seen[1], 9u);
  OK(cuMemFree(word));
}

TEST_F(StreamMemory, RefuseWhatIsWrong) {
  int pageable = 0;
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamWaitValue32(kNoStream, at(words), 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(first, at(words) + 2, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(first, at(words), 0, 4));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuStreamWaitValue32(first, at(words), 0, CU_STREAM_WAIT_VALUE_FLUSH));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64(first, at(words) + 4, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(first, at(&pageable), 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(first, at(words), 0, 2));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue64(first, 0, 0, 0));
  OK(cuStreamQuery(first));
}

TEST_F(StreamMemory, Batches) {
  CUstreamBatchMemOpParams batch[4]{};
  batch[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  batch[0].waitValue.address = at(words);
  batch[0].waitValue.value = 4;
  batch[1].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
  batch[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  batch[2].writeValue.address = at(long_word);
  batch[2].writeValue.value64 = 6;
  batch[3].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  batch[3].writeValue.address = at(words);
  batch[3].writeValue.value = 8;
  OK(cuStreamBatchMemOp(first, 4, batch, 0));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(first));
  EXPECT_EQ(*long_word, 0u);
  words[0] = 4;
  OK(cuStreamSynchronize(first));
  EXPECT_EQ(*long_word, 6u);
  EXPECT_EQ(words[0], 8u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(first, 4, nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(first, 300, batch, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(first, 4, batch, 1));
  batch[0].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuStreamBatchMemOp(first, 1, batch, 0));
  batch[0].operation = static_cast<CUstreamBatchMemOpType>(99);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(first, 1, batch, 0));
  // A refused batch has no effect.
  EXPECT_EQ(words[0], 8u);
}

// The process ends although no one will write the word. It is a child, because the wait must be its last action.
TEST_F(StreamMemory, DoesNotKeepTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        OK(cuStreamWaitValue32(first, at(words), 1, CU_STREAM_WAIT_VALUE_EQ));
        std::exit(testing::Test::HasFailure() ? 1 : 3);
      },
      testing::ExitedWithCode(3), "");
}

TEST_F(StreamMemory, OfEarlierVersions) {
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuStreamBatchMemOp
  OK(cuStreamWriteValue32(first, at(words), 2, 0));
  OK(cuStreamWaitValue32(first, at(words), 2, CU_STREAM_WAIT_VALUE_EQ));
  OK(cuStreamWriteValue64(first, at(long_word), 3, 0));
  OK(cuStreamWaitValue64(first, at(long_word), 3, CU_STREAM_WAIT_VALUE_EQ));
  CUstreamBatchMemOpParams barrier{};
  barrier.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
  OK(cuStreamBatchMemOp(first, 1, &barrier, 0));
  OK(cuStreamSynchronize(first));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(first, at(words), 0, 9));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64(first, at(words), 0, 9));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(first, 0, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue64(first, 0, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(first, 0, &barrier, 0));
}

}  // namespace warpgrind::driver
