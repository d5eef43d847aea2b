// The last rung of matching: products by whole warpgroups from shared memory, sums by differences, squares by columns.
#pragma once

#include "image/match_tensor.cuh"

namespace image {

// A team is a warpgroup. It works on 8 slots (the places of a strip of columns and a chunk of rows), kGroupRows rows at
// a time. A ring holds 8 such groups of each slot's pixels. The products of a group of places read five of them.
constexpr int kTeams = 3, kTeamThreads = 128, kSlots = 8, kGroupRows = 4, kRing = 8;
constexpr int kReach = kPiece / kGroupRows + 1;
constexpr int kSlotBytes = 144, kRowBytes = kSlots * kSlotBytes, kGroupBytes = kGroupRows * kRowBytes;
constexpr int kBandBytes = 512, kNoBands = kGroupRows - 1, kStack = kPiece + 2 * kNoBands;

struct MatchShared {
  unsigned char rings[kTeams][kRing * kGroupBytes];
  // Element (k, n) of a band is the weight k - shift of a row, shift = 0, 1, 4, 5, ... 12, 13, 2, 3, ... 14, 15, so
  // that a lane gets the sums of 4 neighbouring places. Order of the bands: zeros, the piece's rows from the last one
  // on, zeros, a band of 1s, a band of -1s.
  unsigned char bands[(kStack + 2) * kBandBytes];
  unsigned padded[kPiece + 2][12];  // rows of the bands: 16 zeros, the row, 16 zeros
};
constexpr int kOnes = kStack, kMinusOnes = kStack + 1;

// Descriptor of a matrix in shared memory. Its pieces of 8 rows x 16 bytes are `along` bytes apart along a row and
// `across` bytes down its rows. Here they overlap: row g + 1 begins 16 pixels after row g, so the second half of a row
// is the first half of the next.
__device__ __forceinline__ unsigned long matrix_at(unsigned address, unsigned along, unsigned across) {
  return static_cast<unsigned long>(across / 16) << 32 | along / 16 << 16 | address / 16;
}
__device__ __forceinline__ unsigned long moved(unsigned long matrix, unsigned bytes) {
  return (matrix & 0xffffffff00000000ul) | (static_cast<unsigned>(matrix) + bytes / 16);
}
__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// 64 x 32 bytes times 32 x 64 (x 16): d = a * b, or d += a * b.
__device__ __forceinline__ void multiply_rows_first(int (&d)[32], unsigned long a, unsigned long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, 0;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7]), "=r"(d[8]),
        "=r"(d[9]), "=r"(d[10]), "=r"(d[11]), "=r"(d[12]), "=r"(d[13]), "=r"(d[14]), "=r"(d[15]), "=r"(d[16]),
        "=r"(d[17]), "=r"(d[18]), "=r"(d[19]), "=r"(d[20]), "=r"(d[21]), "=r"(d[22]), "=r"(d[23]), "=r"(d[24]),
        "=r"(d[25]), "=r"(d[26]), "=r"(d[27]), "=r"(d[28]), "=r"(d[29]), "=r"(d[30]), "=r"(d[31])
      : "l"(a), "l"(b));
}
__device__ __forceinline__ void multiply_rows(int (&d)[32], unsigned long a, unsigned long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, 1;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
      : "l"(a), "l"(b));
}
__device__ __forceinline__ void multiply_ones_first(int (&d)[8], unsigned long a, unsigned long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7"
      "}, %8, %9, 0;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])
      : "l"(a), "l"(b));
}
__device__ __forceinline__ void multiply_ones(int (&d)[8], unsigned long a, unsigned long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7"
      "}, %8, %9, 1;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
      : "l"(a), "l"(b));
}
__device__ __forceinline__ void products_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_end() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kRegisters>
__device__ __forceinline__ void products_wait(int (&d)[kRegisters]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) asm volatile("" : "+r"(d[i])::"memory");
}
#else  // the code above is for compute capability 9.0 only
template <int kRegisters>
__device__ void multiply_rows_first(int (&)[kRegisters], unsigned long, unsigned long) {
  __trap();
}
template <int kRegisters>
__device__ void multiply_rows(int (&)[kRegisters], unsigned long, unsigned long) {}
template <int kRegisters>
__device__ void multiply_ones_first(int (&)[kRegisters], unsigned long, unsigned long) {}
template <int kRegisters>
__device__ void multiply_ones(int (&)[kRegisters], unsigned long, unsigned long) {}
__device__ inline void products_begin() {}
__device__ inline void products_end() {}
template <int kRegisters>
__device__ void products_wait(int (&)[kRegisters]) {}
#endif

