// c[i] = a[i] + b[i], one thread for each element.
__global__ void add(const float* a, const float* b, float* c, int n) {
  // Which element does this thread compute? Write it here.
}
