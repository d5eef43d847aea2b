// The 5 x 5 median's last rung: networks that neighbouring windows share, on two pixels at a time.
#pragma once

#include "image/words.cuh"

namespace image {

// Ascending, in registers; in each are two pixels, of two windows that have nothing to do with each other.
template <int kCount>
struct Sorted {
  unsigned at[kCount > 0 ? kCount : 1];
};

template <int kFirst, int kCount, int kStep, int kAll>
__device__ __forceinline__ Sorted<kCount> taken(const Sorted<kAll>& from) {
  Sorted<kCount> to;
#pragma unroll
  for (int i = 0; i < kCount; ++i) to.at[i] = from.at[kFirst + i * kStep];
  return to;
}

// Batcher's merge: those at odd places, those at even places, and an exchange of neighbours. What nobody reads of the
// result is not computed.
template <int kA, int kB>
__device__ __forceinline__ Sorted<kA + kB> merged(const Sorted<kA>& a, const Sorted<kB>& b) {
  if constexpr (kA == 0) {
    return b;
  } else if constexpr (kB == 0) {
    return a;
  } else if constexpr (kA == 1 && kB == 1) {
    return {{lesser(a.at[0], b.at[0]), greater(a.at[0], b.at[0])}};
  } else {
    const auto odd = merged(taken<0, (kA + 1) / 2, 2>(a), taken<0, (kB + 1) / 2, 2>(b));
    const auto even = merged(taken<1, kA / 2, 2>(a), taken<1, kB / 2, 2>(b));
    constexpr int kOdd = (kA + 1) / 2 + (kB + 1) / 2, kEven = kA / 2 + kB / 2;
    Sorted<kA + kB> to;
    to.at[0] = odd.at[0];
#pragma unroll
    for (int i = 0; i < kEven; ++i)
      if (i + 1 < kOdd) {
        to.at[2 * i + 1] = lesser(odd.at[i + 1], even.at[i]);
        to.at[2 * i + 2] = greater(odd.at[i + 1], even.at[i]);
      } else {
        to.at[2 * i + 1] = even.at[i];
      }
    if constexpr (kOdd == kEven + 2) to.at[kA + kB - 1] = odd.at[kOdd - 1];
    return to;
  }
}
// The same with b's places counted from 0: of 4 and 10 the middle 6 then cost 26 operations and not 30.
template <int kA, int kB>
__device__ __forceinline__ Sorted<kA + kB> merged_crosswise(const Sorted<kA>& a, const Sorted<kB>& b) {
  static_assert(kA % 2 == 0 && kB % 2 == 0);
  const auto x = merged(taken<0, kA / 2, 2>(a), taken<1, kB / 2, 2>(b));
  const auto y = merged(taken<1, kA / 2, 2>(a), taken<0, kB / 2, 2>(b));
  Sorted<kA + kB> to;
#pragma unroll
  for (int i = 0; i < (kA + kB) / 2; ++i) {
    to.at[2 * i] = lesser(x.at[i], y.at[i]);
    to.at[2 * i + 1] = greater(x.at[i], y.at[i]);
  }
  return to;
}
// The sixth of six, four and one more: that one, if it is between the fifth and sixth of the ten.
__device__ __forceinline__ unsigned middle(const Sorted<6>& a, const Sorted<4>& b, unsigned more) {
  const Sorted<2> around = taken<4, 2, 1>(merged_crosswise(a, b));
  return greater(around.at[0], lesser(around.at[1], more));
}

// A lane has 8 columns: the pixels c and c + 4 are the halves of a register, for c from -2 to 5; each byte stands twice
// in its half.
constexpr int kMedianPer = 8, kMedianStrip = 32 * kMedianPer, kMedianWarps = 4;
struct MedianRow {
  unsigned at[kMedianPer];
  __device__ __forceinline__ unsigned operator[](int c) const { return at[c + 2]; }
};
// A row on its way: the lane's words and one at either side.
struct MedianWords {
  unsigned words[4];
  __device__ __forceinline__ void load(const unsigned char* row, int x) {
    const uint2 own = *reinterpret_cast<const uint2*>(row + x);
    words[0] = *reinterpret_cast<const unsigned*>(row + max(x - 4, 0));
    words[1] = own.x, words[2] = own.y;
    words[3] = *reinterpret_cast<const unsigned*>(row + x + 8);
  }
  __device__ __forceinline__ MedianRow arrived(int x, int columns) {
    if (x == 0) words[0] = __byte_perm(words[1], 0, 0x0000);
    if (x + 12 > columns) repeat_last<3>(words + 1, x, columns);
    MedianRow row;
#pragma unroll
    for (int c = -2; c < 6; ++c)
      row.at[c + 2] = __byte_perm(words[(c + 4) / 4], words[(c + 4) / 4 + 1], (c + 4) % 4 * 0x1111 + 0x4400);
    return row;
  }
};
// Two rows of all that the windows of a tile share: blocks of 2 x 2 pixels, and columns of 2 at the sides of tiles.
struct MedianRows {
  Sorted<4> blocks[3];   // from columns -1, 1, 3
  Sorted<2> columns[4];  // -2, 0, 3, 5
};
__device__ __forceinline__ MedianRows median_rows(const MedianRow& a, const MedianRow& b) {
  Sorted<2> pairs[8];
#pragma unroll
  for (int c = -2; c < 6; ++c) pairs[c + 2] = merged(Sorted<1>{{a[c]}}, Sorted<1>{{b[c]}});
  MedianRows to;
#pragma unroll
  for (int i = 0; i < 3; ++i) to.blocks[i] = merged(pairs[1 + 2 * i], pairs[2 + 2 * i]);
  to.columns[0] = pairs[0], to.columns[1] = pairs[2], to.columns[2] = pairs[5], to.columns[3] = pairs[7];
  return to;
}

// The medians of the two windows of a tile which have `row` at their top or bottom; c is the first column.
__device__ __forceinline__ void median_pair(unsigned (&medians)[4], int c, const MedianRow& row, const Sorted<6>& left,
                                            const Sorted<6>& right) {
  const Sorted<2> a = merged(Sorted<1>{{row[c - 1]}}, Sorted<1>{{row[c]}});
  const Sorted<2> b = merged(Sorted<1>{{row[c + 1]}}, Sorted<1>{{row[c + 2]}});
  const Sorted<4> four = merged(a, b);
  medians[c] = middle(left, four, row[c - 2]);
  medians[c + 1] = middle(right, four, row[c + 3]);
}

__device__ __forceinline__ void store_medians(unsigned char* out, const unsigned (&medians)[4]) {
  const unsigned a = __byte_perm(medians[0], medians[1], 0x7351), b = __byte_perm(medians[2], medians[3], 0x7351);
  *reinterpret_cast<uint2*>(out) = make_uint2(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
}

// Claim: 27 instructions a pixel, each the minimum or maximum of two pixels in one register, where the network for each
// window has some 300. The four windows of a tile of 2 x 2 pixels share 4 x 4 of their 25 pixels: these are merged from
// sorted blocks, which the tile beside and the tile below use too, and of 16 only the middle 10 can be a median. A
// column of 4 at the side leaves 6 of 14; a row of 4 and the corner leave the one. Nothing lies in shared memory: a
// warp streams down its columns.
__global__ void __launch_bounds__(32 * kMedianWarps, 4)
    median_tiles(Rows in, Rows out, int rows, int columns, int chunk) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, strips = (columns + kMedianStrip - 1) / kMedianStrip;
  const int index = blockIdx.x * kMedianWarps + warp, first = index / strips * chunk, last = min(first + chunk, rows);
  const int x = index % strips * kMedianStrip + lane * kMedianPer;
  if (first >= rows || x >= columns) return;
  const auto ask = [&](int y) {
    MedianWords row;
    row.load(in.data + inside(y, rows) * in.pitch, x);
    return row;
  };
  MedianWords start[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) start[i] = ask(first - 2 + i);
  MedianWords soon = ask(first + 2), last_soon = ask(first + 3);
  MedianRow top = start[0].arrived(x, columns), here = start[2].arrived(x, columns);
  MedianRow below = start[3].arrived(x, columns);
  MedianRows upper = median_rows(start[1].arrived(x, columns), here);
#pragma unroll 1
  for (int y = first; y < last; y += 2) {
    const MedianRow next = soon.arrived(x, columns), bottom = last_soon.arrived(x, columns);
    soon = ask(y + 4), last_soon = ask(y + 5);
    const MedianRows lower = median_rows(below, next);
    Sorted<8> halves[3];
    Sorted<4> sides[4];
#pragma unroll
    for (int i = 0; i < 3; ++i) halves[i] = merged(upper.blocks[i], lower.blocks[i]);
#pragma unroll
    for (int i = 0; i < 4; ++i) sides[i] = merged(upper.columns[i], lower.columns[i]);
    unsigned medians[2][4];
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
      const Sorted<10> core = taken<3, 10, 1>(merged(halves[tile], halves[tile + 1]));
      const Sorted<6> left = taken<4, 6, 1>(merged_crosswise(sides[tile], core));
      const Sorted<6> right = taken<4, 6, 1>(merged_crosswise(sides[tile + 2], core));
      median_pair(medians[0], 2 * tile, top, left, right);
      median_pair(medians[1], 2 * tile, bottom, left, right);
    }
    unsigned char* const to = out.data + y * out.pitch + x;
    store_medians(to, medians[0]);
    if (y + 1 < last) store_medians(to + out.pitch, medians[1]);
    top = here, here = next, below = bottom, upper = lower;
  }
}

}  // namespace image
