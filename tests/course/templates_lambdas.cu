// C++ on the device: templates, lambdas with captures, virtual functions, function pointers, operators, new and delete,
// recursion, constexpr of the host's.
#include <type_traits>

#include "check.h"

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};
constexpr int twice(int v) {
  return 2 * v;
}
__device__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ int plus_one(int v) {
  return v + 1;
}
__device__ int times_two(int v) {
  return v * 2;
}
template <class... T>
__device__ auto sum(T... v) {
  return (v + ...);
}
template <class F>
__global__ void apply(F f, float* out) {
  out[threadIdx.x] = f(threadIdx.x);
}
__global__ void features(float* out) {
  Shape* shapes[2] = {new Square(3), new Circle(2)};
  out[0] = shapes[threadIdx.x % 2]->area();
  out[1] = shapes[1]->area();
  delete shapes[0];
  delete shapes[1];
  int (*const functions[])(int) = {plus_one, times_two};
  out[2] = functions[blockIdx.x](20) + functions[1](functions[0](4));
  out[3] = fibonacci(10);
  out[4] = sum(1, 2.5f, 3u);
  out[5] = twice(21);
  out[6] = std::is_same<decltype(sum(1, 2)), int>::value;
  int* array = new int[5]{1, 2, 3, 4, 5};
  out[7] = array[4];
  delete[] array;
  auto square = [](auto v) { return v * v; };
  out[8] = square(1.5f) + square(2);
}

int main() {
  float out[32], *device;
  CHECK(cudaMalloc(&device, sizeof out));
  const float offset = 10;
  apply<<<1, 32>>>([offset] __device__(int i) { return i + offset; }, device);
  CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) expect_equal("lambda", i, out[i], i + 10);
  features<<<1, 1>>>(device);
  CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
  const double expected[] = {9, 12, 21 + 10, 55, 6.5, 42, 1, 5, 6.25};
  for (int i = 0; i < 9; i++) expect_equal("features", i, out[i], expected[i]);
  std::printf("templates and lambdas: right\n");
}
