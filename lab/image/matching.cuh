// Where is this piece in the image? Normalised cross-correlation of a piece of up to 16 x 16 with every place: 1 where
// they are equal up to brightness and contrast, 0 on flat places. All sums are whole numbers and exact. Blocks of 32
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

// n * sum(ab) - sum(a) * sum(b): at most 256 * 256 * 255 * 255, which 32 bits without sign just hold.
__device__ inline float score(const Piece& piece, unsigned sum, unsigned squares, unsigned products) {
  const unsigned n = piece.rows * piece.columns, variance = n * squares - sum * sum;
  const long long covariance = static_cast<long long>(n * products) - static_cast<long long>(sum * piece.sum);
  return variance == 0 ? 0 : static_cast<float>(covariance) / sqrtf(static_cast<float>(variance)) * piece.scale;
}

// Claim: two bytes of global memory for each product: 512 requests a warp.
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

// Claim: the piece in constant memory, the same byte for all lanes at once: half of the requests are gone.
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

// Claim: the block's part of the image in shared memory: 23 x 47 loads for 8 x 32 places of 256 pixels each, 4.2 a
// place and not 256. Four lanes share a word of it, which is a broadcast and no conflict.
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
