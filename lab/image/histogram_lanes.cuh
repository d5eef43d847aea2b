// The histogram's last rung: a column of bins for each lane, in the lane's own bank.
#pragma once

namespace image {

constexpr int kLaneBins = 256, kLanes = 32;
constexpr unsigned kLaneTableBytes = kLaneBins * kLanes * sizeof(unsigned);

// Counts one byte of `pixels`, the one whose lowest bit is kBit. The table's row of a bin is 128 bytes, so that the
// byte moved to bit 7 is the row's address.
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

// The first block clears the bins and says so; each block hears it before it adds to them, while it waits for pixels.
// `turn` is less than 0 in between, and 0 when all have heard it, as the next launch wants it.
__device__ __forceinline__ void say_bins_are_clear(int* turn) {
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(turn), "r"(-int(gridDim.x)) : "memory");
}
__device__ __forceinline__ void hear_bins_are_clear(int* turn) {
  int seen;
  do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(turn) : "memory");
  while (seen == 0);
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turn) : "memory");
}

// Claim: 32 lanes on one table of 256 words are 3.4 passes for random bytes (the fullest of 32 banks), and each pass
// takes a cycle. Here word (bin, lane) lies in bank `lane`: one pass whatever the pixels are, 32 bytes in some 1.1
// cycles of an SM and a quarter of one for their load: 23 bytes a cycle, more than memory brings (18 on an H200). 16
// bytes a load, kFlight of them on the way for each thread, the first before anything else is done.
template <int kThreads, int kFlight>
__global__ void __launch_bounds__(kThreads)
    histogram_lanes(const unsigned char* in, unsigned* bins, int* turn, long count) {
  extern __shared__ __align__(128) unsigned char table[];
  const int lane = threadIdx.x % kLanes;
  // Its address through a shuffle, or the compiler adds the table's to each instead.
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
  // Not before: in the loop, where nothing waits for it, its code took 18 % of the time.
  if (threadIdx.x == 0) hear_bins_are_clear(turn);
  if (first < count % 16) count_byte<0>(column, in[packs * 16 + first]);
  __syncthreads();

  // Four threads add up the row of a bin, 32 bytes each; those of odd bins begin with their second half, or two of
  // eight would read one bank.
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