// Sums of squares over the window's rows, for the columns up to the lane's first, second, third and fourth.
struct ColumnSquares {
  unsigned upto[4] = {};
  __device__ __forceinline__ void gain(unsigned pixels) {
#pragma unroll
    for (int j = 0; j < 4; ++j) upto[j] = __dp4a(pixels & 0xffffffffu >> 8 * (3 - j), pixels, upto[j]);
  }
  __device__ __forceinline__ void lose(unsigned pixels) {
#pragma unroll
    for (int j = 0; j < 4; ++j) upto[j] -= __dp4a(pixels & 0xffffffffu >> 8 * (3 - j), pixels, 0u);
  }
  // Sums of squares of 16 columns from the lane's first, second, third and fourth column on.
  __device__ __forceinline__ void windows(unsigned (&w)[4]) const {
    unsigned all = upto[3] + __shfl_down_sync(~0u, upto[3], 1);
    all += __shfl_down_sync(~0u, all, 2);
    w[0] = all;
#pragma unroll
    for (int j = 0; j < 3; ++j) w[j + 1] = all - upto[j] + __shfl_down_sync(~0u, upto[j], 4);
  }
};
// The root includes the piece's spread. Variance or spread is 0 only if the covariance is 0 too.
__device__ __forceinline__ float score_of(int covariance, int variance, float spread) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaf(static_cast<float>(variance), spread, 1e-30f)));
  return static_cast<float>(covariance) * root;
}

// A thread's share of loading rows: 16 threads for each slot of the team.
struct MatchLoads {
  const unsigned char* from[3];
  unsigned to[3];
  int y[3], rows, groups, next = 0;
  __device__ __forceinline__ MatchLoads(Rows in, unsigned ring, int first, int left, int rows_in, int groups_wanted)
      : rows(rows_in), groups(groups_wanted) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const int id = threadIdx.x % 16 + 16 * i, row = id / 9, along = id % 9 * 16;
      y[i] = id < kGroupRows * 9 ? first + row : rows;
      from[i] = in.data + min(y[i], rows - 1) * in.pitch + left + along;
      to[i] = ring + row * kRowBytes + threadIdx.x % kTeamThreads / 16 * kSlotBytes + along;
    }
  }
  // Requests the next group of rows. Rows below the image are zeros.
  __device__ __forceinline__ void ask(int pitch) {
    if (next < groups)
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        if (i < 2 || threadIdx.x % 16 < kGroupRows * 9 - 32)
          asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to[i] + next % kRing * kGroupBytes),
                       "l"(from[i]), "r"(y[i] < rows ? 16 : 0)
                       : "memory");
        y[i] += kGroupRows;
        from[i] += kGroupRows * pitch;
      }
    asm volatile("cp.async.commit_group;" ::: "memory");
    ++next;
  }
  __device__ __forceinline__ void ask_first(int pitch) {
#pragma unroll 1
    for (int i = 0; i < kReach; ++i) ask(pitch);
  }
  // Waits until all requested groups but the last `kLeft` have arrived, for the whole team.
  template <int kLeft>
  __device__ __forceinline__ void wait(int team) const {
    asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, %1;" ::"r"(1 + team), "n"(kTeamThreads) : "memory");
  }
};

