// The arithmetic of units.cu in plain C++ with OpenMP, laid out as suits a CPU.
//
//   units KERNEL SIZE REPETITIONS      threads: OMP_NUM_THREADS
#include "units.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "measure.h"

using namespace bench;

constexpr int kWarp = 32, kWide = 16;  // numbers worked on together
using Wide = float __attribute__((vector_size(kWide * sizeof(float))));

// gcc 12 converts halves one by one: the CPU's own instructions where it has them.
#if defined(__AVX512F__)
static Wide to_floats(const _Float16* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
static Wide rounded_to_halves(Wide x) {
  return _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__F16C__)
static Wide joined(__m256 low, __m256 high) {
  Wide both;
  std::memcpy(&both, &low, sizeof low);
  std::memcpy(reinterpret_cast<char*>(&both) + sizeof low, &high, sizeof high);
  return both;
}
static Wide to_floats(const _Float16* from) {
  const __m128i* const halves = reinterpret_cast<const __m128i*>(from);
  return joined(_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1)));
}
static Wide rounded_to_halves(Wide x) {
  __m256 part[2];
  std::memcpy(part, &x, sizeof x);
  for (__m256& p : part) p = _mm256_cvtph_ps(_mm256_cvtps_ph(p, _MM_FROUND_TO_NEAREST_INT));
  return joined(part[0], part[1]);
}
#else
static Wide to_floats(const _Float16* from) {
  Wide to;
  for (int i = 0; i < kWide; i++) to[i] = from[i];
  return to;
}
static Wide rounded_to_halves(Wide x) {
  for (int i = 0; i < kWide; i++) x[i] = static_cast<_Float16>(x[i]);
  return x;
}
#endif

static Work mma(int n) {
  std::vector<_Float16> a, b;
  for (int p = 0; p < kMmaPairs; p++) {
    for (int i = 0; i < kRows * kDepth; i++) a.push_back(static_cast<_Float16>(mma_a(p, i / kDepth, i % kDepth)));
    for (int i = 0; i < kDepth * kColumns; i++)
      b.push_back(static_cast<_Float16>(mma_b(p, i / kColumns, i % kColumns)));
  }
  const int warps = n / kWarp;
  std::vector<float> out(size_t(warps) * kRows * kColumns);
  const auto launch = [=]() mutable {
#pragma omp parallel for
    for (int w = 0; w < warps; w++) {
      float d[kRows][kColumns] = {};
      for (int t = 0; t < kMmaTurns; t++) {
        float fa[kRows * kDepth], fb[kDepth * kColumns];
        const _Float16 *ha = &a[t % kMmaPairs * kRows * kDepth], *hb = &b[t % kMmaPairs * kDepth * kColumns];
        const auto widen = [](const _Float16* halves, int count, float* floats) {
          for (int i = 0; i < count; i += kWide) {
            const Wide some = to_floats(halves + i);
            std::memcpy(floats + i, &some, sizeof some);
          }
        };
        widen(ha, kRows * kDepth, fa);
        widen(hb, kDepth * kColumns, fb);
        for (int i = 0; i < kRows; i++)
          for (int k = 0; k < kDepth; k++)
            for (int j = 0; j < kColumns; j++) d[i][j] += fa[i * kDepth + k] * fb[k * kColumns + j];
      }
      std::copy(d[0], d[0] + kRows * kColumns, &out[size_t(w) * kRows * kColumns]);
    }
  };
  return {double(warps) * kMmaTurns * kRows * kColumns * kDepth, launch};
}

static Work halves(int n) {
  const int numbers = 2 * n;
  std::vector<float> values(numbers);
  for (int i = 0; i < numbers; i++) values[i] = half_start(i);
  const auto launch = [=]() mutable {
    constexpr int kTogether = 4;  // hide the latency
#pragma omp parallel for
    for (int i = 0; i < numbers; i += kTogether * kWide) {
      Wide x[kTogether];
      std::memcpy(x, &values[i], sizeof x);
      for (int t = 0; t < kHalfTurns; t++)
        for (Wide& some : x) some = rounded_to_halves(some * kHalfFactor + kHalfTerm);
      std::memcpy(&values[i], x, sizeof x);
    }
  };
  return {double(numbers) * kHalfTurns, launch};
}

static Work video(int n) {
  std::vector<uint32_t> sums(n);
  const auto launch = [=]() mutable {
#pragma omp parallel for
    for (int i = 0; i < n; i += kWide) {
      uint32_t x[kWide], y[kWide], sum[kWide] = {};
      for (int j = 0; j < kWide; j++) y[j] = next_bytes(x[j] = next_bytes(i + j));
      for (int t = 0; t < kByteTurns; t++)
        for (int j = 0; j < kWide; j++) {
          for (int b = 0; b < 32; b += 8) sum[j] += std::abs(int(x[j] >> b & 255) - int(y[j] >> b & 255));
          x[j] = next_bytes(x[j]);
          y[j] = next_bytes(y[j]);
        }
      std::copy(sum, sum + kWide, &sums[i]);
    }
  };
  return {4.0 * n * kByteTurns, launch};
}

