// Shuffles, votes, matches and reductions of a warp, integer intrinsics, and atomics of all types.
#include <climits>

#include "check.h"

__global__ void warp(long long* out, double* values) {
  const int lane = threadIdx.x;
  const unsigned all = 0xffffffffu;
  long long* mine = out + lane * 16;
  mine[0] = __shfl_sync(all, lane * 3, 7);
  mine[1] = __shfl_up_sync(all, (long long)lane << 40, 2);
  mine[2] = __shfl_down_sync(all, (unsigned)lane, 3, 16);
  mine[3] = (long long)__shfl_xor_sync(all, lane + 0.5, 5);
  mine[4] = __ballot_sync(all, lane % 3 == 0);
  mine[5] = __all_sync(all, lane >= 0) * 2 + __any_sync(all, lane == 99);
  mine[6] = __match_any_sync(all, lane / 8);
  int same = 0;
  mine[7] = (long long)__match_all_sync(all, 5, &same) + same;
  mine[8] = __reduce_add_sync(all, lane);
  mine[9] = __reduce_max_sync(all, -lane);
  mine[10] = __brev(1u << lane);
  mine[11] = __popc(lane) * 1000 + __clz(lane) * 10 + __ffs(lane);
  mine[12] = __byte_perm(0x33221100u, 0x77665544u, 0x7531u);
  mine[13] = __umulhi(0xffffffffu, lane + 1) + __mul24(lane, 3) + __dp4a(0x01010101, 0x02020202, lane);
  mine[14] = __funnelshift_l(0x80000000u, 1u, lane % 4) + __vadd2(0x00010002u, 0x00030004u);
  mine[15] = __activemask();
  values[lane] = __shfl_sync(all, lane * 0.25, (lane + 1) % 32);
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d, unsigned short* s) {
  const int t = threadIdx.x;
  atomicAdd(i, t);
  atomicMax(i + 1, t);
  atomicMin(i + 2, -t);
  atomicSub(i + 3, 1);
  atomicInc(u, 9);
  atomicDec(u + 1, 50);
  atomicOr(u + 2, 1u << (t % 32));
  atomicAnd(u + 3, ~(1u << (t % 32)));
  atomicXor_block(u + 4, 1u << (t % 5));
  atomicAdd(l, (unsigned long long)t << 32);
  atomicMax(l + 1, (unsigned long long)t << 33);
  atomicAdd(f, 0.5f);
  atomicAdd_system(d, 0.25);
  unsigned long long old = l[2], assumed;
  do {
    assumed = old;
    old = atomicCAS(l + 2, assumed, assumed + 3);
  } while (assumed != old);
  if (t == 0) atomicCAS(s, (unsigned short)7, (unsigned short)9), atomicExch(i + 4, 77);
}

int main() {
  long long out[32][16], *device;
  double values[32], *device_values;
  CHECK(cudaMalloc(&device, sizeof out));
  CHECK(cudaMalloc(&device_values, sizeof values));
  warp<<<1, 32>>>(device, device_values);
  CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(values, device_values, sizeof values, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) {
    expect_equal("shfl", i, out[i][0], 21);
    expect_equal("shfl_up", i, out[i][1], (double)((long long)(i < 2 ? i : i - 2) << 40));
    expect_equal("shfl_down", i, out[i][2], i % 16 + 3 < 16 ? i + 3 : i);
    expect_equal("shfl_xor", i, out[i][3], i ^ 5);
    expect_equal("ballot", i, out[i][4], 0x49249249u);
    expect_equal("all, any", i, out[i][5], 2);
    expect_equal("match_any", i, out[i][6], 0xffu << (i / 8 * 8));
    expect_equal("match_all", i, out[i][7], 4294967296.0);
    expect_equal("reduce_add", i, out[i][8], 496);
    expect_equal("reduce_max", i, out[i][9], 0);
    expect_equal("brev", i, out[i][10], 1u << (31 - i));
    expect_equal("popc, clz, ffs", i, out[i][11],
                 __builtin_popcount(i) * 1000 + (i ? __builtin_clz(i) : 32) * 10 + __builtin_ffs(i));
    expect_equal("byte_perm", i, out[i][12], 0x77553311);
    expect_equal("mulhi, mul24, dp4a", i, out[i][13], i + 3 * i + 8 + i);
    expect_equal("funnelshift, vadd2", i, out[i][14],
                 (unsigned)((1u << (i % 4)) | (i % 4 ? 0x80000000u >> (32 - i % 4) : 0)) + 0x00040006u);
    expect_equal("activemask", i, out[i][15], 0xffffffffu);
    expect_equal("shfl of double", i, values[i], (i + 1) % 32 * 0.25);
  }
  struct {
    int i[5] = {0, 0, 0, 1000, 0};
    unsigned u[5] = {0, 20, 0, 0xffffffffu, 0};
    unsigned long long l[3] = {0, 0, 5};
    float f = 0;
    double d = 0;
    unsigned short s[2] = {7, 0};
  } h, *p;
  CHECK(cudaMalloc(&p, sizeof h));
  CHECK(cudaMemcpy(p, &h, sizeof h, cudaMemcpyHostToDevice));
  atomics<<<1, 100>>>(p->i, p->u, p->l, &p->f, &p->d, p->s);
  CHECK(cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost));
  const double expected[] = {4950, 99, -99, 900, 77};
  for (int i = 0; i < 5; i++) expect_equal("atomics of int", i, h.i[i], expected[i]);
  expect_equal("atomicInc", 0, h.u[0], 0);
  expect_equal("atomicDec", 0, h.u[1], 22);
  expect_equal("atomicOr", 0, h.u[2], 0xffffffffu);
  expect_equal("atomicAnd", 0, h.u[3], 0);
  expect_equal("atomicXor_block", 0, h.u[4], 0);
  expect_equal("atomicAdd of 64 bits", 0, (double)h.l[0], 4950.0 * 4294967296.0);
  expect_equal("atomicMax of 64 bits", 0, (double)h.l[1], 99.0 * 8589934592.0);
  expect_equal("atomicCAS", 0, (double)h.l[2], 305);
  expect_equal("atomicAdd of float", 0, h.f, 50);
  expect_equal("atomicAdd of double", 0, h.d, 25);
  expect_equal("atomicCAS of 16 bits", 0, h.s[0], 9);
  std::printf("warp intrinsics: right\n");
}