// The weight of this thread's pixel of the piece: the pixel minus 128, to fit in a signed byte. Covariance and variance
// do not depend on that offset. 0 outside the piece.
__device__ __forceinline__ int weight_of_thread(const unsigned char* pixels, const Piece& piece) {
  const int row = threadIdx.x / kPiece, column = threadIdx.x % kPiece;
  return row < piece.rows && column < piece.columns ? pixels[row * piece.columns + column] - 128 : 0;
}
// Writes the padded rows that the bands are cut from.
__device__ __forceinline__ void pad_rows(MatchShared& s, int weight) {
  static_assert(kTeams * kTeamThreads >= kPiece * kPiece);
  if (threadIdx.x < (kPiece + 2) * 12) {
    const int row = threadIdx.x / 12, word = threadIdx.x % 12;
    s.padded[row][word] = row < kPiece || word < 4 || word >= 8 ? 0 : row == kPiece ? 0x01010101 : 0xffffffff;
  }
  __syncthreads();
  if (threadIdx.x < kPiece * kPiece)
    reinterpret_cast<signed char*>(s.padded[threadIdx.x / kPiece] + 4)[threadIdx.x % kPiece] =
        static_cast<signed char>(weight);
  __syncthreads();
}
__device__ __forceinline__ void make_bands(MatchShared& s, int team) {
  const int n = threadIdx.x % kTeamThreads / 8, word = threadIdx.x % 8, shift = n % 8 / 2 * 4 + n / 8 * 2 + n % 2;
  const int begin = 16 + 4 * word - shift, to = n / 8 * 256 + word / 4 * 128 + n % 8 * 16 + word % 4 * 4;
#pragma unroll
  for (int i = 0; i < kStack + 2; i += kTeams) {
    const int p = i + team, row = p < kStack ? kPiece - 1 - (p - kNoBands) : kPiece + p - kStack;
    if (p >= kStack + 2) break;
    unsigned value = 0;
    if (row >= 0 && p >= kNoBands)
      value = __funnelshift_r(s.padded[row][begin / 4], s.padded[row][(begin + 3) / 4], begin % 4 * 8);
    *reinterpret_cast<unsigned*>(s.bands + p * kBandBytes + to) = value;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

// Teams use the tensor cores one after the other: while one multiplies, the others compute scores. Without turns all
// multiply together and then all compute scores. Barriers 1 to kTeams are those of the loads.
struct Turns {
  int team, left;  // left: this team's turns that it has not passed on
  __device__ __forceinline__ Turns(int of_team, int turns) : team(of_team), left(turns) {
    if (team == kTeams - 1) arrive();
  }
  __device__ __forceinline__ void wait() const {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + kTeams + team), "n"(2 * kTeamThreads) : "memory");
  }
  __device__ __forceinline__ void pass() {
    if (--left > 0 || team < kTeams - 1) arrive();  // nothing waits after the last turn of the last team
  }

 private:
  __device__ __forceinline__ void arrive() const {
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + kTeams + (team + 1) % kTeams), "n"(2 * kTeamThreads) : "memory");
  }
};

// A team's products: rows of pixels (8 pieces of a slot are 128 of its columns) with bands. They give, for each of the
// group's rows of places, 16 of 64 columns of sums.
struct MatchProducts {
  unsigned long pixels, bands;
  __device__ __forceinline__ MatchProducts(const MatchShared& s, int team)
      : pixels(matrix_at(shared_address(s.rings[team]), 16, kSlotBytes)),
        bands(matrix_at(shared_address(s.bands), 128, 256)) {}
  __device__ __forceinline__ unsigned long row(int k, int y) const {
    return moved(pixels, (k + y / kGroupRows) % kRing * kGroupBytes + y % kGroupRows * kRowBytes);
  }
  __device__ __forceinline__ unsigned long band(int p) const { return moved(bands, p * kBandBytes); }
  // Sums of the windows at the first row of places.
  __device__ __forceinline__ void first_sums(int (&sums)[8]) const {
    products_begin();
    multiply_ones_first(sums, row(0, 0), band(kOnes));
#pragma unroll
    for (int y = 1; y < kPiece; ++y) multiply_ones(sums, row(0, y), band(kOnes));
    products_end();
  }
  // Products of group k, and the change of the sums from each of its rows to the next. Row y of pixels is row y - t of
  // the windows of row t, if that exists. So the bands of 64 sums are a window that moves over the stack of bands.
  // between(0) to between(kBetween - 1) run after every second row, because a warp waits until the tensor cores accept
  // a product.
  static constexpr int kBetween = 2 * kGroupRows;
  template <class Between>
  __device__ __forceinline__ void multiply(int k, int (&products)[32], int (&gains)[kGroupRows][8],
                                           const Between& between) const {
    static_assert(2 * kBetween <= kPiece + kGroupRows - 1);
    products_begin();
    multiply_rows_first(products, row(k, 0), band(kStack - kGroupRows));
#pragma unroll
    for (int y = 1; y < kPiece + kGroupRows - 1; ++y) {
      multiply_rows(products, row(k, y), band(kStack - kGroupRows - y));
      if (y % 2 == 1 && y / 2 < kBetween) between(y / 2);
    }
#pragma unroll
    for (int t = 0; t < kGroupRows; ++t) {
      multiply_ones_first(gains[t], row(k, t), band(kMinusOnes));
      multiply_ones(gains[t], row(k, kPiece + t), band(kOnes));
    }
    products_end();
  }
};

