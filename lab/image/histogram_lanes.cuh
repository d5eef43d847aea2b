// The histogram's last rung: a column of bins for each lane, in the lane's own bank.
#pragma once

namespace image {

constexpr int kLaneBins = 256, kLanes = 32;
constexpr unsigned kLaneTableBytes = kLaneBins * kLanes * sizeof(unsigned);

// Counts one byte of `pixels`, the one whose lowest bit is kBit. The table's row of a bin is 128 bytes, so that the
// byte moved to bit 7 is the row's address.
template <int kBit>
__device__ __forceinline__ void count_byte(unsigned char* column, unsigned pixels) {
  const unsigned row = (kBit < 7 ? pixels << (7 - kBit) : pixels >> (kBit - 7)) & 0x7f80u;
  atomicAdd(reinterpret_cast<unsigned*>(column + row), 1u);
}
__device__ __forceinline__ void count_word(unsigned char* column, unsigned pixels) {
  count_byte<0>(column, pixels);
  count_byte<8>(column, pixels);
  count_byte<16>(column, pixels);
  count_byte<24>(column, pixels);
}

// Claim: 32 lanes on one table of 256 words are 3.4 passes for random bytes (the fullest of 32 banks), and each pass
// takes a cycle. Here word (bin, lane) lies in bank `lane`: one pass whatever the pixels are, 32 bytes in some 1.1
// cycles of an SM and a quarter of one for their load: 23 bytes a cycle, more than memory brings (18 on an H200). 16
// bytes a load, kFlight of them on the way for each thread.
template <int kThreads, int kFlight>
__global__ void __launch_bounds__(kThreads) histogram_lanes(const unsigned char* in, unsigned* bins, long count) {
  extern __shared__ __align__(128) unsigned char table[];
  for (int i = threadIdx.x; i < int(kLaneTableBytes / sizeof(uint4)); i += kThreads)
    reinterpret_cast<uint4*>(table)[i] = make_uint4(0, 0, 0, 0);
  __syncthreads();

  const int lane = threadIdx.x % kLanes;
  unsigned char* const column = table + lane * sizeof(unsigned);
  const uint4* const wide = reinterpret_cast<const uint4*>(in);
  const long packs = count / 16, stride = static_cast<long>(gridDim.x) * kThreads;
  const long first = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  for (long i = first; i < packs; i += kFlight * stride) {
    uint4 pixels[kFlight];
#pragma unroll
    for (int k = 0; k < kFlight; ++k)
      if (i + k * stride < packs) pixels[k] = __ldcs(wide + i + k * stride);
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
      if (i + k * stride >= packs) break;
      count_word(column, pixels[k].x);
      count_word(column, pixels[k].y);
      count_word(column, pixels[k].z);
      count_word(column, pixels[k].w);
    }
  }
  if (first < count % 16) count_byte<0>(column, in[packs * 16 + first]);
  __syncthreads();

  // A thread adds up the row of a bin; lanes begin at different columns, or all would read one bank.
  for (int bin = threadIdx.x; bin < kLaneBins; bin += kThreads) {
    unsigned sum = 0;
#pragma unroll 16
    for (int i = 0; i < kLanes; ++i) sum += reinterpret_cast<unsigned*>(table)[bin * kLanes + (i + lane) % kLanes];
    if (sum) atomicAdd(&bins[bin], sum);
  }
}

}  // namespace image
