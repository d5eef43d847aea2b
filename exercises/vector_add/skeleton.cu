// c[i] = a[i] + b[i], one thread for each element.
__global__ void add(const float* a, const float* b, float* c, int n) {
  // Which element is this thread's? Write it here.
}
