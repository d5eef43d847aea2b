// The last rung of the 5 x 5 median: sorting networks that windows share, on two pixels at a time, by two pipes.
#pragma once

#include "image/words.cuh"

namespace image {

// Values in ascending order, in registers. Each register holds two pixels, of two independent windows.
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

// The pipe that sorts two pixels. whole: a minimum and a maximum of integers, two cycles of a scheduler each. half:
// three instructions: max(b - a, 0) is added to a and subtracted from b. A pixel is a 16-bit number below 256. Read as
// a half, it is 2^-24 times that, so differences are exact.
enum class Pipe { whole, half };
template <Pipe kPipe>
__device__ __forceinline__ void exchanged(unsigned a, unsigned b, unsigned& low, unsigned& high) {
  if constexpr (kPipe == Pipe::half) {
    unsigned above;
    asm("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(above) : "r"(a), "r"(0xbc00bc00), "r"(b));  // max(b - a, 0)
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(low) : "r"(b), "r"(above));
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(high) : "r"(a), "r"(above));
  } else {
    low = lesser(a, b), high = greater(a, b);
  }
}

// Batcher's merge: merge the elements at odd places and those at even places, then exchange neighbours. The compiler
// drops unused parts of the result.
template <Pipe kPipe, int kA, int kB>
__device__ __forceinline__ Sorted<kA + kB> merged(const Sorted<kA>& a, const Sorted<kB>& b) {
  if constexpr (kA == 0) {
    return b;
  } else if constexpr (kB == 0) {
    return a;
  } else if constexpr (kA == 1 && kB == 1) {
    Sorted<2> to;
    exchanged<kPipe>(a.at[0], b.at[0], to.at[0], to.at[1]);
    return to;
  } else {
    const auto odd = merged<kPipe>(taken<0, (kA + 1) / 2, 2>(a), taken<0, (kB + 1) / 2, 2>(b));
    const auto even = merged<kPipe>(taken<1, kA / 2, 2>(a), taken<1, kB / 2, 2>(b));
    constexpr int kOdd = (kA + 1) / 2 + (kB + 1) / 2, kEven = kA / 2 + kB / 2;
    Sorted<kA + kB> to;
    to.at[0] = odd.at[0];
#pragma unroll
    for (int i = 0; i < kEven; ++i)
      if (i + 1 < kOdd) {
        exchanged<kPipe>(odd.at[i + 1], even.at[i], to.at[2 * i + 1], to.at[2 * i + 2]);
      } else {
        to.at[2 * i + 1] = even.at[i];
      }
    if constexpr (kOdd == kEven + 2) to.at[kA + kB - 1] = odd.at[kOdd - 1];
    return to;
  }
}
// The kRank-th smallest of two and five values: the least among the maxima of pairs (a[i], b[j]), i + j = kRank - 2. A
// minimum of three is one instruction, which a sequence of exchanges does not use.
template <int kRank>
__device__ __forceinline__ unsigned ranked(const Sorted<2>& a, const Sorted<5>& b) {
  static_assert(kRank >= 3 && kRank <= 5);
  return lesser(lesser(greater(a.at[0], b.at[kRank - 2]), greater(a.at[1], b.at[kRank - 3])), b.at[kRank - 1]);
}
// The middle 6 of 4 and 10: rank even places of one with odd places of the other, twice, then exchange neighbours.
__device__ __forceinline__ Sorted<6> middle_six(const Sorted<4>& a, const Sorted<10>& b) {
  const Sorted<2> even = taken<0, 2, 2>(a), odd = taken<1, 2, 2>(a);
  const Sorted<5> evens = taken<0, 5, 2>(b), odds = taken<1, 5, 2>(b);
  const unsigned x[3] = {ranked<3>(even, odds), ranked<4>(even, odds), ranked<5>(even, odds)};
  const unsigned y[3] = {ranked<3>(odd, evens), ranked<4>(odd, evens), ranked<5>(odd, evens)};
  Sorted<6> to;
#pragma unroll
  for (int i = 0; i < 3; ++i) to.at[2 * i] = lesser(x[i], y[i]), to.at[2 * i + 1] = greater(x[i], y[i]);
  return to;
}
// The sixth of 11 (six, four and `more`): `more`, clamped between the fifth and the sixth of the ten.
__device__ __forceinline__ unsigned middle(const Sorted<6>& a, const Sorted<4>& b, unsigned more) {
  const unsigned x = lesser(lesser(greater(a.at[0], b.at[3]), greater(a.at[2], b.at[1])), a.at[4]);
  const unsigned y = lesser(lesser(greater(a.at[1], b.at[2]), greater(a.at[3], b.at[0])), a.at[5]);
  return greater(lesser(x, y), lesser(greater(x, y), more));
}

