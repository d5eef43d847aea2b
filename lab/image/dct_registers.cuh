// The last rung of the cosine transform: a thread has a whole block of 8 x 8 pixels in its registers.
#pragma once

#include "image/dct.cuh"
#include "image/words.cuh"

namespace image {

// The fast transform's outputs are the coefficients up to one factor each. That factor is merged into the quantiser's.
// Passed by value, so that a factor is an operand in constant memory.
struct Factors {
  float forward[64], back[64];
};

// Fast transform of Arai, Agui and Nakajima: 30 additions and multiply-adds for 8 values, instead of 64.
__device__ __forceinline__ void cosine_forward(float& v0, float& v1, float& v2, float& v3, float& v4, float& v5,
                                               float& v6, float& v7) {
  constexpr float kRoot = 0.707106781f, kSine = 0.382683433f, kLess = 0.541196100f, kMore = 1.306562965f;
  const float s0 = v0 + v7, d0 = v0 - v7, s1 = v1 + v6, d1 = v1 - v6, s2 = v2 + v5, d2 = v2 - v5, s3 = v3 + v4,
              d3 = v3 - v4;
  const float a = s0 + s3, b = s0 - s3, c = s1 + s2, d = s1 - s2 + b;
  v0 = a + c, v4 = a - c;
  v2 = fmaf(d, kRoot, b), v6 = fmaf(d, -kRoot, b);
  const float e = d3 + d2, f = d2 + d1, g = d1 + d0, h = (e - g) * kSine;
  const float low = fmaf(e, kLess, h), high = fmaf(g, kMore, h);
  const float p = fmaf(f, kRoot, d0), q = fmaf(f, -kRoot, d0);
  v5 = q + low, v3 = q - low, v1 = p + high, v7 = p - high;
}
__device__ __forceinline__ void cosine_back(float& v0, float& v1, float& v2, float& v3, float& v4, float& v5, float& v6,
                                            float& v7) {
  constexpr float kRoot = 1.414213562f, kMore = 1.847759065f, kLess = 1.082392200f, kMost = 2.613125930f;
  const float a = v0 + v4, b = v0 - v4, c = v2 + v6, d = fmaf(v2 - v6, kRoot, -c);
  const float e0 = a + c, e3 = a - c, e1 = b + d, e2 = b - d;
  const float p = v5 + v3, q = v5 - v3, r = v1 + v7, s = v1 - v7;
  const float o0 = r + p, t = (q + s) * kMore, o1 = fmaf(q, -kMost, t) - o0, o2 = fmaf(r - p, kRoot, -o1),
              o3 = fmaf(s, -kLess, t) - o2;
  v0 = e0 + o0, v7 = e0 - o0, v1 = e1 + o1, v6 = e1 - o1, v2 = e2 + o2, v5 = e2 - o2, v3 = e3 + o3, v4 = e3 - o3;
}

// Claim: no shared memory and no barrier: 8 coalesced loads of 8 bytes a thread, 8 stores of 16 bytes and 8 of 8, and
// 15 additions and multiply-adds a pixel for both transforms. Conversions between integers and floats run at an eighth
// of the rate of additions. They are replaced by the bits of a float near 2^23, whose unit is 1. The next block's
// pixels are loaded while this one is transformed.
__global__ void __launch_bounds__(128, 4)
    dct_registers(Rows in, short* coefficients, Rows out, Factors by, int rows, int columns, int padded_columns) {
  constexpr float kRounding = 12582912;  // 1.5 * 2^23: adding it rounds a value into the low 16 bits
  const int across = padded_columns / kBlock, count = (rows + kBlock - 1) / kBlock * across;
  const auto load = [&](unsigned(&words)[kBlock][2], int block) {
    const int x = block % across * kBlock, y = block / across * kBlock;
#pragma unroll
    for (int i = 0; i < kBlock; ++i) {
      const uint2 row = *reinterpret_cast<const uint2*>(in.data + min(y + i, rows - 1) * in.pitch + x);
      words[i][0] = row.x, words[i][1] = row.y;
    }
  };
  unsigned words[kBlock][2];
  int block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block < count) load(words, block);
  for (; block < count; block += gridDim.x * blockDim.x) {
    const int x = block % across * kBlock, y = block / across * kBlock;
    if (x + kBlock > columns)
#pragma unroll
      for (int i = 0; i < kBlock; ++i) repeat_last<2>(words[i], x, columns);
    float v[kBlock][kBlock];
#pragma unroll
    for (int i = 0; i < kBlock; ++i)
#pragma unroll
      for (int j = 0; j < kBlock; ++j)
        v[i][j] = __uint_as_float(__byte_perm(words[i][j / 4], 0x4b000000, 0x7540 + j % 4)) - 8388736;
    if (block + gridDim.x * blockDim.x < count) load(words, block + gridDim.x * blockDim.x);
#pragma unroll
    for (int i = 0; i < kBlock; ++i)
      cosine_forward(v[i][0], v[i][1], v[i][2], v[i][3], v[i][4], v[i][5], v[i][6], v[i][7]);
#pragma unroll
    for (int j = 0; j < kBlock; ++j)
      cosine_forward(v[0][j], v[1][j], v[2][j], v[3][j], v[4][j], v[5][j], v[6][j], v[7][j]);
#pragma unroll
    for (int i = 0; i < kBlock; ++i) {
      unsigned packed[4];
#pragma unroll
      for (int j = 0; j < kBlock; j += 2) {
        const float a = fmaf(v[i][j], by.forward[8 * i + j], kRounding);
        const float b = fmaf(v[i][j + 1], by.forward[8 * i + j + 1], kRounding);
        packed[j / 2] = __byte_perm(__float_as_uint(a), __float_as_uint(b), 0x5410);
        v[i][j] = (a - kRounding) * by.back[8 * i + j], v[i][j + 1] = (b - kRounding) * by.back[8 * i + j + 1];
      }
      *reinterpret_cast<uint4*>(coefficients + (y + i) * padded_columns + x) =
          make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
    v[0][0] += 128;
#pragma unroll
    for (int j = 0; j < kBlock; ++j)
      cosine_back(v[0][j], v[1][j], v[2][j], v[3][j], v[4][j], v[5][j], v[6][j], v[7][j]);
#pragma unroll
    for (int i = 0; i < kBlock; ++i) {
      cosine_back(v[i][0], v[i][1], v[i][2], v[i][3], v[i][4], v[i][5], v[i][6], v[i][7]);
      if (y + i >= rows) continue;
      unsigned pairs[4];
#pragma unroll
      for (int j = 0; j < kBlock; j += 2) {
        const unsigned both =
            __byte_perm(__float_as_uint(v[i][j] + kRounding), __float_as_uint(v[i][j + 1] + kRounding), 0x5410);
        pairs[j / 2] = clamped(both);
      }
      *reinterpret_cast<uint2*>(out.data + (y + i) * out.pitch + x) =
          make_uint2(__byte_perm(pairs[0], pairs[1], 0x6420), __byte_perm(pairs[2], pairs[3], 0x6420));
    }
  }
}

}  // namespace image
