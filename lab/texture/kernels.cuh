// The rungs of the topic texture: reads through the texture unit beside plain loads.
#pragma once

constexpr int kThreads = 256;
constexpr int kBlockX = 32, kBlockY = 8;

// Claim: with a shift that is no multiple of 8, a warp's 128 bytes touch 5 sectors instead of 4.
__global__ void shift_global(const float* in, float* out, int shift, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) out[i] = in[i + shift];
}

// Claim: the same read by texture: the same sectors, through the texture cache. It paid when plain loads were not
// cached (compute capability 1.x). Today both go through the same L1.
__global__ void shift_texture(cudaTextureObject_t in, float* out, int shift, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(in, i + shift);
}

// Claim: a one-dimensional array by float coordinates: texel i covers [i, i + 1), so its centre is at i + 0.5.
__global__ void copy_1d(cudaTextureObject_t in, float* out, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(in, i + 0.5f);
}

// Claim: two dimensions, pitched memory or array: the texture unit does the address arithmetic, not the kernel.
__global__ void copy_2d(cudaTextureObject_t in, float* out, int width, int height) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x < width && y < height) out[static_cast<long>(y) * width + x] = tex2D<float>(in, x + 0.5f, y + 0.5f);
}

// Claim: one instruction reads and weights four texels. Weights have 8 bits of fraction.
__global__ void sample_linear(cudaTextureObject_t in, const float2* at, float* out, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(in, at[i].x, at[i].y);
}

// Claim: coordinates outside 0 to 1 need no branch: the address mode handles them. Samples the image and, on each side,
// a margin of its own size.
__global__ void sample_outside(cudaTextureObject_t in, float* out, int width, int height) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= 3 * width || y >= 3 * height) return;
  const float u = (x - width + 0.5f) / width, v = (y - height + 0.5f) / height;
  out[static_cast<long>(y) * (3 * width) + x] = tex2D<float>(in, u, v);
}

// The source coordinates of pixel (x, y) of the rotated image.
struct Rotation {
  float cosine, sine;
};
__device__ float2 source(Rotation rotation, int x, int y, int width, int height) {
  const float dx = x + 0.5f - 0.5f * width, dy = y + 0.5f - 0.5f * height;
  return make_float2(rotation.cosine * dx + rotation.sine * dy + 0.5f * width,
                     rotation.cosine * dy - rotation.sine * dx + 0.5f * height);
}

// Claim: a warp's row becomes a slanted line, so its loads touch many rows, four times over. The kernel itself does the
// clamping and weighting.
__global__ void rotate_global(const float* in, float* out, Rotation rotation, int width, int height) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const float2 at = source(rotation, x, y, width, height);
  const float left = floorf(at.x - 0.5f), top = floorf(at.y - 0.5f);
  const float a = at.x - 0.5f - left, b = at.y - 0.5f - top;
  const int x0 = min(max(static_cast<int>(left), 0), width - 1),
            x1 = min(max(static_cast<int>(left) + 1, 0), width - 1);
  const int y0 = min(max(static_cast<int>(top), 0), height - 1),
            y1 = min(max(static_cast<int>(top) + 1, 0), height - 1);
  const float *row0 = in + static_cast<long>(y0) * width, *row1 = in + static_cast<long>(y1) * width;
  const float upper = (1 - a) * row0[x0] + a * row0[x1], lower = (1 - a) * row1[x0] + a * row1[x1];
  out[static_cast<long>(y) * width + x] = (1 - b) * upper + b * lower;
}

// Claim: one fetch a pixel. The texture unit clamps and weights, and an array keeps neighbours in both directions close
// in memory.
__global__ void rotate_texture(cudaTextureObject_t in, float* out, Rotation rotation, int width, int height) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const float2 at = source(rotation, x, y, width, height);
  out[static_cast<long>(y) * width + x] = tex2D<float>(in, at.x, at.y);
}
