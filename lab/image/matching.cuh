// Search for a piece in the image: normalised cross-correlation of a piece of up to 16 x 16 with every place. The score
// is 1 if they are equal up to brightness and contrast, 0 on flat places. All sums are integers and exact. Blocks of 32
// x 8.
#pragma once

#include "image/convolution.cuh"

namespace image {

constexpr int kPiece = 16;

struct Piece {
  int rows, columns;  // at most kPiece each
  unsigned sum;       // of its pixels
  float scale;        // 1 / sqrt(n * sum of squares - sum^2), 0 for a flat piece
};

__constant__ unsigned char piece_pixels[kPiece * kPiece];

// n * sum(ab) - sum(a) * sum(b) is at most 256 * 256 * 255 * 255, which just fits in 32 unsigned bits.
__device__ inline float score(const Piece& piece, unsigned sum, unsigned squares, unsigned products) {
  const unsigned n = piece.rows * piece.columns, variance = n * squares - sum * sum;
  const long long covariance = static_cast<long long>(n * products) - static_cast<long long>(sum * piece.sum);
  return variance == 0 ? 0 : static_cast<float>(covariance) / sqrtf(static_cast<float>(variance)) * piece.scale;
}

// Claim: each product reads two bytes of global memory: 512 requests a warp.
__global__ void match_global(const unsigned char* in, const unsigned char* pixels, float* out, Piece piece, int rows,
                             int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  const int places = columns - piece.columns + 1;
  if (c >= places || r > rows - piece.rows) return;
  unsigned sum = 0, squares = 0, products = 0;
  for (int y = 0; y < piece.rows; ++y)
    for (int x = 0; x < piece.columns; ++x) {
      const unsigned pixel = in[(r + y) * columns + c + x];
      sum += pixel;
      squares += pixel * pixel;
      products += pixel * pixels[y * piece.columns + x];
    }
  out[r * places + c] = score(piece, sum, squares, products);
}

// Claim: the piece is in constant memory, and all lanes read the same byte at once: half of the requests are gone.
__global__ void match_constant(const unsigned char* in, float* out, Piece piece, int rows, int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  const int places = columns - piece.columns + 1;
  if (c >= places || r > rows - piece.rows) return;
  unsigned sum = 0, squares = 0, products = 0;
  for (int y = 0; y < piece.rows; ++y)
    for (int x = 0; x < piece.columns; ++x) {
      const unsigned pixel = in[(r + y) * columns + c + x];
      sum += pixel;
      squares += pixel * pixel;
      products += pixel * piece_pixels[y * piece.columns + x];
    }
  out[r * places + c] = score(piece, sum, squares, products);
}

// Claim: the block's part of the image is in shared memory: 23 x 47 loads for 8 x 32 places of 256 pixels each, 4.2 a
// place instead of 256. Four lanes read the same word, which is a broadcast and no conflict.
__global__ void match_shared(const unsigned char* in, float* out, Piece piece, int rows, int columns) {
  constexpr int kRows = kTileY + kPiece - 1, kColumns = kTileX + kPiece - 1;
  __shared__ unsigned char tile[kRows][kColumns];
  const int first_row = blockIdx.y * kTileY, first_column = blockIdx.x * kTileX;
  for (int y = threadIdx.y; y < kRows; y += kTileY)
    for (int x = threadIdx.x; x < kColumns; x += kTileX)
      tile[y][x] = in[inside(first_row + y, rows) * columns + inside(first_column + x, columns)];
  __syncthreads();
  const int c = first_column + threadIdx.x, r = first_row + threadIdx.y;
  const int places = columns - piece.columns + 1;
  if (c >= places || r > rows - piece.rows) return;
  unsigned sum = 0, squares = 0, products = 0;
  for (int y = 0; y < piece.rows; ++y)
    for (int x = 0; x < piece.columns; ++x) {
      const unsigned pixel = tile[threadIdx.y + y][threadIdx.x + x];
      sum += pixel;
      squares += pixel * pixel;
      products += pixel * piece_pixels[y * piece.columns + x];
    }
  out[r * places + c] = score(piece, sum, squares, products);
}

}  // namespace image