// Claim: the tensor cores read pixels and weights from shared memory. A row of pixels serves as 64 rows of a
// matrix without rearranging. 27 instructions give 4 rows of 896 places: some 95 instructions of a warp for 112
// places instead of 150. Sums occupy registers only while they are added up. 3 teams are faster than 2 or 4.
__global__ void __launch_bounds__(kTeams* kTeamThreads, 1)
    match_warpgroups(Rows in, const unsigned char* pixels, float* out, int out_pitch, Piece piece, float spread,
                     int rows, int columns, int chunk) {
  extern __shared__ __align__(128) unsigned char memory[];
  MatchShared& s = *reinterpret_cast<MatchShared*>(memory);
  const int team = __shfl_sync(~0u, threadIdx.x / kTeamThreads, 0), slot = (blockIdx.x * kTeams + team) * kSlots;
  const int lane = threadIdx.x % 32, warp = threadIdx.x % kTeamThreads / 32, wide = columns - piece.columns + 1;
  const int high = rows - piece.rows + 1, strips = (wide + kMatchStrip - 1) / kMatchStrip;
  const int steps = (chunk + kGroupRows - 1) / kGroupRows;

  const int weight = weight_of_thread(pixels, piece);
  const int loaded = slot + threadIdx.x % kTeamThreads / 16, load_first = loaded / strips * chunk;
  MatchLoads loads(in, shared_address(s.rings[team]), load_first < high ? load_first : rows,
                   loaded % strips * kMatchStrip, rows, steps + kPiece / kGroupRows);
  // The first team's rows come first. Otherwise all teams wait until most of the picture is read.
  if (team == 0) loads.ask_first(in.pitch);
  pad_rows(s, weight);
  if (team == 1) loads.ask_first(in.pitch);
  make_bands(s, team);
  if (team > 1) loads.ask_first(in.pitch);

  // A warp's share of the sums: two slots.
  int y[2], last[2], to[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int index = slot + 2 * warp + i, x = index % strips * kMatchStrip + lane * kMatchPer;
    y[i] = index / strips * chunk;
    last[i] = lane * kMatchPer < kMatchStrip && x < wide ? min(y[i] + chunk, high) : 0;
    to[i] = y[i] * out_pitch + x;
  }
  const auto word_of = [&](int k, int row, int which) {
    return *reinterpret_cast<const unsigned*>(s.rings[team] + (k + row / kGroupRows) % kRing * kGroupBytes +
                                              row % kGroupRows * kRowBytes + (2 * warp + which) * kSlotBytes +
                                              4 * lane);
  };
  const int n = piece.rows * piece.columns, piece_sum = static_cast<int>(piece.sum) - 128 * n;
  const MatchProducts matrices(s, team);
  ColumnSquares squares[2];
  Turns turns(team, steps);
  int sums[8];
#pragma unroll 1
  for (int k = 0; k < steps; ++k) {
    if (k == 0) {
      loads.wait<0>(team);
#pragma unroll 1
      for (int i = kReach; i < kRing; ++i) loads.ask(in.pitch);
      const auto first_squares = [&] {
#pragma unroll 5
        for (int row = 0; row < kPiece - 1; ++row)
#pragma unroll
          for (int i = 0; i < 2; ++i) squares[i].gain(word_of(0, row, i));
      };
      if (team > 0) first_squares();  // the first team's turn comes at once
      turns.wait();
      matrices.first_sums(sums);
      if (team == 0) first_squares();
      products_wait(sums);
    } else {
      loads.wait<2>(team);
      loads.ask(in.pitch);
      turns.wait();
    }
    int products[32], gains[kGroupRows][8];
    unsigned windows[kGroupRows][2][4];
    matrices.multiply(k, products, gains, [&](int which) {
      const int t = which / 2, i = which % 2;
      squares[i].gain(word_of(k, kPiece - 1 + t, i));
      squares[i].windows(windows[t][i]);
      squares[i].lose(word_of(k, t, i));
    });
    turns.pass();
    products_wait(products);
#pragma unroll
    for (int t = 0; t < kGroupRows; ++t) products_wait(gains[t]);
#pragma unroll
    for (int t = 0; t < kGroupRows; ++t) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float scores[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int at = j / 2 * 4 + 2 * i + j % 2;
          scores[j] = score_of(n * products[8 * t + at] - sums[at] * piece_sum,
                               n * static_cast<int>(windows[t][i][j]) - sums[at] * sums[at], spread);
        }
        if (y[i] < last[i])
          *reinterpret_cast<float4*>(out + to[i]) = make_float4(scores[0], scores[1], scores[2], scores[3]);
        ++y[i], to[i] += out_pitch;
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) sums[i] += gains[t][i];
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace image
