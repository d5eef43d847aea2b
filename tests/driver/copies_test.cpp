// Memory management: copies and fills.
#include <sys/mman.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

constexpr size_t kMinus4 = static_cast<size_t>(-4);
constexpr size_t kWords = 64, kBytes = 4 * kWords;
using Words = std::vector<unsigned>;

// Twice 64 words of device memory, an array of 8 x 4 words and one of 16, and a stream.
class Copies : public test::WithContext {
 protected:
  Copies() : host(kWords), back(kWords) {
    std::iota(host.begin(), host.end(), 1u);
    OK(cuMemAlloc(&a, kBytes));
    OK(cuMemAlloc(&b, kBytes));
    OK(cuMemsetD8(b, 0, kBytes));
    const CUDA_ARRAY_DESCRIPTOR image{8, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1}, line{16, 0, CU_AD_FORMAT_FLOAT, 1};
    OK(cuArrayCreate(&rows, &image));
    OK(cuArrayCreate(&row, &line));
  }
  ~Copies() override {
    OK(cuArrayDestroy(rows));
    OK(cuArrayDestroy(row));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
  }
  Words read(CUdeviceptr from) {
    Words words(kWords);
    OK(cuMemcpyDtoH(words.data(), from, kBytes));
    return words;
  }
  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(host.data()); }

  Words host, back;
  CUdeviceptr a = 0, b = 0;
  CUarray rows = nullptr, row = nullptr;
  const CUstream wrong = reinterpret_cast<CUstream>(&back);
};

}  // namespace

using NoDeviceMemory = test::WithContext;

// Programs that are not position-independent have their heap at low addresses. These are no device memory, even if none
// exists yet.
TEST_F(NoDeviceMemory, LowAddresses) {
  void* const low = reinterpret_cast<void*>(std::uintptr_t{1} << 25);
  void* const heap =
      mmap(low, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (heap != low) GTEST_SKIP() << "32 MiB is taken";
  void* pinned = nullptr;
  CUdeviceptr mapped = 0;
  OK(cuMemHostAlloc(&pinned, kBytes, CU_MEMHOSTALLOC_DEVICEMAP));
  OK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
  std::memset(pinned, 7, kBytes);
  OK(cuMemcpyDtoH(heap, mapped, kBytes));
  EXPECT_EQ(std::memcmp(heap, pinned, kBytes), 0);
  std::memset(heap, 9, kBytes);
  OK(cuMemcpyHtoD(mapped, heap, kBytes));
  EXPECT_EQ(std::memcmp(heap, pinned, kBytes), 0);
  OK(cuMemFreeHost(pinned));
  munmap(heap, kBytes);
}

TEST_F(Copies, BetweenHostAndDevice) {
  OK(cuMemcpyHtoD(a, host.data(), kBytes));
  EXPECT_EQ(read(a), host);
  OK(cuMemcpyDtoD(b, a, 128));
  EXPECT_EQ(read(b)[31], 32u);
  EXPECT_EQ(read(b)[32], 0u);
  OK(cuMemcpy(b, address(), kBytes));
  EXPECT_EQ(read(b), host);
  OK(cuMemcpyHtoD(a, nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host.data(), kBytes + 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host.data(), kMinus4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(0, host.data(), 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(back.data(), a + 4, kBytes));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(back.data(), address(), 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(a, b + kBytes, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy(a, 0, 4));
}

TEST_F(Copies, OfStreams) {
  OK(cuMemcpyHtoDAsync(a, host.data(), kBytes, nullptr));
  OK(cuMemcpyDtoDAsync(b, a, kBytes, nullptr));
  OK(cuMemcpyDtoHAsync(back.data(), b, kBytes, nullptr));
  OK(cuCtxSynchronize());
  EXPECT_EQ(back, host);
  OK(cuMemcpyAsync(b, a + 4, 4, CU_STREAM_PER_THREAD));
  OK(cuCtxSynchronize());
  EXPECT_EQ(read(b)[0], 2u);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemcpyHtoDAsync(a, host.data(), kBytes, wrong));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoDAsync(a, b, kBytes + 1, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemcpyDtoHAsync(back.data(), a, 4, wrong));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemcpyAsync(a, b, 4, wrong));
}

TEST_F(Copies, BetweenContexts) {
  CUcontext other = nullptr;
  CUdeviceptr there = 0;
  OK(cuCtxCreate(&other, nullptr, 0, 1));
  OK(cuMemAlloc(&there, kBytes));
  OK(cuMemcpyHtoD(a, host.data(), kBytes));
  OK(cuMemcpyPeer(there, other, a, context, kBytes));
  EXPECT_EQ(read(there), host);
  OK(cuMemcpyPeerAsync(b, context, there, other, kBytes, nullptr));
  OK(cuCtxSynchronize());
  EXPECT_EQ(read(b), host);
  CUDA_MEMCPY3D_PEER box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = a + 4;
  box.dstDevice = there;
  box.srcContext = context;
  box.dstContext = other;
  box.WidthInBytes = 4;
  box.Height = box.Depth = 1;
  OK(cuMemcpy3DPeer(&box));
  EXPECT_EQ(read(there)[0], 2u);
  box.dstDevice = there + 4;
  OK(cuMemcpy3DPeerAsync(&box, nullptr));
  OK(cuCtxSynchronize());
  EXPECT_EQ(read(there)[1], 2u);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemcpy3DPeerAsync(&box, wrong));
  box.dstContext = nullptr;
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemcpy3DPeer(&box));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeer(there, nullptr, a, context, kBytes));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeerAsync(there, other, a, nullptr, kBytes, nullptr));
  OK(cuMemFree(there));
  OK(cuCtxDestroy(other));
}

