// Copies and fills, and the error codes of an H200 with CUDA 13.0 for wrong ones.
#include <numeric>

#include "api_test.h"

namespace warpgrind::runtime {

namespace {

constexpr auto kUp = cudaMemcpyHostToDevice, kDown = cudaMemcpyDeviceToHost, kOver = cudaMemcpyDeviceToDevice;
constexpr std::size_t kMinus4 = static_cast<std::size_t>(-4);

std::vector<unsigned> numbers(std::size_t n) {
  std::vector<unsigned> v(n);
  std::iota(v.begin(), v.end(), 1u);
  return v;
}

// 8 x 4 words, as an array and as rows of 512 bytes.
struct Images {
  Images() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
    OK(cudaMallocArray(&array, &format, 8, 4, 0));
    OK(cudaMallocPitch(&rows, &pitch, 32, 4));
  }
  ~Images() {
    OK(cudaFreeArray(array));
    OK(cudaFree(rows));
  }
  cudaArray_t array = nullptr;
  void* rows = nullptr;
  std::size_t pitch = 0;
};

}  // namespace

TEST(Copies, Linear) {
  test::Words a(64), b(64);
  std::vector<unsigned> host = numbers(64), back(64);
  OK(cudaMemcpy(a, host.data(), 256, kUp));
  OK(cudaMemcpyAsync(b, a, 256, kOver, nullptr));
  OK(cudaMemcpy_ptds(back.data(), b, 256, kDown));
  EXPECT_EQ(back, host);
  OK(cudaMemset(b, 0, 256));
  OK(cudaMemcpyAsync_ptsz(b, a, 128, cudaMemcpyDefault, nullptr));
  EXPECT_EQ(b.read()[31], 32u);
  EXPECT_EQ(b.read()[32], 0u);
  FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(a, host.data(), 4, static_cast<cudaMemcpyKind>(9)));
  FAILS(cudaErrorInvalidResourceHandle, cudaMemcpyAsync(b, a, 4, kOver, reinterpret_cast<cudaStream_t>(&back)));
}

