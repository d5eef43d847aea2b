// Slab of GPU d: rows 1 to m are its own, rows 0 and m + 1 copies of the neighbour's (or the border); n numbers a row.
void exchange(float* const slab[2], int m, int n) {
  const size_t row = n * sizeof(float);
  cudaMemcpyPeer(slab[1], 1, slab[0] + m * n, 0, row);
}