TEST_F(Copies, OfBytesOfArrays) {
  OK(cuMemcpyHtoA(rows, 0, host.data(), 32));  // the first row
  OK(cuMemcpyAtoH(back.data(), rows, 8, 24));
  EXPECT_EQ(Words(back.begin(), back.begin() + 6), Words(host.begin() + 2, host.begin() + 8));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(back.data(), rows, 32, 32));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(rows, 16, host.data(), 32));
  OK(cuMemcpyAtoD(b, rows, 4, 8));
  EXPECT_EQ(read(b)[1], 3u);
  OK(cuMemcpyDtoA(rows, 0, b, 8));
  OK(cuMemcpyAtoA(row, 0, rows, 0, 32));
  OK(cuMemcpyAtoH(back.data(), row, 0, 32));
  EXPECT_EQ(back[0], 2u);
  EXPECT_EQ(back[2], 3u);
  OK(cuMemcpyHtoAAsync(row, 8, host.data(), 4, nullptr));
  OK(cuMemcpyAtoHAsync(back.data(), row, 8, 4, nullptr));
  OK(cuCtxSynchronize());
  EXPECT_EQ(back[0], 1u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(rows, 4, host.data(), 128));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoH(back.data(), rows, kMinus4, 128));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoA(row, 0, b, 65));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoD(b, nullptr, 0, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoA(row, 0, rows, 0, 65));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemcpyHtoAAsync(row, 0, host.data(), 4, wrong));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoHAsync(back.data(), row, 64, 4, nullptr));
}

TEST_F(Copies, OfRectangles) {
  CUDA_MEMCPY2D up{}, down{}, over{};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = host.data();
  up.srcPitch = 32;
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = a;
  up.dstPitch = 64;
  up.WidthInBytes = 32;
  up.Height = 4;
  OK(cuMemcpy2D(&up));
  EXPECT_EQ(read(a)[16], 9u);
  over.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  over.srcDevice = a;
  over.srcPitch = 64;
  over.srcXInBytes = 4;
  over.srcY = 1;
  over.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  over.dstArray = rows;
  over.dstXInBytes = 8;
  over.dstY = 2;
  over.WidthInBytes = 8;
  over.Height = 2;
  OK(cuMemcpy2DUnaligned(&over));
  down.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  down.srcArray = rows;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = back.data();
  down.WidthInBytes = 32;
  down.Height = 4;  // dstPitch 0: rows follow each other
  OK(cuMemcpy2DAsync(&down, nullptr));
  OK(cuCtxSynchronize());
  EXPECT_EQ(back[2 * 8 + 2], 10u);
  EXPECT_EQ(back[3 * 8 + 3], 19u);
  EXPECT_EQ(back[0], 0u);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemcpy2DAsync(&down, wrong));
  up.srcPitch = 16;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&up));
  up.srcPitch = 32;
  up.dstMemoryType = static_cast<CUmemorytype>(9);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&up));
  over.dstY = 3;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2DUnaligned(&over));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(nullptr));
}

TEST_F(Copies, OfBoxes) {
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = host.data();
  box.srcPitch = 16;  // 4 words, 4 rows, 4 slices
  box.srcHeight = 4;
  box.srcXInBytes = 4;
  box.srcY = 1;
  box.srcZ = 2;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = b;
  box.dstPitch = 8;
  box.dstHeight = 2;
  box.WidthInBytes = 8;
  box.Height = 2;
  box.Depth = 2;
  OK(cuMemcpy3D(&box));
  const Words words = read(b);
  EXPECT_EQ(Words(words.begin(), words.begin() + 9), (Words{38, 39, 42, 43, 54, 55, 58, 59, 0}));
  OK(cuMemsetD8(b, 0, kBytes));
  OK(cuMemcpy3DAsync(&box, nullptr));
  OK(cuCtxSynchronize());
  EXPECT_EQ(read(b), words);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemcpy3DAsync(&box, wrong));
  box.srcHeight = 2;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&box));
  box.srcHeight = 4;
  box.srcLOD = 1;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&box));
}

