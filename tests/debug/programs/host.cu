// Host and device code for host_test.py. Its first argument says how the program goes on.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

struct Pair {
  int count;
  float weight;
  const char* name;
};

__host__ __device__ int twice(int v) {
  int result = 2 * v;  // both sides
  return result;
}

__global__ void fill(int* out, int n) {
  int i = threadIdx.x;               // first line of the kernel
  if (i < n) out[i] = twice(i) + 1;  // store
}

static int sum_of(const int* values, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += values[i];  // add
  }
  return sum;
}

static volatile bool spinning = true;

static void go_wrong(int how) {
  if (how == 1) *reinterpret_cast<volatile int*>(how * 16) = 1;  // null
  if (how == 2) std::abort();
  if (how == 3) throw std::runtime_error("nobody catches this");
  while (how == 4 && spinning) {
  }
  if (how == 5) std::thread([] { std::puts("from a thread"); }).join();  // thread
}

int main(int argc, char** argv) {
  Pair pair = {32, 1.5f, "host"};
  int* device = nullptr;
  cudaMalloc(&device, pair.count * sizeof(int));  // allocation
  fill<<<1, pair.count>>>(device, pair.count);    // launch
  cudaDeviceSynchronize();                        // wait
  int values[32];
  cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost);  // copy
  int sum = sum_of(values, pair.count);
  std::printf("sum %d, twice %d\n", sum, twice(pair.count));  // print
  std::fflush(stdout);
  go_wrong(argc > 1 ? std::atoi(argv[1]) : 0);
  cudaFree(device);
  return 0;
}
