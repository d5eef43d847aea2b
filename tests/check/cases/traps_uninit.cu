// Right: memory that is read before all of it was written, where what was not written decides nothing; and memory that
// is written by something else than a kernel.
#include "cases.h"

struct WithHoles {
  char c;
  double d;
  short s;
};
__global__ void fill_members(WithHoles* data) {
  const int i = threadIdx.x;
  data[i].c = static_cast<char>(i);
  data[i].d = i;
  data[i].s = static_cast<short>(i);
}
__global__ void trap_padding_copied(const WithHoles* from, WithHoles* to) {
  to[threadIdx.x] = from[threadIdx.x];
}
//! C147 at-most INFO uninit-copy-to-host
CASE(C147, "struct with holes copied by kernel and by cudaMemcpy D2H") {
  static WithHoles host[32];
  WithHoles *first, *second;
  cudaMalloc(&first, sizeof host);
  cudaMalloc(&second, sizeof host);
  fill_members<<<1, 32>>>(first);
  trap_padding_copied<<<1, 32>>>(first, second);
  cudaMemcpy(host, second, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(first);
  cudaFree(second);
}

__global__ void fill_xyz(float4* data) {
  data[threadIdx.x].x = 1;
  data[threadIdx.x].y = 2;
  data[threadIdx.x].z = 3;
}
__global__ void trap_vector_load_part_used(const float4* data, float* out) {
  float4 v;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(data + threadIdx.x));
  if (v.x + v.y + v.z > 5) out[threadIdx.x] = v.x;
}
//! C148 clean
CASE(C148, "float4 load, w never written and never used") {
  float4* data;
  float* out = cases::zeros<float>(32);
  cudaMalloc(&data, 32 * sizeof(float4));
  fill_xyz<<<1, 32>>>(data);
  trap_vector_load_part_used<<<1, 32>>>(data, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

// As asm statements, so that the load is not left out where its value is not selected.
__global__ void trap_select_away(const int* data, int n, int* out) {
  const int i = threadIdx.x;
  int loaded, value;
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(loaded) : "l"(data + i));
  asm volatile("{ .reg .pred p;\nsetp.lt.s32 p, %2, %3;\nselp.s32 %0, %1, 7, p; }"
               : "=r"(value)
               : "r"(loaded), "r"(i), "r"(n));
  if (value > 3) out[i] = value;
}
//! C149 clean
CASE(C149, "load of undefined cell, selp takes the other operand") {
  int *data, *out = cases::zeros<int>(32);
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 20 * sizeof(int));
  trap_select_away<<<1, 32>>>(data, 20, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

__global__ void fill_low_bytes(unsigned char* data) {
  data[4 * threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
}
__global__ void trap_mask_away(const volatile unsigned* data, int* out) {
  const unsigned word = data[threadIdx.x];
  if ((word & 0xff) > 3) out[threadIdx.x] = 1;
}
//! C150 clean
CASE(C150, "x & 0xff of a word with one byte written") {
  unsigned* data;
  int* out = cases::zeros<int>(32);
  cudaMalloc(&data, 32 * sizeof(unsigned));
  fill_low_bytes<<<1, 32>>>(reinterpret_cast<unsigned char*>(data));
  trap_mask_away<<<1, 32>>>(data, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

__global__ void trap_bitfield_update(volatile unsigned* data, int field) {
  const unsigned word = data[threadIdx.x];
  data[threadIdx.x] = (word & ~(7u << 3 * field)) | (threadIdx.x & 7) << 3 * field;
}
__global__ void read_bitfield(const volatile unsigned* data, int field, int* out) {
  const unsigned value = data[threadIdx.x] >> 3 * field & 7;
  if (value > 3) out[threadIdx.x] = 1;
}
//! C151 clean
CASE(C151, "3-bit fields of a fresh word set one after the other, then each read") {
  unsigned* data;
  int* out = cases::zeros<int>(32);
  cudaMalloc(&data, 32 * sizeof(unsigned));
  for (int field = 0; field < 10; ++field) trap_bitfield_update<<<1, 32>>>(data, field);
  for (int field = 0; field < 10; ++field) read_bitfield<<<1, 32>>>(data, field, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

__global__ void trap_xor_self(const int* data, int* out) {
  int zero;
  asm volatile("xor.b32 %0, %1, %1;" : "=r"(zero) : "r"(data[threadIdx.x]));
  if (zero == 0) out[threadIdx.x] = 1;
}
//! C152 clean
CASE(C152, "x ^ x of an undefined x as zero") {
  int *data, *out = cases::zeros<int>(32);
  cudaMalloc(&data, 32 * sizeof(int));
  trap_xor_self<<<1, 32>>>(data, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

__global__ void trap_memset_then_atomics(int* bins) {
  atomicAdd(&bins[threadIdx.x % 16], 1);
}
//! C153 clean
CASE(C153, "cudaMemset, then atomicAdd") {
  int* bins;
  cudaMalloc(&bins, 16 * sizeof(int));
  cudaMemset(bins, 0, 16 * sizeof(int));
  trap_memset_then_atomics<<<1, 64>>>(bins);
  cudaDeviceSynchronize();
  cudaFree(bins);
}

__global__ void fill(int* data) {
  data[threadIdx.x] = threadIdx.x;
}
__global__ void use(const int* data, int* out) {
  if (data[threadIdx.x] > 3) out[threadIdx.x] = 1;
}
//! C154 clean
CASE(C154, "memory written by a kernel of another stream, ordered by event") {  // trap_written_by_other_stream
  int *data, *out = cases::zeros<int>(32);
  cudaStream_t first, second;
  cudaEvent_t written;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&written, cudaEventDisableTiming);
  cudaMalloc(&data, 32 * sizeof(int));
  cudaDeviceSynchronize();
  fill<<<1, 32, 0, first>>>(data);
  cudaEventRecord(written, first);
  cudaStreamWaitEvent(second, written, 0);
  use<<<1, 32, 0, second>>>(data, out);
  cudaDeviceSynchronize();
  cudaEventDestroy(written);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(data);
  cudaFree(out);
}

//! C155 clean
CASE(C155, "managed memory filled by the host loop, read by kernel") {  // trap_managed_written_by_host
  int *data, *out = cases::zeros<int>(32);
  cudaMallocManaged(&data, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) data[i] = i;
  use<<<1, 32>>>(data, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

//! C156 clean
CASE(C156, "pinned mapped memory filled by the host") {  // trap_mapped_host_memory
  int *host, *data, *out = cases::zeros<int>(32);
  cudaHostAlloc(&host, 32 * sizeof(int), cudaHostAllocMapped);
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaHostGetDevicePointer(&data, host, 0);
  use<<<1, 32>>>(data, out);
  cudaDeviceSynchronize();
  cudaFreeHost(host);
  cudaFree(out);
}

__device__ int module_count;
__global__ void trap_module_variable_zero(int* out) {
  const int before = atomicAdd(&module_count, 1);
  if (before >= 0) out[threadIdx.x] = before;
}
//! C157 clean
CASE(C157, "__device__ int n; without initialiser is zero") {
  int* out = cases::zeros<int>(32);
  trap_module_variable_zero<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void trap_fresh_memory_kept(int* p, unsigned* flags, const int* in) {
  const int t = threadIdx.x;
  p[t] = in[t] > 0 ? in[t] : p[t];
  flags[t] = (flags[t] & ~7u) | (t & 7u);
  const int row = p[t + 32];
  p[t + 64] = row;
}
//! C203 clean
CASE(C203, "fresh memory written back as it is: kept by a select, moved, with a field of bits set") {
  int *p, *in = cases::zeros<int>(32);
  unsigned* flags;
  cudaMalloc(&p, 96 * sizeof(int));
  cudaMalloc(&flags, 32 * sizeof(unsigned));
  trap_fresh_memory_kept<<<1, 32>>>(p, flags, in);
  cudaDeviceSynchronize();
  cudaFree(p);
  cudaFree(flags);
  cudaFree(in);
}