TEST_F(Copies, InBatches) {
  const CUstream stream = CU_STREAM_PER_THREAD;
  CUdeviceptr to[] = {a, b, a + 128}, from[] = {address(), address() + 4, address() + 8};
  size_t sizes[] = {8, 8, 8}, firsts[] = {0, 2}, failed = 77;
  CUmemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  OK(cuMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, stream));
  OK(cuCtxSynchronize());
  EXPECT_EQ(read(a)[1], 2u);
  EXPECT_EQ(read(b)[1], 3u);
  EXPECT_EQ(read(a)[33], 4u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 0, attributes, firsts, 2, stream));
  firsts[0] = 1;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, stream));
  firsts[0] = 0;
#undef cuMemcpyBatchAsync
  OK(cuMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, &failed, stream));
  EXPECT_EQ(failed, static_cast<size_t>(-1));
  to[2] = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, &failed, stream));
  EXPECT_EQ(failed, 2u);
}

// If an array is involved, extents are in elements.
TEST_F(Copies, OfBoxesInBatches) {
  const CUstream stream = CU_STREAM_PER_THREAD;
  CUDA_MEMCPY3D_BATCH_OP operations[2] = {};
  operations[0].src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  operations[0].src.op.ptr.ptr = address();
  operations[0].src.op.ptr.rowLength = 8;
  operations[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  operations[0].dst.op.array = {rows, {2, 1, 0}};
  operations[0].extent = {4, 2, 1};
  operations[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  operations[1].src = operations[0].dst;
  operations[1].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  operations[1].dst.op.ptr.ptr = b;
  operations[1].extent = {4, 2, 1};
  operations[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  size_t failed = 77;
  OK(cuMemcpy3DBatchAsync(2, operations, 0, stream));
  OK(cuCtxSynchronize());
  EXPECT_EQ(read(b)[3], 4u);
  EXPECT_EQ(read(b)[4], 9u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, operations, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, operations, 1, stream));
#undef cuMemcpy3DBatchAsync
  OK(cuMemcpy3DBatchAsync(2, operations, &failed, 0, stream));
  operations[1].extent.width = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, operations, &failed, 0, stream));
  EXPECT_EQ(failed, 1u);
}

TEST_F(Copies, FillMemory) {
  OK(cuMemsetD8(a, 0x12, kBytes));
  EXPECT_EQ(read(a)[63], 0x12121212u);
  OK(cuMemsetD16(a, 0x1234, 3));
  EXPECT_EQ(read(a)[0], 0x12341234u);
  EXPECT_EQ(read(a)[1], 0x12121234u);
  OK(cuMemsetD32(a, 0x12345678, 2));
  EXPECT_EQ(read(a)[1], 0x12345678u);
  EXPECT_EQ(read(a)[2], 0x12121212u);
  OK(cuMemsetD8Async(b, 1, 4, nullptr));
  OK(cuMemsetD16Async(b + 4, 2, 2, nullptr));
  OK(cuMemsetD32Async(b + 8, 3, 1, nullptr));
  OK(cuCtxSynchronize());
  EXPECT_EQ(read(b)[0], 0x01010101u);
  EXPECT_EQ(read(b)[1], 0x00020002u);
  EXPECT_EQ(read(b)[2], 3u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(a, 0, kBytes + 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(a + 1, 0, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a + 2, 0, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(address(), 0, 1));  // not pinned memory
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemsetD8Async(a, 0, 1, wrong));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD16Async(a, 0, kBytes, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemsetD32Async(a, 0, 1, wrong));
}

TEST_F(Copies, FillRectangles) {
  OK(cuMemsetD2D8(b, 16, 1, 4, 2));
  OK(cuMemsetD2D16(b + 4, 16, 2, 2, 2));
  OK(cuMemsetD2D32(b + 8, 16, 3, 1, 2));
  Words words = read(b);
  EXPECT_EQ(Words(words.begin(), words.begin() + 9),
            (Words{0x01010101, 0x00020002, 3, 0, 0x01010101, 0x00020002, 3, 0, 0}));
  OK(cuMemsetD2D8Async(b, 16, 4, 4, 2, nullptr));
  OK(cuMemsetD2D16Async(b + 4, 16, 5, 2, 2, nullptr));
  OK(cuMemsetD2D32Async(b + 8, 16, 6, 1, 2, nullptr));
  OK(cuCtxSynchronize());
  words = read(b);
  EXPECT_EQ(Words(words.begin(), words.begin() + 9),
            (Words{0x04040404, 0x00050005, 6, 0, 0x04040404, 0x00050005, 6, 0, 0}));
  OK(cuMemsetD2D8(b, 16, 1, 4, 0));  // nothing
  OK(cuMemsetD2D8(b, 16, 1, 0, 4));
  OK(cuCtxSynchronize());
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(b, 4, 1, 8, 2));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D16(b, 17, 1, 8, 2));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(b, 64, 1, 16, 5));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMemsetD2D8Async(b, 16, 1, 4, 2, wrong));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D16Async(b + 1, 16, 1, 4, 2, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32Async(b, 18, 1, 4, 2, nullptr));
}

}  // namespace warpgrind::driver
