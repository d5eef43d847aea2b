// The reference: the same kernel, launched again between events of the driver.
double judge_bandwidth(const float* in, float* out, int n) {
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  copy<<<judge::blocks(n, 256), 256>>>(in, out, n);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float ms = 0;
  cudaEventElapsedTime(&ms, start, stop);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return 2.0 * n * sizeof(float) / (ms / 1000) / 1e9;
}

void judge::test() {
  for (const int n : judge::sizes({100000, 400000}, 1 << 20)) {
    const auto x = judge::numbers(n);
    const judge::Buffer<float> in(x), out(n);
    judge_bandwidth(in, out, n);  // the first launch takes longer
    const double right = judge_bandwidth(in, out, n), got = measured_bandwidth(in, out, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare_value<double>(
        judge::n_is(n) + ", GB/s", got, right,
        {{"Only the bytes read or only those written are counted: a copy does both", {right / 2}},
         {"Milliseconds were taken for seconds", {right / 1000}},
         {"Elements are counted instead of bytes", {right / 4}}},
        0.05);
  }
}
