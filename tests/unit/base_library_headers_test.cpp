// Headers of libraries, whose lines reports leave for the user's.
#include <gtest/gtest.h>

#include "base/library_headers.h"

namespace warpgrind {
namespace {

TEST(BaseLibraryHeaders, OfToolkitsCompilersTheSystemAndOurs) {
  for (const char* file :
       {"/usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_bf16.hpp",
        "/home/me/miniconda3/envs/gpu/targets/x86_64-linux/include/sm_60_atomic_functions.hpp",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/25.1/cuda/12.6/targets/x86_64-linux/include/cooperative_groups.h",
        "/usr/lib/llvm-19/lib/clang/19/include/__clang_cuda_intrinsics.h", "/usr/include/c++/12/complex",
        "/work/build/toolkit/include/warpgrind/narrow_float.inc", "/usr/local/lib/warpgrind/include/mma.h",
        "/home/me/.local/lib/warpgrind/include/cooperative_groups/memcpy_async.h",
        "/src/cccl/libcudacxx/include/cuda/std/__atomic/functions.h", "/src/cccl/libcudacxx/include/cuda/barrier",
        "/src/cub/include/cub/block/block_reduce.cuh", "cuda_fp16.hpp", "include/cuda_pipeline_primitives.h"})
    EXPECT_TRUE(is_library_header(file)) << file;
}

TEST(BaseLibraryHeaders, NotOfTheProgram) {
  for (const char* file :
       {"app.cu", "", "/usr/src/app/main.cu", "/usr/local/src/tool/kernel.cuh", "/opt/project/blur.cu",
        "/home/me/engine/include/cuda/reduce.cuh", "/home/me/engine/device_functions.cuh", "my_cuda_fp16.cu",
        "/home/me/cutlass/include/cutlass/gemm/device/gemm.h", "/home/me/cuda_fp16.cu",
        "/work/warpgrind/lab/harness/program.h"})
    EXPECT_FALSE(is_library_header(file)) << file;
}

}  // namespace
}  // namespace warpgrind