// A lane has 8 columns. Pixels c and c + 4 are the halves of a register, for c from -2 to 5.
constexpr int kMedianPer = 8, kMedianStrip = 32 * kMedianPer, kMedianWarps = 4;
struct MedianRow {
  unsigned at[kMedianPer];
  __device__ __forceinline__ unsigned operator[](int c) const { return at[c + 2]; }
};
// A row while it loads: the lane's words, and on either side two pixels with zeros above them.
struct MedianWords {
  unsigned words[4];
  __device__ __forceinline__ void load(const unsigned char* own_pixels, int x) {
    const uint2 own = *reinterpret_cast<const uint2*>(own_pixels);
    if (x > 0) words[0] = *reinterpret_cast<const unsigned short*>(own_pixels - 2);
    words[1] = own.x, words[2] = own.y;
    words[3] = *reinterpret_cast<const unsigned short*>(own_pixels + 8);
  }
  __device__ __forceinline__ MedianRow arrived(int x, int columns) {
    if (x == 0) words[0] = (words[1] & 0xff) * 0x101;
    if (x + 10 > columns) repeat_last<3>(words + 1, x, columns), words[3] &= 0xffff;
    // Puts a zero above each pixel: from the upper half of words[0], words[3] and `front`, or the lower of `rear`.
    const unsigned front = words[1] & 0xffff, rear = words[1] & 0xffff0000;
    MedianRow row;
    row.at[0] = __byte_perm(words[0], words[1], 0x2620), row.at[1] = __byte_perm(words[0], words[1], 0x2721);
    row.at[2] = __byte_perm(front, words[2], 0x2420), row.at[3] = __byte_perm(front, words[2], 0x2521);
    row.at[4] = __byte_perm(rear, words[2], 0x0602), row.at[5] = __byte_perm(rear, words[2], 0x0703);
    row.at[6] = __byte_perm(words[2], words[3], 0x6460), row.at[7] = __byte_perm(words[2], words[3], 0x6561);
    return row;
  }
};
// Two rows of the pixels that the windows of a tile share: blocks of 2 x 2 pixels, and columns of 2 beside tiles.
struct MedianRows {
  Sorted<4> blocks[3];   // from columns -1, 1, 3
  Sorted<2> columns[4];  // -2, 0, 3, 5
};
__device__ __forceinline__ MedianRows median_rows(const MedianRow& a, const MedianRow& b) {
  Sorted<2> pairs[8];
#pragma unroll
  for (int c = -2; c < 6; ++c) pairs[c + 2] = merged<Pipe::half>(Sorted<1>{{a[c]}}, Sorted<1>{{b[c]}});
  MedianRows to;
#pragma unroll
  for (int i = 0; i < 3; ++i) to.blocks[i] = merged<Pipe::half>(pairs[1 + 2 * i], pairs[2 + 2 * i]);
  to.columns[0] = pairs[0], to.columns[1] = pairs[2], to.columns[2] = pairs[5], to.columns[3] = pairs[7];
  return to;
}

// The medians of the two windows of a tile that have `row` at their top or bottom. c is the first column.
__device__ __forceinline__ void median_pair(unsigned (&medians)[4], int c, const MedianRow& row, const Sorted<6>& left,
                                            const Sorted<6>& right) {
  const Sorted<2> a = merged<Pipe::whole>(Sorted<1>{{row[c - 1]}}, Sorted<1>{{row[c]}});
  const Sorted<2> b = merged<Pipe::whole>(Sorted<1>{{row[c + 1]}}, Sorted<1>{{row[c + 2]}});
  const Sorted<4> four = merged<Pipe::whole>(a, b);
  medians[c] = middle(left, four, row[c - 2]);
  medians[c + 1] = middle(right, four, row[c + 3]);
}

__device__ __forceinline__ void store_medians(unsigned char* out, const unsigned (&medians)[4]) {
  const unsigned a = medians[0] + 256 * medians[1], b = medians[2] + 256 * medians[3];
  *reinterpret_cast<uint2*>(out) = make_uint2(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
}

// Claim: 25 minima and maxima a pixel, on two pixels in each register; the network for each window has some 300. The
// four windows of a tile of 2 x 2 pixels share 4 x 4 of their 25 pixels. These are merged from sorted blocks, which the
// tile beside and the tile below use too. Only the middle 10 of 16 can be a median. A column of 4 at the side leaves 6
// of 14; a row of 4 and the corner leave one. No shared memory: a warp streams down its columns. Complete sorts use the
// pipe of halves (7 of the 25), partial ones that of integers.
__global__ void __launch_bounds__(32 * kMedianWarps, 4)
    median_tiles(Rows in, Rows out, int rows, int columns, int chunk) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, strips = (columns + kMedianStrip - 1) / kMedianStrip;
  const int index = blockIdx.x * kMedianWarps + warp, first = index / strips * chunk, last = min(first + chunk, rows);
  const int x = index % strips * kMedianStrip + lane * kMedianPer;
  if (first >= rows || x >= columns) return;
  const auto ask = [&](int offset) {
    MedianWords row;
    row.load(in.data + x + offset, x);
    return row;
  };
  MedianWords start[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) start[i] = ask(inside(first - 2 + i, rows) * in.pitch);
  int asked = inside(first + 2, rows) * in.pitch;
  const int last_row = (rows - 1) * in.pitch;
  const auto ask_next = [&] { return ask(asked = min(asked + in.pitch, last_row)); };
  MedianWords soon = ask(asked), last_soon = ask_next();
  MedianRow top = start[0].arrived(x, columns), here = start[2].arrived(x, columns);
  MedianRow below = start[3].arrived(x, columns);
  MedianRows upper = median_rows(start[1].arrived(x, columns), here);
#pragma unroll 2
  for (int y = first; y < last; y += 2) {
    const MedianRow next = soon.arrived(x, columns), bottom = last_soon.arrived(x, columns);
    soon = ask_next(), last_soon = ask_next();
    const MedianRows lower = median_rows(below, next);
    Sorted<8> halves[3];
    Sorted<4> sides[4];
#pragma unroll
    for (int i = 0; i < 3; ++i) halves[i] = merged<Pipe::half>(upper.blocks[i], lower.blocks[i]);
#pragma unroll
    for (int i = 0; i < 4; ++i) sides[i] = merged<Pipe::half>(upper.columns[i], lower.columns[i]);
    unsigned medians[2][4];
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
      const Sorted<10> core = taken<3, 10, 1>(merged<Pipe::whole>(halves[tile], halves[tile + 1]));
      const Sorted<6> left = middle_six(sides[tile], core);
      const Sorted<6> right = middle_six(sides[tile + 2], core);
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
