// Memory: allocation, host memory, managed memory, pointers, symbols, pools.
#include <sys/mman.h>

#include <cstring>

#include "api_test.h"

namespace warpgrind::runtime {

namespace {
constexpr std::size_t kHuge = std::size_t{1} << 33;  // 2^33 x 2^33 wraps
std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}
}  // namespace

TEST(Memory, Malloc) {
  void* p = &p;
  const std::size_t before = free_bytes();
  OK(cudaMalloc(&p, 1 << 20));
  EXPECT_EQ(before - free_bytes(), std::size_t{1} << 20);
  FAILS(cudaErrorInvalidValue, cudaFree(static_cast<char*>(p) + 4));
  OK(cudaFree(p));
  EXPECT_EQ(free_bytes(), before);
  FAILS(cudaErrorInvalidValue, cudaFree(p));
  int host = 0;
  FAILS(cudaErrorInvalidValue, cudaFree(&host));
  OK(cudaFree(nullptr));
  OK(cudaMalloc(&p, 0));
  EXPECT_EQ(p, nullptr);
  FAILS(cudaErrorMemoryAllocation, cudaMalloc(&p, std::size_t{1} << 45));
  FAILS(cudaErrorMemoryAllocation, cudaMalloc(&p, static_cast<std::size_t>(-4)));
  FAILS(cudaErrorInvalidValue, cudaMalloc(nullptr, 4));
  FAILS(cudaErrorInvalidValue, cudaMemGetInfo(nullptr, nullptr));
}

TEST(Memory, Pitch) {
  void* p = nullptr;
  std::size_t pitch = 0;
  OK(cudaMallocPitch(&p, &pitch, 100, 10));
  EXPECT_GE(pitch, 100u);
  EXPECT_EQ(pitch % 512, 0u);
  OK(cudaMemset2D(p, pitch, 1, pitch, 10));
  OK(cudaFree(p));
  FAILS(cudaErrorInvalidValue, cudaMallocPitch(&p, &pitch, kHuge, kHuge));
  FAILS(cudaErrorInvalidValue, cudaMallocPitch(&p, &pitch, static_cast<std::size_t>(-1), 1));
  FAILS(cudaErrorInvalidValue, cudaMallocPitch(&p, nullptr, 1, 1));
  cudaPitchedPtr box{};
  OK(cudaMalloc3D(&box, {100, 10, 3}));
  EXPECT_EQ(box.xsize, 100u);
  EXPECT_EQ(box.ysize, 10u);
  OK(cudaMemset3D(box, 1, {100, 10, 3}));
  OK(cudaFree(box.ptr));
  FAILS(cudaErrorInvalidValue, cudaMalloc3D(&box, {kHuge, kHuge, 2}));
  FAILS(cudaErrorInvalidValue, cudaMalloc3D(&box, {1 << 20, kHuge, kHuge}));
  FAILS(cudaErrorInvalidValue, cudaMalloc3D(nullptr, {1, 1, 1}));
}

TEST(Memory, Host) {
  void *a = nullptr, *b = nullptr, *device = nullptr;
  unsigned flags = 0;
  OK(cudaMallocHost(&a, 64));
  OK(cudaHostAlloc(&b, 64, cudaHostAllocPortable));
  OK(cudaHostGetFlags(&flags, b));
  EXPECT_TRUE(flags & cudaHostAllocPortable);
  OK(cudaHostGetDevicePointer(&device, b, 0));
  OK(test::launch_fill(static_cast<unsigned*>(device), 3, 16));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(static_cast<unsigned*>(b)[15], 3u);
  OK(cudaFreeHost(a));
  OK(cudaFreeHost(b));
  OK(cudaFreeHost(nullptr));
  FAILS(cudaErrorInvalidValue, cudaFreeHost(a));
  FAILS(cudaErrorInvalidValue, cudaHostAlloc(&b, 64, 1u << 20));
  FAILS(cudaErrorMemoryAllocation, cudaMallocHost(&a, static_cast<std::size_t>(-4)));
  FAILS(cudaErrorInvalidValue, cudaHostGetDevicePointer(&device, &flags, 0));
  FAILS(cudaErrorInvalidValue, cudaHostGetFlags(&flags, &flags));
}

