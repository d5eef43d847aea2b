// Operations on one pixel at a time. Their cost is the way the pixels are loaded and stored.
#pragma once

namespace image {

constexpr int kThreads = 256;

__device__ inline unsigned char brightness(float red, float green, float blue) {
  return static_cast<unsigned char>(__float2int_rn(0.299f * red + 0.587f * green + 0.114f * blue));
}

// Claim: 3 bytes a pixel are fewer bytes, but three requests of one byte a thread. Each touches the same 3 sectors.
__global__ void desaturate_packed(const unsigned char* in, unsigned char* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  out[i] = brightness(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
}

// Claim: 4 bytes a pixel are one request of 4 sectors, each touched once.
__global__ void desaturate(const uchar4* in, unsigned char* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uchar4 p = in[i];
  out[i] = brightness(p.x, p.y, p.z);
}

// Claim: there is next to nothing to compute, so this runs like a copy.
__global__ void negative(const uchar4* in, uchar4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uchar4 p = in[i];
  out[i] = make_uchar4(255 - p.x, 255 - p.y, 255 - p.z, p.w);
}

// Claim: four pixels in one 16-byte access: a quarter of the requests for the same sectors. 255 - x is ~x in each byte.
__global__ void negative_wide(const uint4* in, uint4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count / 4) {
    constexpr unsigned kColours = 0x00ffffff;
    const uint4 p = in[i];
    out[i] = make_uint4(p.x ^ kColours, p.y ^ kColours, p.z ^ kColours, p.w ^ kColours);
  }
  if (i < count % 4) {
    const int last = count / 4 * 4 + i;
    reinterpret_cast<unsigned*>(out)[last] = reinterpret_cast<const unsigned*>(in)[last] ^ 0x00ffffff;
  }
}

// One colour from hue (in sixths of the circle), the largest colour value and the chroma. n: 5 red, 3 green, 1 blue.
__device__ inline unsigned char channel(float n, float hue, float value, float chroma) {
  float k = n + hue;
  k = k >= 6 ? k - 6 : k;
  return static_cast<unsigned char>(__float2int_rn(value - chroma * fmaxf(0, fminf(fminf(k, 4 - k), 1))));
}

// Claim: RGB to HSV, rotated, and back: some 40 instructions a pixel, and as many bytes as the negative.
__global__ void hue_shift(const uchar4* in, uchar4* out, float sixths, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uchar4 p = in[i];
  const float r = p.x, g = p.y, b = p.z;
  const float value = fmaxf(r, fmaxf(g, b)), chroma = value - fminf(r, fminf(g, b));
  float hue = 0;
  if (chroma > 0) hue = value == r ? (g - b) / chroma : value == g ? 2 + (b - r) / chroma : 4 + (r - g) / chroma;
  hue += sixths;  // now from -1 to 11
  hue = hue < 0 ? hue + 6 : hue >= 6 ? hue - 6 : hue;
  out[i] =
      make_uchar4(channel(5, hue, value, chroma), channel(3, hue, value, chroma), channel(1, hue, value, chroma), p.w);
}

}  // namespace image
