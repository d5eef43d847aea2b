// A domain split by rows: the part of one GPU or one MPI rank, and the sweeps over parts of it.
#pragma once

#include "kernels.cuh"

namespace poisson {

struct Part {
  int first, rows;
};
// The rows of part `index` of `parts`. The first parts take the remainder, one row each.
inline Part part_of(int rows, int parts, int index) {
  const int each = rows / parts, more = rows % parts;
  return {index * each + (index < more ? index : more), each + (index < more ? 1 : 0)};
}

// The part's piece of an array of the whole domain, with one row before and one after it.
template <class T>
std::vector<T> piece(const Grid& whole, const std::vector<T>& array, const Part& part) {
  const auto begin = array.begin() + whole.pitch * part.first;
  return {begin, begin + whole.pitch * (part.rows + 2)};
}

// Claim: the naive sweep over rows `first` to `last - 1` only: a slab, or its interior while its edges travel.
template <class T>
__global__ void jacobi_rows(const T* u, const T* source, T* out, Grid g, int first, int last) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = first + blockIdx.y * kBlockY + threadIdx.y;
  if (y >= last || x >= g.columns) return;
  const long i = g.at(y, x);
  out[i] = relaxed(u[i - g.pitch], u[i + g.pitch], u[i - 1], u[i + 1], source[i]);
}

// Claim: the first and the last row alone, for which the neighbours wait. They are so little work that they can be sent
// while the interior is computed.
template <class T>
__global__ void jacobi_edges(const T* u, const T* source, T* out, Grid g) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= g.columns) return;
  const long i = g.at(blockIdx.y == 0 ? 0 : g.rows - 1, x);
  out[i] = relaxed(u[i - g.pitch], u[i + g.pitch], u[i - 1], u[i + 1], source[i]);
}

template <class T>
void sweep_rows(const T* u, const T* source, T* out, const Grid& g, int first, int last, cudaStream_t stream) {
  if (first >= last) return;
  const dim3 grid(lab::blocks(g.columns, kBlockX), lab::blocks(last - first, kBlockY));
  jacobi_rows<<<grid, dim3(kBlockX, kBlockY), 0, stream>>>(u, source, out, g, first, last);
}
template <class T>
void sweep_edges(const T* u, const T* source, T* out, const Grid& g, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const dim3 grid(lab::blocks(g.columns, kThreads), g.rows > 1 ? 2 : 1);
  jacobi_edges<<<grid, kThreads, 0, stream>>>(u, source, out, g);
}

}  // namespace poisson
