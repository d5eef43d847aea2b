// What NVIDIA's hardware does in units of their own: matrices, textures, video instructions, halves. units.cc holds the
// same arithmetic in plain C++.
//
//   units KERNEL SIZE REPETITIONS     SIZE: threads, a multiple of 256
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "device.h"
#include "measure.h"
#include "units.h"

using bench::device_copy;
using bench::expect;
using bench::fetch;
using bench::Work;
using namespace bench;  // the constants

constexpr int kBlock = 256, kWarp = 32;

// B lies column by column, as ldmatrix hands it to mma. Rows are 8 halves longer: no bank conflicts.
constexpr int kPitch = kDepth + 8;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void mma(const __half* a, const __half* b, float* out) {
  __shared__ alignas(16) __half as[kMmaPairs][kRows][kPitch], bs[kMmaPairs][kColumns][kPitch];
  for (int i = threadIdx.x; i < kMmaPairs * kRows * kDepth; i += kBlock)
    as[i / (kRows * kDepth)][i / kDepth % kRows][i % kDepth] = a[i];
  for (int i = threadIdx.x; i < kMmaPairs * kColumns * kDepth; i += kBlock)
    bs[i / (kColumns * kDepth)][i / kDepth % kColumns][i % kDepth] = b[i];
  __syncthreads();
  const int lane = threadIdx.x % kWarp;
  float d[4] = {};
  for (int t = 0; t < kMmaTurns; t++) {
    const int pair = t % kMmaPairs;
    unsigned fa[4], fb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(shared_address(&as[pair][lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"(shared_address(&bs[pair][lane % 8][lane / 8 % 2 * 8])));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  }
  const int warp = (blockIdx.x * kBlock + threadIdx.x) / kWarp;
  float* mine = out + size_t(warp) * kRows * kColumns;
  for (int i = 0; i < 4; i++) mine[(lane / 4 + i / 2 * 8) * kColumns + lane % 4 * 2 + i % 2] = d[i];
}

__global__ void halves(__half2* values, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const __half2 factor = __float2half2_rn(kHalfFactor), term = __float2half2_rn(kHalfTerm);
  __half2 x = values[i];
  for (int t = 0; t < kHalfTurns; t++) x = __hfma2(x, factor, term);
  values[i] = x;
}

__global__ void video(unsigned* sums, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  unsigned x = next_bytes(i), y = next_bytes(x), sum = 0;
  for (int t = 0; t < kByteTurns; t++) {
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(y));
    x = next_bytes(x);
    y = next_bytes(y);
  }
  sums[i] = sum;
}

__global__ void texture(cudaTextureObject_t from, float* out, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const float y = float(i / kTextureWidth % kTextureWidth) + 0.75f;
  float x = float(i % kTextureWidth) + 0.625f, sum = 0;
  for (int t = 0; t < kTexels; t++, x += kTextureStep) sum += tex2D<float>(from, x, y);
  out[i] = sum;
}

__global__ void volume(cudaTextureObject_t from, float* out, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const float y = float(i / kVolumeWidth % kVolumeWidth) + 0.75f;
  const float z = float(i / (kVolumeWidth * kVolumeWidth) % kVolumeWidth) + 0.75f;
  float x = float(i % kVolumeWidth) + 0.625f, sum = 0;
  for (int t = 0; t < kTexels; t++, x += kTextureStep) sum += tex3D<float>(from, x, y, z);
  out[i] = sum;
}

__global__ void colours(cudaTextureObject_t from, float* out, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const float v = (float(i / kTextureWidth % kTextureWidth) + 0.75f) / kTextureWidth;
  float x = float(i % kTextureWidth) + 0.625f, sum = 0;
  for (int t = 0; t < kTexels; t++, x += kTextureStep) {
    const float4 c = tex2D<float4>(from, x / kTextureWidth, v);
    sum += c.x + c.y + c.z + c.w;
  }
  out[i] = sum;
}

static Work mma_work(int n) {
  std::vector<__half> a, b;
  std::vector<float> want(kRows * kColumns);
  for (int p = 0; p < kMmaPairs; p++) {
    for (int i = 0; i < kRows * kDepth; i++) a.push_back(__float2half(float(mma_a(p, i / kDepth, i % kDepth))));
    for (int i = 0; i < kColumns * kDepth; i++) b.push_back(__float2half(float(mma_b(p, i % kDepth, i / kDepth))));
    for (int i = 0; i < kRows * kColumns; i++)
      for (int k = 0; k < kDepth; k++)
        want[i] += float(mma_a(p, i / kColumns, k) * mma_b(p, k, i % kColumns) * (kMmaTurns / kMmaPairs));
  }
  const int warps = n / kWarp;
  __half *da = device_copy(a), *db = device_copy(b);
  float* dout = device_copy(std::vector<float>(size_t(warps) * want.size(), -1));
  return {double(warps) * kMmaTurns * kRows * kColumns * kDepth, [=] { mma<<<n / kBlock, kBlock>>>(da, db, dout); },
          [=] {
            auto out = fetch(dout, size_t(warps) * want.size());
            for (size_t i = 0; i < out.size(); i++) expect(out[i], want[i % want.size()]);
          }};
}

static Work halves_work(int n) {
  std::vector<__half2> values;
  for (int i = 0; i < n; i++) values.push_back(__floats2half2_rn(half_start(2 * i), half_start(2 * i + 1)));
  __half2* device = device_copy(values);
  return {2.0 * n * kHalfTurns, [=] { halves<<<n / kBlock, kBlock>>>(device, n); },
          [=] {
            for (const __half2 v : fetch(device, n)) {  // the fixed point
              expect(__low2float(v), kHalfTerm / (1 - kHalfFactor));
              expect(__high2float(v), kHalfTerm / (1 - kHalfFactor));
            }
          }};
}

static Work video_work(int n) {
  unsigned* device = device_copy(std::vector<unsigned>(n));
  return {4.0 * n * kByteTurns, [=] { video<<<n / kBlock, kBlock>>>(device, n); },
          [=] {
            auto sums = fetch(device, n);
            for (int i = 0; i < n; i += 97) {
              unsigned x = next_bytes(i), y = next_bytes(x), want = 0;
              for (int t = 0; t < kByteTurns; t++, x = next_bytes(x), y = next_bytes(y))
                for (int b = 0; b < 32; b += 8) want += std::abs(int(x >> b & 255) - int(y >> b & 255));
              expect(sums[i], want);
            }
          }};
}

// Of an array of such texels, with linear filtering.
template <class T>
static cudaTextureObject_t texture_of(std::vector<T> image, cudaExtent size, cudaTextureDesc description) {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  CHECK(cudaMalloc3DArray(&array, &format, size));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(image.data(), size.width * sizeof(T), size.width, size.height);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(size.width, size.height, std::max<size_t>(size.depth, 1));
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &description, nullptr));
  return object;
}

static cudaTextureDesc clamped() {
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
  return description;
}

// What each thread of texture() and colours() adds up, of the texels that `at` gives.
template <class At>
static void expect_filtered(const std::vector<float>& out, At at) {
  for (size_t i = 0; i < out.size(); i += 97) {
    const int first = int(i) % kTextureWidth, py = int(i) / kTextureWidth % kTextureWidth;
    float want = 0;
    for (int t = 0; t < kTexels; t++) {
      const float x = float(first) + 0.125f + t * kTextureStep, fx = x - std::floor(x);
      const int px = int(x);
      want += 0.75f * ((1 - fx) * at(px, py) + fx * at(px + 1, py)) +
              0.25f * ((1 - fx) * at(px, py + 1) + fx * at(px + 1, py + 1));
    }
    expect(out[i], want);
  }
}

static Work texture_work(int n) {
  std::vector<float> image;
  for (int i = 0; i < kTextureWidth * kTextureWidth; i++) image.push_back(texel(i % kTextureWidth, i / kTextureWidth));
  const cudaTextureObject_t object = texture_of(image, make_cudaExtent(kTextureWidth, kTextureWidth, 0), clamped());
  float* dout = device_copy(std::vector<float>(n));
  return {double(n) * kTexels, [=] { texture<<<n / kBlock, kBlock>>>(object, dout, n); },
          [=] {
            auto out = fetch(dout, n);
            const auto at = [](int x, int y) {
              return texel(std::min(x, kTextureWidth - 1), std::min(y, kTextureWidth - 1));
            };
            expect_filtered(out, at);
          }};
}

static Work volume_work(int n) {
  constexpr int kWidth = kVolumeWidth;
  std::vector<float> image;
  for (int i = 0; i < kWidth * kWidth * kWidth; i++)
    image.push_back(voxel(i % kWidth, i / kWidth % kWidth, i / (kWidth * kWidth)));
  const cudaTextureObject_t object = texture_of(image, make_cudaExtent(kWidth, kWidth, kWidth), clamped());
  float* dout = device_copy(std::vector<float>(n));
  return {double(n) * kTexels, [=] { volume<<<n / kBlock, kBlock>>>(object, dout, n); },
          [=] {
            auto out = fetch(dout, n);
            const auto at = [](int x, int y, int z) {
              return voxel(std::min(x, kWidth - 1), std::min(y, kWidth - 1), std::min(z, kWidth - 1));
            };
            for (int i = 0; i < n; i += 97) {
              const int py = i / kWidth % kWidth, pz = i / (kWidth * kWidth) % kWidth;
              float want = 0;
              for (int t = 0; t < kTexels; t++) {
                const float x = float(i % kWidth) + 0.125f + t * kTextureStep, fx = x - std::floor(x);
                for (int c = 0; c < 4; c++)
                  want += (c & 1 ? 0.25f : 0.75f) * (c & 2 ? 0.25f : 0.75f) *
                          ((1 - fx) * at(int(x), py + (c & 1), pz + (c >> 1)) +
                           fx * at(int(x) + 1, py + (c & 1), pz + (c >> 1)));
              }
              expect(out[i] / kTexels, want / kTexels);
            }
          }};
}

static Work colours_work(int n) {
  std::vector<uchar4> image;
  for (int i = 0; i < kTextureWidth * kTextureWidth; i++) {
    const auto byte = [=](int c) { return texel_byte(i % kTextureWidth, i / kTextureWidth, c); };
    image.push_back(make_uchar4(byte(0), byte(1), byte(2), byte(3)));
  }
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = cudaAddressModeWrap;
  description.normalizedCoords = 1;
  description.readMode = cudaReadModeNormalizedFloat;
  const cudaTextureObject_t object = texture_of(image, make_cudaExtent(kTextureWidth, kTextureWidth, 0), description);
  float* dout = device_copy(std::vector<float>(n));
  return {double(n) * kTexels, [=] { colours<<<n / kBlock, kBlock>>>(object, dout, n); },
          [=] {
            auto out = fetch(dout, n);
            const auto at = [](int x, int y) {
              float sum = 0;
              for (int c = 0; c < 4; c++) sum += texel_byte(x % kTextureWidth, y % kTextureWidth, c) / 255.0f;
              return sum;
            };
            expect_filtered(out, at);
          }};
}

int main(int argc, char** argv) {
  return measure_launches(argc, argv,
                          {{"mma", mma_work},
                           {"halves", halves_work},
                           {"video", video_work},
                           {"texture", texture_work},
                           {"volume", volume_work},
                           {"colours", colours_work}});
}
