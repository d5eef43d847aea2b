// The last rung of the histogram: each lane has its own column of bins, in its own bank.
#pragma once

namespace image {

constexpr int kLaneBins = 256, kLanes = 32;
constexpr unsigned kLaneTableBytes = kLaneBins * kLanes * sizeof(unsigned);
// Threads of a block that count. The last warp waits for the cleared bins instead.
template <int kThreads>
constexpr int kCountingThreads = kThreads - kLanes;

// Counts the byte of `pixels` whose lowest bit is kBit. A bin's row in the table is 128 bytes, so the byte shifted to
// bit 7 is the row's address.
template <int kBit>
__device__ __forceinline__ void count_byte(unsigned column, unsigned pixels) {
  const unsigned row = (kBit < 7 ? pixels << (7 - kBit) : pixels >> (kBit - 7)) & 0x7f80u;
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(column + row) : "memory");
}
__device__ __forceinline__ void count_word(unsigned column, unsigned pixels) {
  count_byte<0>(column, pixels);
  count_byte<8>(column, pixels);
  count_byte<16>(column, pixels);
  count_byte<24>(column, pixels);
}
__device__ __forceinline__ void count_pack(unsigned column, const uint4& pixels) {
  count_word(column, pixels.x);
  count_word(column, pixels.y);
  count_word(column, pixels.z);
  count_word(column, pixels.w);
}

// The first block clears the bins and reports it in `turn`. Each block waits for that before it adds to them.
// `turn` is negative in between, and 0 again when all blocks have seen it, ready for the next launch.
__device__ __forceinline__ void report_clear_bins(int* turn) {
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(turn), "r"(-int(gridDim.x)) : "memory");
}
__device__ __forceinline__ void wait_for_clear_bins(int* turn) {
  while (true) {
    int seen;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(turn) : "memory");
    if (seen != 0) break;
    __nanosleep(200);  // each acquire empties the L1 cache
  }
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
}

// Claim: 32 lanes on one table of 256 words take 3.4 passes for random bytes (the fullest of 32 banks), a cycle each.
// Here word (bin, lane) is in bank `lane`, so any pixels take one pass. 32 bytes take some 1.1 cycles of an SM and a
// quarter of one for their load: 23 bytes a cycle, more than the memory delivers (18 on an H200). A load is 16 bytes.
// Each thread has kFlight in flight, starts the first before anything else, and replaces each as soon as it is counted.
//
// All threads walk through memory side by side. A warp that falls behind reads rows of DRAM that others have left, and
// stays behind: waiting for the bins amid the loads costs 25 % on an H200. So a warp that counts nothing waits for
// them.
template <int kThreads, int kFlight, int kBlocksPerSm = 2048 / kThreads>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    histogram_lanes(const unsigned char* in, unsigned* bins, int* turn, long count) {
  extern __shared__ __align__(128) unsigned char table[];
  __shared__ unsigned sums[kLaneBins];
  constexpr int kCounting = kCountingThreads<kThreads>;
  const int lane = threadIdx.x % kLanes;
  // The shuffle keeps the sum in a register. Otherwise the compiler adds the table's address at each use.
  const unsigned column = __shfl_sync(
      ~0u, static_cast<unsigned>(__cvta_generic_to_shared(table)) + lane * unsigned(sizeof(unsigned)), lane);
  const long packs = count / 16, stride = static_cast<long>(gridDim.x) * kCounting;
  const uint4* const stop = reinterpret_cast<const uint4*>(in) + packs;
  const uint4* next = threadIdx.x < kCounting
                          ? reinterpret_cast<const uint4*>(in) + blockIdx.x * static_cast<long>(kCounting) + threadIdx.x
                          : stop;
  uint4 pixels[kFlight];
#pragma unroll
  for (int k = 0; k < kFlight; ++k)
    if (next + k * stride < stop) pixels[k] = __ldcs(next + k * stride);

  static_assert(kThreads % kLaneBins == 0 && 4 * kLaneBins % kThreads == 0);
#pragma unroll
  for (int i = 0; i < int(kLaneTableBytes / sizeof(uint4)); i += kThreads)
    reinterpret_cast<uint4*>(table)[i + threadIdx.x] = make_uint4(0, 0, 0, 0);
  if (blockIdx.x == 0 && threadIdx.x < kLaneBins) bins[threadIdx.x] = 0;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) report_clear_bins(turn);

  next += kFlight * stride;
  while (next + (kFlight - 1) * stride < stop) {
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
      count_pack(column, pixels[k]);
      pixels[k] = __ldcs(next);
      next += stride;
    }
  }
#pragma unroll
  for (int k = 0; k < kFlight; ++k)
    if (next + (k - kFlight) * stride < stop) {
      count_pack(column, pixels[k]);
      if (next + k * stride < stop) pixels[k] = __ldcs(next + k * stride);
    }
#pragma unroll
  for (int k = 0; k < kFlight; ++k)
    if (next + k * stride < stop) count_pack(column, pixels[k]);
  if (blockIdx.x == 0 && threadIdx.x < count % 16) count_byte<0>(column, in[packs * 16 + threadIdx.x]);
  if (threadIdx.x == kCounting) wait_for_clear_bins(turn);
  __syncthreads();

  // Four threads add up a bin's row, 32 bytes each. Those of odd bins begin with their second half; otherwise two of
  // eight threads would read the same bank.
#pragma unroll
  for (int first_of_four = 0; first_of_four < 4 * kLaneBins; first_of_four += kThreads) {
    const int i = first_of_four + threadIdx.x, bin = i / 4;
    const uint4* const row = reinterpret_cast<const uint4*>(table) + 2 * i;
    const uint4 a = row[bin % 2], b = row[1 - bin % 2];
    unsigned sum = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    if (i % 4 == 0) sums[bin] = sum;
  }
  __syncthreads();
  // A warp adds 32 neighbouring bins in one request: all blocks do this at the same time.
  if (threadIdx.x < kLaneBins && sums[threadIdx.x]) atomicAdd(&bins[threadIdx.x], sums[threadIdx.x]);
}

}  // namespace image
