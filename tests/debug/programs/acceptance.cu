// Values, places and faults that a debugger has to show, one kernel for each kind. acceptance_test.py names its lines.
//   acceptance [KIND]     KIND: a kernel's name, or a fault's; without it all kernels run that make no fault
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "acceptance.h"

struct Point {
  int x, y;
};
struct Box {
  Point low, high;
  char name[8];
};
union Word {
  unsigned bits;
  float number;
  unsigned char bytes[4];
};
struct Header {
  unsigned version : 3;
  unsigned length : 13;
  int offset : 6;
  bool last : 1;
};
struct Node {
  int value;
  Node* next;
};
struct Base {
  int id;
};
struct Derived : Base {
  double weight;
};
enum Colour { red, green = 5, blue };
enum class Level : unsigned char { low = 1, high = 200 };
enum Access { none = 0, read = 1, write = 2, execute = 4 };
namespace paint {
enum Tool { brush = 3, roller };
}

__device__ int table[4] = {10, 20, 30, 40};
__device__ Point corner = {7, 8};
__constant__ float weights[3] = {0.5f, 1.5f, 2.5f};

__global__ void primitives(int* out) {
  int lane = threadIdx.x;
  bool flag = true;
  char letter = 'w';
  signed char i8 = -8;
  unsigned char u8 = 200;
  short i16 = -1600;
  unsigned short u16 = 65000;
  int i32 = -320000;
  unsigned u32 = 4000000000u;
  long long i64 = -6400000000000ll;
  unsigned long long u64 = 18000000000000000000ull;
  float f32 = 1.25f;
  double f64 = -2.5e100;
  __half f16 = __float2half(0.5f);
  __nv_bfloat16 b16 = __float2bfloat16(3.0f);
  out[lane] = static_cast<int>(flag + letter + i8 + u8 + i16 + u16 + i32 + u32 + i64 + u64 + f32 + f64);  // primitives
  out[lane] += static_cast<int>(__half2float(f16) + __bfloat162float(b16));
}

__global__ void arrays(int* out) {
  int lane = threadIdx.x;
  int row[5] = {1, 2, 3, 4, 5};
  float grid[2][3] = {{0.5f, 1.5f, 2.5f}, {3.5f, 4.5f, 5.5f}};
  Point points[3] = {{1, 2}, {3, 4}, {5, 6}};
  char text[6] = "hello";
  row[lane % 5] += lane;
  out[lane] = row[lane % 5] + static_cast<int>(grid[lane % 2][lane % 3]) + points[lane % 3].y + text[lane % 5];  // arrays
}

__global__ void structures(int* out, Node* list) {
  int lane = threadIdx.x;
  Box box = {{1, 2}, {lane + 10, 4}, "box"};
  Word word;
  word.number = 1.0f;
  Header header = {5, 1000, -7, true};
  Derived derived;
  derived.id = lane;
  derived.weight = 0.25;
  Box* pointer = &box;
  out[lane] = pointer->high.x + word.bytes[3] + header.length + derived.id + list->next->value;  // structures
}

__global__ void enumerations(int* out, int shift) {
  int lane = threadIdx.x;
  Colour colour = lane == 0 ? green : blue;
  Level level = static_cast<Level>(199 + shift);
  Access access = static_cast<Access>(read + 4 * shift);
  Access unknown = static_cast<Access>(8 + shift);
  paint::Tool tool = static_cast<paint::Tool>(3 + shift);
  out[lane] = colour + static_cast<int>(level) + access + unknown + tool;  // enumerations
}

__global__ void spaces(int* out, Point given) {
  extern __shared__ int dynamic[];
  __shared__ float tile[32];
  int lane = threadIdx.x;
  int own[4] = {lane, lane + 1, lane + 2, lane + 3};
  tile[lane] = 2.0f * lane;
  dynamic[lane] = 100 + lane;
  int* to_global = out;
  int* to_variable = &table[1];
  float* to_shared = &tile[lane];
  int* to_dynamic = dynamic + lane;
  int* to_local = &own[lane % 4];
  const float* to_constant = &weights[2];
  __syncthreads();
  out[lane] = *to_local + *to_dynamic + static_cast<int>(*to_shared + *to_constant) + *to_variable + given.y + to_global[lane];  // spaces
}