// Registering the same memory again, a part of it, or more than it would hide the first registration: later kernels
// would fault.
TEST(Memory, HostRegister) {
  alignas(4096) static char memory[3 * 4096];
  OK(cudaHostRegister(memory + 4096, 4096, 0));
  FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory + 4096, 4096, 0));
  FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory, sizeof memory, 0));
  FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory + 8191, 2, 0));
  FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory, 4097, 0));
  OK(cudaHostRegister(memory, 4096, 0));
  auto* inside = reinterpret_cast<unsigned*>(memory + 8192 - 64);
  OK(test::launch_fill(inside, 5, 16));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(inside[15], 5u);
  OK(cudaHostUnregister(memory));
  OK(cudaHostUnregister(memory + 4096));
  FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(memory));

  test::Words device(16, 1);
  FAILS(cudaErrorInvalidValue, cudaHostRegister(device, 16, 0));
  FAILS(cudaErrorInvalidValue, cudaHostRegister(device + 8, 4, 0));
  FAILS(cudaErrorInvalidValue, cudaHostUnregister(device));
  OK(test::launch_fill(device, 2, 16));  // the allocation is unaffected
  EXPECT_EQ(device.read(), std::vector<unsigned>(16, 2));
  FAILS(cudaErrorInvalidValue, cudaHostRegister(memory, static_cast<std::size_t>(-4), 0));
  FAILS(cudaErrorInvalidValue, cudaHostRegister(memory, 0, 0));
  void* hole = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::munmap(hole, 4096);
  FAILS(cudaErrorInvalidValue, cudaHostRegister(hole, 4096, 0));
}

TEST(Memory, ManagedIsCountedOnceOrNotAtAll) {
  test::Words held(4096);             // in use, so it stays when managed memory is freed
  OK(test::launch_fill(held, 1, 1));  // the module's variables get their memory at the first use
  const std::size_t before = free_bytes();
  unsigned* p = nullptr;
  OK(cudaMallocManaged(reinterpret_cast<void**>(&p), 4096, cudaMemAttachGlobal));
  p[3] = 7;
  OK(test::launch_fill(p, 8, 2));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(p[1], 8u);
  EXPECT_EQ(p[3], 7u);
  OK(cudaFree(p));
  EXPECT_EQ(free_bytes(), before);
  FAILS(cudaErrorInvalidValue, cudaMallocManaged(reinterpret_cast<void**>(&p), 0, cudaMemAttachGlobal));
  FAILS(cudaErrorInvalidValue, cudaMallocManaged(reinterpret_cast<void**>(&p), 4, 9));
}

TEST(Memory, AdviceEndsWithTheAllocation) {
  // Larger than the gaps that other tests leave. The allocation in front keeps its place from becoming part of a gap.
  constexpr std::size_t kBytes = 1 << 20;
  void *in_front = nullptr, *p = nullptr;
  int value = -1;
  OK(cudaMallocManaged(&in_front, kBytes, cudaMemAttachGlobal));
  const cudaMemLocation gpu{cudaMemLocationTypeDevice, 0};
  OK(cudaMallocManaged(&p, kBytes, cudaMemAttachGlobal));
  OK(cudaMemAdvise(p, kBytes, cudaMemAdviseSetReadMostly, gpu));
  OK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, p, kBytes));
  EXPECT_EQ(value, 1);
  OK(cudaMemPrefetchAsync(p, kBytes, gpu, 0, nullptr));
  OK(cudaMemPrefetchAsync_ptsz(p, kBytes, gpu, 0, nullptr));
  int read_mostly = -1, where = -1;
  void* data[] = {&read_mostly, &where};
  std::size_t sizes[] = {4, 4};
  cudaMemRangeAttribute attributes[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributeLastPrefetchLocation};
  OK(cudaMemRangeGetAttributes(data, sizes, attributes, 2, p, kBytes));
  EXPECT_EQ(read_mostly, 1);
  EXPECT_EQ(where, 0);
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttributes(nullptr, sizes, attributes, 2, p, kBytes));
  FAILS(cudaErrorInvalidValue, cudaMemAdvise(p, kBytes, static_cast<cudaMemoryAdvise>(77), gpu));
  FAILS(cudaErrorInvalidValue, cudaMemAdvise(p, static_cast<std::size_t>(-4), cudaMemAdviseSetReadMostly, gpu));
  FAILS(cudaErrorInvalidValue, cudaMemPrefetchAsync(p, 2 * kBytes, gpu, 0, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, p, 2 * kBytes));
  OK(cudaStreamAttachMemAsync(nullptr, p, 0, cudaMemAttachHost));
  OK(cudaStreamAttachMemAsync_ptsz(nullptr, p, 0, cudaMemAttachSingle));
  FAILS(cudaErrorInvalidValue, cudaStreamAttachMemAsync(nullptr, p, 0, 77));
  OK(cudaFree(p));
  void* again = nullptr;  // the same address, once it may be used again
  for (int turn = 0; turn < 10'000 && again != p; ++turn) {
    OK(cudaFree(again));
    OK(cudaMallocManaged(&again, kBytes, cudaMemAttachGlobal));
  }
  ASSERT_EQ(again, p);
  OK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, again, kBytes));
  EXPECT_EQ(value, 0);
  OK(cudaFree(again));
  OK(cudaFree(in_front));
}