static Work texture(int n) {
  std::vector<float> image, out(n);
  for (int i = 0; i < kTextureWidth * kTextureWidth; i++) image.push_back(texel(i % kTextureWidth, i / kTextureWidth));
  const auto launch = [=]() mutable {
    constexpr int kLast = kTextureWidth - 1;
    const float* const from = image.data();
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      const float y = float(i / kTextureWidth % kTextureWidth) + 0.25f;
      float x = float(i % kTextureWidth) + 0.125f, sum = 0;
      for (int t = 0; t < kTexels; t++, x += kTextureStep) {
        // Weights of 8 bits, as the hardware's.
        const int px = int(x), py = int(y);
        const float fx = std::floor((x - px) * 256) / 256, fy = std::floor((y - py) * 256) / 256;
        const int x0 = std::min(px, kLast), x1 = std::min(px + 1, kLast);
        const float *row = from + std::min(py, kLast) * kTextureWidth,
                    *next = from + std::min(py + 1, kLast) * kTextureWidth;
        sum += (1 - fy) * ((1 - fx) * row[x0] + fx * row[x1]) + fy * ((1 - fx) * next[x0] + fx * next[x1]);
      }
      out[i] = sum;
    }
  };
  return {double(n) * kTexels, launch};
}

static Work volume(int n) {
  constexpr int kWidth = kVolumeWidth, kLast = kWidth - 1;
  std::vector<float> image, out(n);
  for (int i = 0; i < kWidth * kWidth * kWidth; i++)
    image.push_back(voxel(i % kWidth, i / kWidth % kWidth, i / (kWidth * kWidth)));
  const auto launch = [=]() mutable {
    const float* const from = image.data();
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      const float y = float(i / kWidth % kWidth) + 0.25f, z = float(i / (kWidth * kWidth) % kWidth) + 0.25f;
      float x = float(i % kWidth) + 0.125f, sum = 0;
      for (int t = 0; t < kTexels; t++, x += kTextureStep) {
        const int px = int(x), py = int(y), pz = int(z);
        const auto weight = [](float p, int whole) { return std::floor((p - whole) * 256) / 256; };
        const float fx = weight(x, px), fy = weight(y, py), fz = weight(z, pz);
        const int x0 = std::min(px, kLast), x1 = std::min(px + 1, kLast);
        const auto plane = [&](int slice) {
          const float *row = from + (slice * kWidth + std::min(py, kLast)) * kWidth,
                      *next = from + (slice * kWidth + std::min(py + 1, kLast)) * kWidth;
          return (1 - fy) * ((1 - fx) * row[x0] + fx * row[x1]) + fy * ((1 - fx) * next[x0] + fx * next[x1]);
        };
        sum += (1 - fz) * plane(std::min(pz, kLast)) + fz * plane(std::min(pz + 1, kLast));
      }
      out[i] = sum;
    }
  };
  return {double(n) * kTexels, launch};
}

static Work colours(int n) {
  std::vector<uint8_t> image;
  std::vector<float> out(n);
  for (int i = 0; i < 4 * kTextureWidth * kTextureWidth; i++)
    image.push_back(texel_byte(i / 4 % kTextureWidth, i / 4 / kTextureWidth, i % 4));
  const auto launch = [=]() mutable {
    constexpr int kMask = kTextureWidth - 1;
    const uint8_t* const from = image.data();
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      const float v = (float(i / kTextureWidth % kTextureWidth) + 0.75f) / kTextureWidth;
      float x = float(i % kTextureWidth) + 0.625f, sum = 0;
      for (int t = 0; t < kTexels; t++, x += kTextureStep) {
        const float u = x / kTextureWidth;
        const float tx = u * kTextureWidth - 0.5f, ty = v * kTextureWidth - 0.5f;
        const int px = int(std::floor(tx)), py = int(std::floor(ty));
        const float fx = std::floor((tx - px) * 256) / 256, fy = std::floor((ty - py) * 256) / 256;
        const auto at = [&](int a, int b) { return from + ((b & kMask) * kTextureWidth + (a & kMask)) * 4; };
        const uint8_t *a = at(px, py), *b = at(px + 1, py), *c = at(px, py + 1), *d = at(px + 1, py + 1);
        for (int k = 0; k < 4; k++)
          sum += ((1 - fy) * ((1 - fx) * a[k] + fx * b[k]) + fy * ((1 - fx) * c[k] + fx * d[k])) / 255;
      }
      out[i] = sum;
    }
  };
  return {double(n) * kTexels, launch};
}

int main(int argc, char** argv) {
  return measure(argc, argv,
                 {{"mma", mma},
                  {"halves", halves},
                  {"video", video},
                  {"texture", texture},
                  {"volume", volume},
                  {"colours", colours}});
}
