void judge::test() {
  const int m = 5;
  for (const int n : judge::sizes({1, 16, 100}, 1000)) {
    std::vector<float> before[2], right[2];
    float* slab[2];
    for (int d = 0; d < 2; ++d) {
      before[d] = right[d] = judge::numbers((m + 2) * n, d + 1);
      cudaSetDevice(d);
      cudaMalloc(&slab[d], before[d].size() * sizeof(float));
      cudaMemcpy(slab[d], before[d].data(), before[d].size() * sizeof(float), cudaMemcpyHostToDevice);
    }
    if (judge::expecting()) {
      std::copy_n(&before[1][n], n, &right[0][(m + 1) * n]);
      std::copy_n(&before[0][m * n], n, &right[1][0]);
    }
    cudaSetDevice(0);
    exchange(slab, m, n);
    const bool fine = judge::ran("rows of " + std::to_string(n));
    for (int d = 0; d < 2; ++d) {
      std::vector<float> got(before[d].size());
      cudaSetDevice(d);
      cudaDeviceSynchronize();
      cudaMemcpy(got.data(), slab[d], got.size() * sizeof(float), cudaMemcpyDeviceToHost);
      cudaFree(slab[d]);
      if (fine)
        judge::compare("rows of " + std::to_string(n) + ", GPU " + std::to_string(d), got, right[d], n,
                       {{"Nothing was exchanged", before[d]}});
    }
    cudaSetDevice(0);
  }
}
