// The last rung of the histogram: each lane has its own column of bins, in its own bank.
#pragma once

namespace image {

constexpr int kLaneBins = 256, kLanes = 32;
constexpr unsigned kLaneTableBytes = kLaneBins * kLanes * sizeof(unsigned);

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

// The first block clears the bins and reports it in `turn`. Each block waits for that before it adds to them.
// `turn` is negative in between, and 0 again when all blocks have seen it, ready for the next launch.
__device__ __forceinline__ void say_bins_are_clear(int* turn) {
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(turn), "r"(-int(gridDim.x)) : "memory");
}
__device__ __forceinline__ void hear_bins_are_clear(int* turn) {
  int seen;
  do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(turn) : "memory");
  while (seen == 0);
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
}

// Claim: 32 lanes on one table of 256 words take 3.4 passes for random bytes (the fullest of 32 banks), a cycle each.
// Here word (bin, lane) is in bank `lane`, so any pixels take one pass. 32 bytes take some 1.1 cycles of an SM and a
// quarter of one for their load: 23 bytes a cycle, more than the memory delivers (18 on an H200). A load is 16 bytes.
// Each thread has kFlight in flight, and starts the first before anything else.
template <int kThreads, int kFlight>
__global__ void __launch_bounds__(kThreads)
    histogram_lanes(const unsigned char* in, unsigned* bins, int* turn, long count) {
  extern __shared__ __align__(128) unsigned char table[];
  const int lane = threadIdx.x % kLanes;
  // The shuffle keeps the sum in a register. Otherwise the compiler adds the table's address at each use.
  const unsigned column = __shfl_sync(
      ~0u, static_cast<unsigned>(__cvta_generic_to_shared(table)) + lane * unsigned(sizeof(unsigned)), lane);
  const uint4* const wide = reinterpret_cast<const uint4*>(in);
  const long packs = count / 16, stride = static_cast<long>(gridDim.x) * kThreads;
  const long first = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  uint4 pixels[kFlight];
  const auto ask = [&](long i) {
#pragma unroll
    for (int k = 0; k < kFlight; ++k)
      if (i + k * stride < packs) pixels[k] = __ldcs(wide + i + k * stride);
  };
  const auto count_packs = [&](long i) {
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
      if (i + k * stride >= packs) break;
      count_word(column, pixels[k].x);
      count_word(column, pixels[k].y);
      count_word(column, pixels[k].z);
      count_word(column, pixels[k].w);
    }
  };
  ask(first);

  static_assert(kThreads % kLaneBins == 0 && 4 * kLaneBins % kThreads == 0);
#pragma unroll
  for (int i = 0; i < int(kLaneTableBytes / sizeof(uint4)); i += kThreads)
    reinterpret_cast<uint4*>(table)[i + threadIdx.x] = make_uint4(0, 0, 0, 0);
  if (blockIdx.x == 0 && threadIdx.x < kLaneBins) bins[threadIdx.x] = 0;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) say_bins_are_clear(turn);
  count_packs(first);
  for (long i = first + kFlight * stride; i < packs; i += kFlight * stride) {
    ask(i);
    count_packs(i);
  }
  // Wait here and not in the loop: there it never had to wait, but its code took 18 % of the time.
  if (threadIdx.x == 0) hear_bins_are_clear(turn);
  if (first < count % 16) count_byte<0>(column, in[packs * 16 + first]);
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
    if (i % 4 == 0 && sum) atomicAdd(&bins[bin], sum);
  }
}

}  // namespace image
