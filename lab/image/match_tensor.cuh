// Matching by tensor cores, which compute the products. Sums and squares come from rows entering and leaving windows.
#pragma once

#include <type_traits>

#include "image/matching.cuh"
#include "image/words.cuh"

namespace image {

// A lane has the places of 4 columns. A window also reads 16 columns to the right of them.
constexpr int kMatchStrip = 112, kMatchPer = 4;

// d = a * b + c: 16 x 32 bytes times 32 x 8, with 32-bit sums.
__device__ __forceinline__ void multiply_bytes(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                                               const int (&c)[4]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// Rows of bytes padded with zeros. b's element (k, n) is the byte at k - n' of a row, n' = 0, 1, 4, 5, 8, 9, 12, 13. A
// lane has those of n = lane / 4 and k = 4 (lane % 4) to 4 (lane % 4) + 3, and the same k + 16.
struct Band {
  unsigned rows[kPiece + 1][12];  // 16 zeros, the row, 16 zeros
  __device__ __forceinline__ void spread(unsigned (&b)[2], int row) const {
    const int n = threadIdx.x / 4 % 8, word = 4 + threadIdx.x % 4 - n / 2;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      b[half] = __funnelshift_l(rows[row][word + 4 * half - 1], rows[row][word + 4 * half], n % 2 * 8);
  }
};

// The pixels of one row below a warp, as the 16 x 32 bytes of a product. Row g holds the 32 pixels from column 16 g,
// row g + 8 those from 16 g + 2. So lane l gets the sums of the places 4 l to 4 l + 3.
struct MatchRow {
  unsigned words[4] = {};  // at the lane's column, and 4, 16, 20 later
  __device__ __forceinline__ void load(const unsigned char* from, bool there) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (there) words[i] = *reinterpret_cast<const unsigned*>(from + i % 2 * 4 + i / 2 * 16);
  }
  __device__ __forceinline__ void spread(unsigned (&a)[4]) const {
    a[0] = words[0], a[1] = __funnelshift_r(words[0], words[1], 16);
    a[2] = words[2], a[3] = __funnelshift_r(words[2], words[3], 16);
  }
};
static_assert(kSpareBytes >= 132);  // bytes that the last lane reads beyond the last place of its strip

// n * sum(ab) - sum(a) * sum(b) of 256 bytes is less than 2^31 (Cauchy-Schwarz), even if its terms are not.
__device__ __forceinline__ float quick_score(const Piece& piece, unsigned sum, unsigned squares, unsigned products) {
  const unsigned n = piece.rows * piece.columns;
  const int variance = static_cast<int>(n * squares - sum * sum);
  const int covariance = static_cast<int>(n * products - sum * piece.sum);
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(static_cast<float>(max(variance, 1))));
  return static_cast<float>(covariance) * piece.scale * root;
}