__global__ void functions(int* out) {
  int lane = threadIdx.x;
  int first = scaled<int, 3>(lane);            // functions
  float second = scaled<float, 2>(0.5f * lane);
  int third = cubed_and_one(lane);             // inlined
  int fourth = depth_of(3);
  out[lane] = first + static_cast<int>(second) + third + fourth;
}

__global__ void steps(int* out, int n) {
  int lane = threadIdx.x;
  int sum = 0;                                 // steps
  for (int i = 0; i < n; ++i) {
    sum += i;
  }
  if (lane < 16) {
    sum += 100;
  } else {
    sum += 200;
  }
  sum = scaled<int, 3>(sum);
  out[lane] = sum;
}

template <class T, int size>
__global__ void templates(T* out) {
  T values[size];
  for (int i = 0; i < size; ++i) values[i] = static_cast<T>(i * i);
  out[threadIdx.x] = values[threadIdx.x % size];  // templates
}

__global__ void undefined(int* out, const int* fresh, int n) {
  __shared__ int tile[8];
  int own[4];
  int lane = threadIdx.x;
  if (lane < 2) tile[lane] = lane;
  own[0] = lane;
  int later = fresh[n];                        // undefined
  if (n > 0) own[1] = later;
  out[lane] = later + own[1] + tile[lane % 2];
}

__global__ void narrow(int* out) {
  __shared__ __nv_fp8_e4m3 eights[8];
  __shared__ __half2 pairs[4];
  int lane = threadIdx.x;
  if (lane < 8) eights[lane] = __nv_fp8_e4m3(0.5f * lane);
  if (lane < 4) pairs[lane] = __floats2half2_rn(lane, 0.25f);
  __syncthreads();
  out[lane] = static_cast<int>(static_cast<float>(eights[lane % 8])) + static_cast<int>(__low2float(pairs[lane % 4]));  // narrow
}

__global__ void faults(int* out, int how) {
  __shared__ int tile[32];
  int lane = threadIdx.x;
  tile[lane] = lane;
  if (how == 1) assert(lane != 7 && "seven");  // asserts
  if (how == 2 && lane == 9) __trap();         // traps
  if (how == 3) out[lane < 5 ? lane : 100000 + lane] = 1;  // out of bounds
  if (how == 4) tile[lane * 3] = 1;            // shared
  int* pointer = lane == 11 ? nullptr : out;
  if (how == 5) pointer[lane] = 1;             // null
  if (how == 6) *reinterpret_cast<int*>(reinterpret_cast<char*>(out) + lane) = 1;  // misaligned
  out[lane] = tile[lane];
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "all";
  const auto chosen = [&](const char* name) { return !std::strcmp(kind, "all") || !std::strcmp(kind, name); };
  int *out, *fresh;
  Node* list;
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMalloc(&fresh, 64 * sizeof(int));
  cudaMalloc(&list, 2 * sizeof(Node));
  cudaMemset(out, 0, 32 * sizeof(int));
  cudaMemset(fresh, 0, 8 * sizeof(int));
  const Node nodes[2] = {{1, list + 1}, {2, nullptr}};
  cudaMemcpy(list, nodes, sizeof nodes, cudaMemcpyHostToDevice);
  if (chosen("primitives")) primitives<<<1, 32>>>(out);
  if (chosen("arrays")) arrays<<<1, 32>>>(out);
  if (chosen("structures")) structures<<<1, 32>>>(out, list);
  if (chosen("enumerations")) enumerations<<<1, 32>>>(out, 1);
  if (chosen("spaces")) spaces<<<1, 32, 32 * sizeof(int)>>>(out, Point{3, 4});
  if (chosen("functions")) functions<<<1, 32>>>(out);
  if (chosen("steps")) steps<<<1, 32>>>(out, 3);
  if (chosen("templates")) templates<float, 4><<<1, 32>>>(reinterpret_cast<float*>(out));
  if (chosen("undefined")) undefined<<<1, 32>>>(out, fresh, 40);
  if (chosen("narrow")) narrow<<<1, 32>>>(out);
  const char* const wrong[] = {"assert", "trap", "bounds", "shared", "null", "misaligned"};
  for (int how = 1; how <= 6; ++how)
    if (!std::strcmp(kind, wrong[how - 1])) faults<<<1, 32>>>(out, how);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