TEST(Memory, PointerAttributes) {
  test::Words device(4);
  cudaPointerAttributes a{};
  OK(cudaPointerGetAttributes(&a, device + 1));
  EXPECT_EQ(a.type, cudaMemoryTypeDevice);
  EXPECT_EQ(a.device, 0);
  OK(cudaPointerGetAttributes(&a, &a));
  EXPECT_EQ(a.type, cudaMemoryTypeUnregistered);
  FAILS(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, device));
}

TEST(Memory, Symbols) {
  void* address = nullptr;
  std::size_t size = 0;
  OK(cudaGetSymbolAddress(&address, &test::word));
  OK(cudaGetSymbolSize(&size, &test::word));
  EXPECT_EQ(size, 16u);
  unsigned values[4] = {};
  OK(cudaMemcpy(values, address, 16, cudaMemcpyDeviceToHost));
  EXPECT_EQ(values[2], 3u);
  int other = 0;
  FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, &other));
  FAILS(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, &other));
}

TEST(Pools, AllocateAndFree) {
  cudaMemPool_t pool = nullptr, given = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaDeviceGetDefaultMemPool(&given, 0));
  OK(cudaDeviceGetMemPool(&pool, 0));
  EXPECT_EQ(pool, given);
  OK(cudaMemPoolCreate(&pool, &properties));
  OK(cudaDeviceSetMemPool(0, pool));
  OK(cudaDeviceGetMemPool(&given, 0));
  EXPECT_EQ(given, pool);
  FAILS(cudaErrorInvalidValue, cudaDeviceSetMemPool(1, pool));
  FAILS(cudaErrorInvalidValue, cudaDeviceGetMemPool(nullptr, 0));
  FAILS(cudaErrorInvalidValue, cudaDeviceGetDefaultMemPool(&given, 9));
  FAILS(cudaErrorInvalidValue, cudaMemPoolCreate(nullptr, &properties));

  unsigned *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;
  std::uint64_t used = 0;
  OK(cudaMallocAsync(reinterpret_cast<void**>(&a), 64, nullptr));
  OK(cudaMallocAsync_ptsz(reinterpret_cast<void**>(&b), 64, nullptr));
  OK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&c), 64, pool, nullptr));
  OK(cudaMallocFromPoolAsync_ptsz(reinterpret_cast<void**>(&d), 64, pool, nullptr));
  OK(test::launch_fill(a, 6, 16));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 256u);
  unsigned last = 0;
  OK(cudaMemcpy(&last, a + 15, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(last, 6u);
  OK(cudaFreeAsync(a, nullptr));
  OK(cudaFreeAsync_ptsz(b, nullptr));
  OK(cudaFree(c));
  OK(cudaFree(d));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &used));
  EXPECT_EQ(used, 256u);
  int host = 0;
  FAILS(cudaErrorInvalidValue, cudaFreeAsync(&host, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMallocAsync(nullptr, 64, nullptr));
  FAILS(cudaErrorInvalidValue,
        cudaMallocFromPoolAsync(reinterpret_cast<void**>(&c), 64, reinterpret_cast<cudaMemPool_t>(&host), nullptr));

  std::uint64_t threshold = 1 << 20;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_EQ(threshold, 1u << 20);
  FAILS(cudaErrorInvalidValue, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &threshold));
  FAILS(cudaErrorInvalidValue, cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &threshold));
  OK(cudaMemPoolTrimTo(pool, 0));
  cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite},
      wrong{{cudaMemLocationTypeDevice, 9}, cudaMemAccessFlagsProtReadWrite};
  cudaMemLocation peer{cudaMemLocationTypeDevice, 1};
  cudaMemAccessFlags flags{};
  OK(cudaMemPoolSetAccess(pool, &access, 1));
  OK(cudaMemPoolGetAccess(&flags, pool, &peer));
  EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
  FAILS(cudaErrorInvalidDevice, cudaMemPoolSetAccess(pool, &wrong, 1));
  FAILS(cudaErrorInvalidValue, cudaMemPoolGetAccess(nullptr, pool, &peer));
  OK(cudaMemPoolDestroy(pool));
  FAILS(cudaErrorInvalidValue, cudaMemPoolDestroy(pool));
  FAILS(cudaErrorInvalidValue, cudaMemPoolTrimTo(pool, 0));
  OK(cudaDeviceGetMemPool(&given, 0));
  EXPECT_NE(given, pool);
}

}  // namespace warpgrind::runtime