// NVIDIA leaves copies in the wrong direction undefined. An H200 copies between device memory (a test of NVIDIA Warp).
TEST(Copies, DeviceToHostWithinTheDevice) {
  test::Words a(4), b(4);
  const unsigned host[4] = {1, 2, 3, 4};
  OK(cudaMemcpy(a, host, sizeof host, kUp));
  OK(cudaMemcpyAsync(b, a, sizeof host, kDown, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(b.read()[3], 4u);
}

// The process survives, and the codes are an H200's.
TEST(Copies, WrongSizes) {
  test::Words d(1024);
  unsigned h[16] = {};
  FAILS(cudaErrorInvalidValue, cudaMemcpy(d, h, kMinus4, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(h, d, kMinus4, kDown));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(d, d, kMinus4, kOver));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(h, h, kMinus4, cudaMemcpyHostToHost));
  FAILS(cudaErrorInvalidValue, cudaMemcpyAsync(d, h, kMinus4, kUp, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(d, h, 1 << 20, kDown));  // past the end, and in the wrong direction
  FAILS(cudaErrorInvalidValue, cudaMemcpy(h, d, 16, kUp));         // wrong direction
  FAILS(cudaErrorInvalidValue, cudaMemcpy(d, h, 4097, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(nullptr, h, 4, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpy2D(d, 64, h, 64, 64, kMinus4, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpy2D(d, kMinus4, h, kMinus4, kMinus4, 1, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpy2D(d, std::size_t{1} << 63, h, std::size_t{1} << 63, 4, 3, kUp));
  FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(d, 16, h, 16, 32, 2, kUp));
  cudaMemcpy3DParms p{};
  p.srcPtr = {h, 16, 16, 1};
  p.dstPtr = {d, 16, 16, 1};
  p.extent = {16, 1, 1};
  p.kind = kUp;
  p.dstPos = {0, 0, static_cast<std::size_t>(-1)};
  FAILS(cudaErrorInvalidValue, cudaMemcpy3D(&p));
  p.dstPos = {kMinus4, 0, 0};
  FAILS(cudaErrorInvalidValue, cudaMemcpy3D(&p));
  p.dstPos = {};
  p.extent = {16, 1, static_cast<std::size_t>(-1)};
  FAILS(cudaErrorInvalidValue, cudaMemcpy3D(&p));
  FAILS(cudaErrorInvalidValue, cudaMemset2D(d, 64, 0, 64, kMinus4));
  FAILS(cudaErrorInvalidValue, cudaMemset3D({d, 64, 64, static_cast<std::size_t>(1) << 62}, 0, {64, 2, 9}));
  FAILS(cudaErrorInvalidValue, cudaMemset(d, 0, 4097));
  EXPECT_EQ(d.read(), std::vector<unsigned>(1024, 0));  // nothing was written
}

TEST(Copies, FillsOfNothing) {
  test::Words d(16, 5);
  OK(cudaMemset2D(d, 64, 0, 64, 0));
  OK(cudaMemset2D(d, 64, 0, 0, 1));
  OK(cudaMemset3D({d, 64, 64, 1}, 0, {64, 1, 0}));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(d.read(), std::vector<unsigned>(16, 5));
}

// An H200's driver does not check the size of a fill that wraps: the call succeeds, and the context is broken.
TEST(Copies, NegativeFillBreaksTheContext) {
  void* d = nullptr;
  OK(cudaMalloc(&d, 4096));
  OK(cudaMemset(d, 0, static_cast<std::size_t>(-1)));
  FAILS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  OK(cudaDeviceReset());
}

TEST(Copies, Rectangles) {
  Images images;
  std::vector<unsigned> host = numbers(32), back(32);
  OK(cudaMemcpy2D(images.rows, images.pitch, host.data(), 32, 32, 4, kUp));
  OK(cudaMemcpy2D_ptds(back.data(), 32, images.rows, images.pitch, 32, 4, kDown));
  EXPECT_EQ(back, host);
  std::fill(back.begin(), back.end(), 0u);
  OK(cudaMemcpy2DAsync(back.data(), 32, images.rows, images.pitch, 8, 4, kDown, nullptr));
  OK(cudaMemcpy2DAsync_ptsz(back.data() + 4, 32, images.rows, images.pitch, 4, 4, kDown, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[8], 9u);
  EXPECT_EQ(back[9], 10u);
  EXPECT_EQ(back[10], 0u);
  EXPECT_EQ(back[12], 9u);
  FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2DAsync(images.rows, 16, host.data(), 32, 32, 4, kUp, nullptr));
}

TEST(Copies, Arrays) {
  Images images;
  std::vector<unsigned> host = numbers(32), back(32);
  OK(cudaMemcpy2DToArray(images.array, 0, 0, host.data(), 32, 32, 4, kUp));
  OK(cudaMemcpy2DFromArray(back.data(), 32, images.array, 0, 0, 32, 4, kDown));
  EXPECT_EQ(back, host);
  OK(cudaMemcpy2DToArray_ptds(images.array, 4, 1, host.data(), 32, 4, 1, kUp));
  OK(cudaMemcpy2DFromArray_ptds(back.data(), 32, images.array, 0, 0, 32, 4, kDown));
  EXPECT_EQ(back[9], 1u);
  OK(cudaMemcpy2DToArrayAsync(images.array, 0, 0, host.data() + 1, 32, 4, 1, kUp, nullptr));
  OK(cudaMemcpy2DToArrayAsync_ptsz(images.array, 4, 0, host.data() + 4, 32, 4, 1, kUp, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy2DFromArrayAsync(back.data(), 32, images.array, 0, 0, 4, 1, kDown, nullptr));
  OK(cudaMemcpy2DFromArrayAsync_ptsz(back.data() + 1, 32, images.array, 4, 0, 4, 1, kDown, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[0], 2u);
  EXPECT_EQ(back[1], 5u);
  OK(cudaMemcpy2DArrayToArray(images.array, 0, 3, images.array, 0, 0, 8, 1, kOver));
  OK(cudaMemcpy2DArrayToArray_ptds(images.array, 8, 3, images.array, 0, 0, 8, 1, kOver));
  OK(cudaMemcpyFromArray(back.data(), images.array, 0, 3, 16, kDown));
  EXPECT_EQ(back[0], 2u);
  EXPECT_EQ(back[2], 2u);
  EXPECT_EQ(back[3], 5u);
  FAILS(cudaErrorInvalidValue, cudaMemcpy2DToArray(images.array, 4, 0, host.data(), 32, 32, 1, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpy2DToArray(images.array, kMinus4, 0, host.data(), 32, 8, 1, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpy2DFromArray(back.data(), 32, images.array, 0, 1, 32, 4, kDown));
  FAILS(cudaErrorInvalidValue, cudaMemcpy2DToArrayAsync(images.array, 0, 0, host.data(), 32, 32, 5, kUp, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemcpy2DFromArrayAsync(back.data(), 32, images.array, 0, 0, 32, 5, kDown, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemcpy2DArrayToArray(images.array, 28, 0, images.array, 0, 0, 8, 1, kOver));
}

// Byte counts that go over the ends of rows.
TEST(Copies, BytesOfArrays) {
  Images images;
  std::vector<unsigned> host = numbers(32), back(32);
  OK(cudaMemcpyToArray(images.array, 0, 0, host.data(), 128, kUp));
  OK(cudaMemcpyFromArray(back.data(), images.array, 0, 0, 128, kDown));
  EXPECT_EQ(back, host);
  OK(cudaMemcpyToArray_ptds(images.array, 28, 0, host.data(), 40,
                            kUp));  // the end of a row, one row, the start of another
  OK(cudaMemcpyFromArray_ptds(back.data(), images.array, 28, 0, 40, kDown));
  EXPECT_EQ(std::vector(back.begin(), back.begin() + 10), std::vector(host.begin(), host.begin() + 10));
  OK(cudaMemcpyToArrayAsync(images.array, 0, 3, host.data(), 8, kUp, nullptr));
  OK(cudaMemcpyToArrayAsync_ptsz(images.array, 8, 3, host.data(), 8, kUp, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpyFromArrayAsync(back.data(), images.array, 4, 3, 8, kDown, nullptr));
  OK(cudaMemcpyFromArrayAsync_ptsz(back.data() + 2, images.array, 12, 3, 4, kDown, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[0], 2u);
  EXPECT_EQ(back[1], 1u);
  EXPECT_EQ(back[2], 2u);
  FAILS(cudaErrorInvalidValue, cudaMemcpyToArray(images.array, 4, 0, host.data(), 128, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpyFromArray(back.data(), images.array, 0, 0, kMinus4, kDown));
  FAILS(cudaErrorInvalidValue, cudaMemcpyToArrayAsync(images.array, 0, 9, host.data(), 4, kUp, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemcpyFromArrayAsync(back.data(), images.array, 99, 0, 4, kDown, nullptr));
}

TEST(Copies, Boxes) {
  std::vector<unsigned> host = numbers(24), back(24);
  test::Words d(24);
  cudaMemcpy3DParms up{}, down{};
  up.srcPtr = {host.data(), 8, 8, 3};  // 2 x 3 x 4 words
  up.dstPtr = {d, 8, 8, 3};
  up.extent = {8, 3, 4};
  up.kind = kUp;
  OK(cudaMemcpy3D(&up));
  EXPECT_EQ(d.read(), host);
  down.srcPtr = {d, 8, 8, 3};
  down.dstPtr = {back.data(), 8, 8, 3};
  down.srcPos = {4, 1, 2};
  down.extent = {4, 2, 2};
  down.kind = kDown;
  OK(cudaMemcpy3D_ptds(&down));
  EXPECT_EQ(back[0], 16u);  // (1, 1, 2)
  EXPECT_EQ(back[2], 18u);
  EXPECT_EQ(back[6], 22u);
  EXPECT_EQ(back[1], 0u);
  down.dstPos = {4, 0, 0};
  OK(cudaMemcpy3DAsync(&down, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[1], 16u);
  down.dstPos = {0, 1, 1};
  OK(cudaMemcpy3DAsync_ptsz(&down, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[8], 16u);
  down.extent = {8, 3, 4};
  FAILS(cudaErrorInvalidValue, cudaMemcpy3D(&down));
  FAILS(cudaErrorInvalidValue, cudaMemcpy3DAsync(&down, nullptr));
}

TEST(Copies, Peers) {
  test::Words here(8, 4);
  unsigned* there = nullptr;
  OK(cudaSetDevice(1));
  OK(cudaMalloc(reinterpret_cast<void**>(&there), 32));
  OK(cudaSetDevice(0));
  unsigned back[8] = {};
  OK(cudaMemcpyPeer(there, 1, here, 0, 32));
  OK(cudaMemcpy(back, there, 32, kDown));
  EXPECT_EQ(back[7], 4u);
  OK(test::launch_fill(here, 5, 8));
  OK(cudaMemcpyPeerAsync(there, 1, here, 0, 16, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(back, there, 32, kDown));
  EXPECT_EQ(back[3], 5u);
  EXPECT_EQ(back[4], 4u);
  FAILS(cudaErrorInvalidDevice, cudaMemcpyPeer(there, 2, here, 0, 32));
  FAILS(cudaErrorInvalidValue, cudaMemcpyPeerAsync(there, 1, here, 0, kMinus4, nullptr));
  cudaMemcpy3DPeerParms p{};
  p.srcPtr = {here, 8, 8, 4};
  p.dstPtr = {there, 8, 8, 4};
  p.dstDevice = 1;
  p.extent = {8, 4, 1};
  const auto copied = [&](cudaError_t error) {
    OK(error);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(back, there, 32, kDown));
    EXPECT_EQ(back[7], 5u);
    OK(cudaMemset(there, 0, 32));
  };
  copied(cudaMemcpy3DPeer(&p));
  copied(cudaMemcpy3DPeer_ptds(&p));
  copied(cudaMemcpy3DPeerAsync(&p, nullptr));
  copied(cudaMemcpy3DPeerAsync_ptsz(&p, nullptr));
  p.srcDevice = 7;
  FAILS(cudaErrorInvalidDevice, cudaMemcpy3DPeer(&p));
  FAILS(cudaErrorInvalidDevice, cudaMemcpy3DPeerAsync(&p, nullptr));
  OK(cudaFree(there));
}

TEST(Copies, Symbols) {
  const unsigned values[4] = {11, 12, 13, 14};
  unsigned back[4] = {};
  const void* word = &test::word;
  OK(cudaMemcpyToSymbol(word, values, 16, 0, kUp));
  OK(cudaMemcpyFromSymbol(back, word, 8, 8, kDown));
  EXPECT_EQ(back[1], 14u);
  OK(cudaMemcpyToSymbolAsync(word, values + 2, 4, 0, kUp, nullptr));
  OK(cudaMemcpyToSymbolAsync_ptsz(word, values + 3, 4, 4, kUp, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpyFromSymbolAsync(back, word, 8, 0, kDown, nullptr));
  OK(cudaMemcpyFromSymbolAsync_ptsz(back + 2, word, 4, 4, kDown, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[0], 13u);
  EXPECT_EQ(back[2], 14u);
  OK(cudaMemcpyToSymbol_ptds(word, values, 4, 12, kUp));
  OK(cudaMemcpyFromSymbol_ptds(back, word, 4, 12, kDown));
  EXPECT_EQ(back[0], 11u);
  FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(word, values, 20, 0, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(&test::bank, values, 2048, 0, kUp));
  FAILS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(back, word, 4, kMinus4, kDown));
  FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbolAsync(&back, values, 4, 0, kUp, nullptr));
  FAILS(cudaErrorInvalidSymbol, cudaMemcpyFromSymbolAsync(back, back, 4, 0, kDown, nullptr));

  // Constant memory, read by a kernel.
  test::Words out(1);
  OK(cudaMemcpyToSymbol(&test::bank, values, 16, 0, kUp));
  unsigned* p = out;
  void* parameters[] = {&p};
  OK(cudaLaunchKernel(&test::from_bank, {1, 1, 1}, {1, 1, 1}, parameters, 0, nullptr));
  EXPECT_EQ(out.read()[0], 14u);
}

TEST(Fills, All) {
  test::Words d(64, 7);
  OK(cudaMemset(d, 0x11, 8));
  OK(cudaMemset_ptds(d + 2, 0x22, 4));
  OK(cudaMemsetAsync(d + 3, 0x33, 4, nullptr));
  OK(cudaMemsetAsync_ptsz(d + 4, 0x44, 4, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(d.read()[1], 0x11111111u);
  EXPECT_EQ(d.read()[2], 0x22222222u);
  EXPECT_EQ(d.read()[3], 0x33333333u);
  EXPECT_EQ(d.read()[4], 0x44444444u);
  EXPECT_EQ(d.read()[5], 7u);
  OK(cudaMemset2D(d, 64, 1, 4, 4));
  OK(cudaMemset2D_ptds(d + 1, 64, 2, 4, 4));
  OK(cudaMemset2DAsync(d + 2, 64, 3, 4, 4, nullptr));
  OK(cudaMemset2DAsync_ptsz(d + 3, 64, 4, 4, 4, nullptr));
  OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(d.read()[48 + i], (i + 1) * 0x01010101u);
  EXPECT_EQ(d.read()[52], 7u);
  const cudaPitchedPtr box{d, 16, 16, 4};  // 4 x 4 x 4 words
  OK(cudaMemset3D(box, 5, {4, 2, 4}));
  EXPECT_EQ(d.read()[52], 0x05050505u);
  EXPECT_EQ(d.read()[56], 7u);
  OK(cudaMemset3D_ptds(box, 6, {4, 1, 4}));
  OK(cudaMemset3DAsync(box, 6, {4, 1, 2}, nullptr));
  OK(cudaMemset3DAsync_ptsz(box, 8, {4, 1, 1}, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(d.read()[48], 0x06060606u);
  EXPECT_EQ(d.read()[0], 0x08080808u);
  unsigned host[4];
  FAILS(cudaErrorInvalidValue, cudaMemset(host, 0, 4));
  FAILS(cudaErrorInvalidValue, cudaMemsetAsync(d, 0, 257, nullptr));
  FAILS(cudaErrorInvalidPitchValue, cudaMemset2D(d, 4, 0, 8, 2));
  FAILS(cudaErrorInvalidValue, cudaMemset2DAsync(d, 64, 0, 64, 5, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemset3DAsync(box, 0, {16, 4, 5}, nullptr));
}

// Errors of batches are an H200's (CUDA 13.0, driver 580).
TEST(Copies, InBatches) {
  test::Words a(64), b(64);
  std::vector<unsigned> host = numbers(64);
  void* to[] = {a, b, static_cast<unsigned*>(a) + 32};
  const void* from[] = {&host[0], &host[1], &host[2]};
  std::size_t sizes[] = {8, 8, 8}, firsts[] = {0, 2};
  cudaMemcpyAttributes attributes[2]{};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(a.read()[1], 2u);
  EXPECT_EQ(b.read()[1], 3u);
  EXPECT_EQ(a.read()[33], 4u);
  OK(cudaMemcpyBatchAsync_ptsz(to, from, sizes, 3, attributes, firsts, 1, nullptr));
  OK(cudaDeviceSynchronize());
  FAILS(cudaErrorInvalidValue, cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 0, stream));
  FAILS(cudaErrorInvalidValue, cudaMemcpyBatchAsync(to, from, sizes, 1, attributes, firsts, 2, stream));
  firsts[1] = 0;
  FAILS(cudaErrorInvalidValue, cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 2, stream));
  const cudaMemcpyAttributes good = attributes[0];
  const auto gives = [&] { return cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, firsts, 1, stream); };
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  FAILS(cudaErrorInvalidValue, gives());
  attributes[0] = good;
  attributes[0].flags = cudaMemcpyFlagPreferOverlapWithCompute;
  OK(gives());
  attributes[0].flags = 2;
  FAILS(cudaErrorInvalidValue, gives());
  attributes[0] = good;
  attributes[0].srcLocHint = {cudaMemLocationTypeHostNumaCurrent, 5};
  OK(gives());
  attributes[0].srcLocHint = {cudaMemLocationTypeDevice, 5};
  FAILS(cudaErrorInvalidValue, gives());
  attributes[0] = good;
  sizes[1] = 0;
  FAILS(cudaErrorInvalidValue, gives());
  sizes[1] = 8;
  // The copies before a wrong one are made.
  OK(cudaDeviceSynchronize());
  OK(cudaMemset(a, 0, 256));
  OK(cudaMemset(b, 0, 256));
  to[1] = nullptr;
  FAILS(cudaErrorInvalidValue, gives());
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(a.read()[1], 2u);
  EXPECT_EQ(a.read()[33], 0u);
  to[1] = b;
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  FAILS(cudaErrorStreamCaptureUnsupported, gives());
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
}

// Extents are in elements if an array is involved.
TEST(Copies, BoxesInBatches) {
  Images images;
  test::Words b(64);
  std::vector<unsigned> host = numbers(64);
  cudaMemcpy3DBatchOp operations[2]{};
  operations[0].src.type = cudaMemcpyOperandTypePointer;
  operations[0].src.op.ptr = {host.data(), 8, 0, {}};
  operations[0].dst.type = cudaMemcpyOperandTypeArray;
  operations[0].dst.op.array = {images.array, {2, 1, 0}};
  operations[0].extent = {4, 2, 1};
  operations[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  operations[1] = operations[0];
  operations[1].src = operations[0].dst;
  operations[1].dst.type = cudaMemcpyOperandTypePointer;
  operations[1].dst.op.ptr = {b, 0, 0, {}};
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemcpy3DBatchAsync(2, operations, 0, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(b.read()[3], 4u);
  EXPECT_EQ(b.read()[4], 9u);
  OK(cudaMemcpy3DBatchAsync_ptsz(2, operations, 0, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, operations, 1, stream));
  FAILS(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, operations, 0, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, nullptr, 0, stream));
  operations[1].dst.op.ptr.rowLength = 3;
  FAILS(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, operations, 0, stream));
  operations[1].dst.op.ptr.rowLength = 0;
  operations[1].extent.depth = 0;
  FAILS(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(2, operations, 0, stream));
  OK(cudaStreamDestroy(stream));
}

TEST(Copies, PrefetchesInBatches) {
  unsigned *m = nullptr, *device = nullptr;
  OK(cudaMallocManaged(reinterpret_cast<void**>(&m), 8192, cudaMemAttachGlobal));
  OK(cudaMalloc(reinterpret_cast<void**>(&device), 64));
  void* pointers[] = {m, m + 1024};
  std::size_t sizes[] = {4096, 4096}, firsts[] = {0, 1};
  cudaMemLocation locations[] = {{cudaMemLocationTypeDevice, 0}, {cudaMemLocationTypeHost, 0}};
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 2, 0, stream));
  OK(cudaMemDiscardBatchAsync(pointers, sizes, 2, 0, stream));
  OK(cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 1, 0, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemPrefetchBatchAsync_ptsz(pointers, sizes, 2, locations, firsts, 2, 0, nullptr));
  OK(cudaMemDiscardBatchAsync_ptsz(pointers, sizes, 2, 0, nullptr));
  OK(cudaMemDiscardAndPrefetchBatchAsync_ptsz(pointers, sizes, 2, locations, firsts, 1, 0, nullptr));
  OK(cudaDeviceSynchronize());
  FAILS(cudaErrorInvalidValue,
        cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 1, 0, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 2, 1, stream));
  FAILS(cudaErrorInvalidValue, cudaMemPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 0, 0, stream));
  FAILS(cudaErrorInvalidValue, cudaMemPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 2, 0, nullptr));
  FAILS(cudaErrorInvalidValue, cudaMemDiscardBatchAsync(pointers, sizes, 2, 1, stream));
  // Indexes may repeat, and a location must be one.
  firsts[1] = 0;
  OK(cudaMemPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 2, 0, stream));
  firsts[1] = 1;
  locations[1] = {cudaMemLocationTypeInvalid, 0};
  FAILS(cudaErrorInvalidValue, cudaMemPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 2, 0, stream));
  locations[1] = {cudaMemLocationTypeDevice, 9};
  FAILS(cudaErrorInvalidValue, cudaMemPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 2, 0, stream));
  locations[1] = {cudaMemLocationTypeHost, 0};
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  FAILS(cudaErrorStreamCaptureUnsupported, cudaMemDiscardBatchAsync(pointers, sizes, 2, 0, stream));
  FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  pointers[1] = device;
  FAILS(cudaErrorInvalidValue, cudaMemDiscardBatchAsync(pointers, sizes, 2, 0, stream));
  FAILS(cudaErrorInvalidValue, cudaMemPrefetchBatchAsync(pointers, sizes, 2, locations, firsts, 2, 0, stream));
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(device));
  OK(cudaFree(m));
}

}  // namespace warpgrind::runtime
