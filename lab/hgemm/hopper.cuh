// The instructions of the rungs for compute capability 9.0: products of warpgroups, tensor copies and mbarriers.
#pragma once

#include "gemm/fitted.cuh"
#include "hgemm/types.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define HGEMM_HOPPER 1  // wgmma, setmaxnreg: only in code for sm_90a
#endif

// Descriptor of a matrix in shared memory, of rows of 128 bytes, swizzled by 128 bytes. `across`: bytes from 8 rows to
// the next 8 rows. `along`: bytes from 64 columns to the next 64, where the columns are not the steps.
__device__ __forceinline__ unsigned long swizzled_matrix(uint32_t address, uint32_t along, uint32_t across) {
  constexpr unsigned long kSwizzle128 = 1ul << 62;
  constexpr uint32_t kInBlock = 0x3ffff;  // addresses in a cluster may have the number of the block in higher bits
  return kSwizzle128 | static_cast<unsigned long>(across / 16) << 32 | along / 16 << 16 | (address & kInBlock) / 16;
}

// 64 x 256 sums of a warpgroup: a thread of warp w holds rows 16 w + g and 16 w + g + 8 (g = lane / 4). d[4 x + 2 h +
// i] is column 8 x + 2 (lane % 4) + i of row g + 8 h.
using WarpgroupSums = float[128];

#define HGEMM_SUMS_TEXT                                                                                  \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, " \
  "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, " \
  "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, " \
  "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
  "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, "     \
  "%101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, "     \
  "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HGEMM_SUMS                                                                                                    \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),         \
      "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),          \
      "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),         \
      "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),         \
      "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),         \
      "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),         \
      "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),         \
      "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]),         \
      "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]),         \
      "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]),         \
      "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]),         \
      "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]),         \
      "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]),    \
      "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), \
      "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), \
      "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

// d = A B, or d += A B if `add`. A is 64 x 16, its rows in steps; B is 16 x 256, its rows in columns.
template <class T>
__device__ __forceinline__ void warpgroup_product(WarpgroupSums& d, unsigned long a, unsigned long b, bool add) {
#ifdef HGEMM_HOPPER
  if constexpr (std::is_same_v<T, __half>)
    asm volatile(
        "{.reg .pred add; setp.ne.s32 add, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" HGEMM_SUMS_TEXT "}, %128, %129, add, 1, 1, 0, 1;}"
        : HGEMM_SUMS
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
  else
    asm volatile(
        "{.reg .pred add; setp.ne.s32 add, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" HGEMM_SUMS_TEXT "}, %128, %129, add, 1, 1, 0, 1;}"
        : HGEMM_SUMS
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
#else
  __trap();
#endif
}
#undef HGEMM_SUMS_TEXT
#undef HGEMM_SUMS

__device__ __forceinline__ void begin_products() {
#ifdef HGEMM_HOPPER
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void end_products() {
#ifdef HGEMM_HOPPER
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
// Waits until all groups but the last one are done. The sums are not touched: the last group still writes them.
__device__ __forceinline__ void await_products_before() {
#ifdef HGEMM_HOPPER
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#endif
}
__device__ __forceinline__ void await_products(WarpgroupSums& d) {
#ifdef HGEMM_HOPPER
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (float& v : d) asm volatile("" : "+f"(v)::"memory");
#endif
}

// Takes or gives back registers, up to kCount a thread: all warps of a warpgroup.
template <int kCount>
__device__ __forceinline__ void take_registers() {
#ifdef HGEMM_HOPPER
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
#endif
}
template <int kCount>
__device__ __forceinline__ void give_registers() {
#ifdef HGEMM_HOPPER
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
#endif
}

// Copies the box at (column, row) to shared memory; its bytes arrive at the mbarrier.
__device__ __forceinline__ void copy_box(uint32_t to, const void* map, int column, int row, uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
#endif
}
// The same to the same place in all blocks of the cluster whose bit is set in `blocks`.
__device__ __forceinline__ void copy_box_to_all(uint32_t to, const void* map, int column, int row, uint32_t barrier,
                                                uint16_t blocks) {
#ifdef HGEMM_HOPPER  // ptxas advises against it for sm_90
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier), "h"(blocks)
      : "memory");
#endif
}
__device__ __forceinline__ void store_box(const void* map, int column, int row, uint32_t from) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(column), "r"(row), "r"(from)
               : "memory");
#endif
}
__device__ __forceinline__ void commit_stores() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
// Waits until the stores of this thread have read their source.
__device__ __forceinline__ void await_stores_read() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}
// Makes ordinary writes to shared memory visible to the stores that this thread starts afterwards.
__device__ __forceinline__ void show_writes_to_copies() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

__device__ __forceinline__ void expect_bytes(uint32_t barrier, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{.reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;}" ::"r"(barrier),
               "r"(bytes)
               : "memory");
#endif
}
// Arrives at the barrier at the same place in block `block` of the cluster. The scope is the default, the block: it
// says nothing about this thread's writes, and there are none. `.release.cluster` would make them visible first, by a
// fence that waits about as long as a stage takes to multiply.
__device__ __forceinline__ void arrive_at(uint32_t barrier, int block) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(barrier),
      "r"(block)
      : "memory");
#endif
}
// Shows barriers that this thread has initialised to copies and to the other blocks of the cluster.
__device__ __forceinline__ void show_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
__device__ __forceinline__ void sync_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ int block_in_cluster() {
  int rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

// Stores four matrices of 8 x 8 elements to shared memory, one row of 16 bytes at the address of each lane.
__device__ __forceinline__ void store_matrices(uint32_t to, uint32_t v0, uint32_t v1, uint32_t v2, uint32_t v3) {
#if __CUDA_ARCH__ >= 900
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v0), "r"(v1), "r"(v2),
               "r"(v3)
               : "memory");
#endif
}