// Claim: a product of the tensor cores is 112 places times 16 of the 256 pixels (128 with the halo, and as many zeros).
// A row of pixels is multiplied with each row of the piece, for 16 rows of places at once. Their sums move on by one
// register. One more product adds up all rows so far, and another those above the window; a window's sum is the
// difference. Squares are added up by columns, 4 a lane. So a place costs a sixth of a warp's product, 1.4 other
// instructions, and 5 bytes of memory. Rows requested kAhead before their use: 36, 35, 33, 37 us for 1 to 4 on an H100
// (2160 x 3840); more than 3 do not fit in registers.
template <int kWarps, int kAhead>
__global__ void __launch_bounds__(32 * kWarps, 12 / kWarps)
    match_tensor(Rows in, float* out, int out_pitch, Piece piece, int rows, int columns, int chunk) {
  __shared__ Band band;
  for (int i = threadIdx.x; i < (kPiece + 1) * 48; i += 32 * kWarps) {  // a piece of fewer rows fills the lower part
    const int row = i / 48 - (kPiece - piece.rows), along = i % 48 - 16;
    const bool there = along >= 0 && along < piece.columns && row >= 0;
    reinterpret_cast<unsigned char*>(band.rows)[i] = i / 48 == kPiece ? along >= 0 && along < kPiece
                                                     : there          ? piece_pixels[row * piece.columns + along]
                                                                      : 0;
  }
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wide = columns - piece.columns + 1;
  const int high = rows - piece.rows + 1, strips = (wide + kMatchStrip - 1) / kMatchStrip;
  const int index = blockIdx.x * kWarps + warp, first = index / strips * chunk, last = min(first + chunk, high);
  if (first >= high) return;  // the whole warp ends
  const int left = index % strips * kMatchStrip, x = left + lane * kMatchPer;
  unsigned weights[kPiece][2], ones[2];
#pragma unroll
  for (int y = 0; y < kPiece; ++y) band.spread(weights[y], y);
  band.spread(ones, kPiece);

  int products[kPiece][4] = {}, gained[4] = {}, lost[4] = {};  // of a window; of all rows so far; of those above it
  unsigned squares[4] = {};                                    // of the window's rows, by column
  const int end = last + piece.rows - 1;
  const unsigned char* const from = in.data + x;
  MatchRow entering[kAhead], leaving[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) entering[i].load(from + min(first + i, rows - 1) * in.pitch, true);
  // Adds row y. Not kComplete: no window ends with it.
  const auto step = [&](auto complete, int i, int y) {
    constexpr bool kComplete = decltype(complete)::value;
    unsigned a[4], old[4];
    entering[i].spread(a);
    leaving[i].spread(old);
    entering[i].load(from + min(y + kAhead, rows - 1) * in.pitch, true);
    leaving[i].load(from + min(y + kAhead - piece.rows, rows - 1) * in.pitch, y + kAhead - piece.rows >= first);
    multiply_bytes(gained, a, ones, gained);
    if constexpr (kComplete) multiply_bytes(lost, old, ones, lost);
#pragma unroll
    for (int t = 0; t < kPiece - 1; ++t) multiply_bytes(products[t], a, weights[kPiece - 1 - t], products[t + 1]);
    multiply_bytes(products[kPiece - 1], a, weights[0], {});
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned enters = a[0] >> 8 * j & 0xff, leaves = old[0] >> 8 * j & 0xff;
      squares[j] += enters * enters;
      if constexpr (kComplete) squares[j] -= leaves * leaves;
    }
    if (!kComplete) return;
    // Sums over 16 columns from the lane's first, second, third and fourth column on.
    const unsigned one = squares[0], two = one + squares[1], three = two + squares[2], four = three + squares[3];
    unsigned all = four + __shfl_down_sync(~0u, four, 1);
    all += __shfl_down_sync(~0u, all, 2);
    const unsigned windows[4] = {all, all - one + __shfl_down_sync(~0u, one, 4),
                                 all - two + __shfl_down_sync(~0u, two, 4),
                                 all - three + __shfl_down_sync(~0u, three, 4)};
    float scores[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      scores[j] = quick_score(piece, static_cast<unsigned>(gained[j] - lost[j]), windows[j],
                              static_cast<unsigned>(products[0][j]));
    const int r = y - piece.rows + 1;
    if (r >= first && y < end && lane * kMatchPer < kMatchStrip && x < wide)
      *reinterpret_cast<float4*>(out + static_cast<long>(r) * out_pitch + x) =
          make_float4(scores[0], scores[1], scores[2], scores[3]);
  };
  int y = first;
#pragma unroll 1
  for (; y + kAhead < first + piece.rows; y += kAhead)
#pragma unroll
    for (int i = 0; i < kAhead; ++i) step(std::false_type(), i, y + i);
#pragma unroll 1
  for (; y < end; y += kAhead)
#pragma unroll
    for (int i = 0; i < kAhead; ++i) step(std::true_type(), i, y + i);
}

}  // namespace image
