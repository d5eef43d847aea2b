// The work kernels in OpenCL 1.2, for the peers; kernels.cu and native.cc hold the same algorithms.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void vecadd(__global const float *a, __global const float *b, __global float *c, int n) {
  int i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}
__kernel void mm(__global const float *M, __global const float *N, __global float *P, int W) {
  int x = get_global_id(0), y = get_global_id(1);
  float v = 0;
  for (int k = 0; k < W; k++) v += M[y * W + k] * N[k * W + x];
  P[y * W + x] = v;
}
__kernel void mmt(__global const float *M, __global const float *N, __global float *P, int W) {
  __local float Ms[16][16], Ns[16][16];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * 16 + tx, y = get_group_id(1) * 16 + ty;
  float v = 0;
  for (int m = 0; m < W / 16; m++) {
    Ms[ty][tx] = M[y * W + m * 16 + tx];
    Ns[ty][tx] = N[(m * 16 + ty) * W + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) v += Ms[ty][k] * Ns[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  P[y * W + x] = v;
}
// 32x32 tile, 32x8 threads, padded
__kernel void transpose(__global const float *in, __global float *out, int W) {
  __local float t[32][33];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;
  for (int j = 0; j < 32; j += 8) t[ty + j][tx] = in[(y + j) * W + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 32 + tx; y = get_group_id(0) * 32 + ty;
  for (int j = 0; j < 32; j += 8) out[(y + j) * W + x] = t[tx][ty + j];
}
// 256 threads, 512 elements a group, one partial sum a group
__kernel void reduce(__global const float *in, __global float *out, int n) {
  __local float s[256];
  int t = get_local_id(0), i = get_group_id(0) * 512 + t;
  float v = in[i];
  v += in[i + 256];
  s[t] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = s[0];
}
// 32x8 groups; u, w are W x W, boundary kept
__kernel void jacobi(__global const double *u, __global double *w, int W) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && y > 0 && x < W - 1 && y < W - 1)
    w[y * W + x] = 0.25 * (u[y * W + x - 1] + u[y * W + x + 1] + u[(y - 1) * W + x] + u[(y + 1) * W + x]);
}
