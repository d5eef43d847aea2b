// Matrix multiplication C = A B in half and bfloat16 with sums in float, row-major: from a thread an element to tensor
// copies, products of warpgroups, clusters and persistent blocks, beside cuBLAS.
#include <cuda.h>

#include "harness/blas.h"
#include "harness/harness.h"
#include "harness/product.h"
#include "hgemm/tensor_cores.cuh"
#include "hgemm/warpgroups.cuh"

namespace {

using lab::Role;

const lab::Topic kTopic = {
    .name = "hgemm",
    .title = "matrix multiplication in half and bfloat16: tensor copies, warpgroups, clusters",
    .document = "beyond the documents",
    .shows =
        "What made each generation of products faster: tensor cores, copies that run ahead, and on compute capability "
        "9.0 warpgroups that multiply tiles in shared memory while other warps bring the next ones.",
    .size_names = "MxNxK",
    .quick_sizes = "256x512x128,200x264x72",
    .full_sizes = "1024,2048,4096,8192,1000x1032x520",
    .large_sizes = "2048",
    .types = "half,bfloat16",
    .rungs = {{"one element", "one thread per element: two loads per multiply-add"},
              {"tile", "tiles of 32 x 32 in shared memory"},
              {"tensor cores", "products of warps, 16 x 8 x 16 an instruction; each pair of tiles is waited for"},
              {"stages", "asynchronous copies, three pairs of tiles ahead"},
              {"warpgroups", "one tensor copy brings a tile; products of warpgroups, 64 x 256 x 16 an instruction"},
              {"ring", "a warp of its own copies; two warpgroups multiply; mbarriers pass stages between them"},
              {"clusters", "two blocks share each tile of B: each copies half of it to both"},
              {"persistent", "as many blocks as fit take tile after tile and store by tensor copies"},
              {"cublas", "cuBLAS, row-major by swapping the operands", Role::library}},
};

template <class T>
constexpr bool kHalf = std::is_same_v<T, __half>;

// A row-major matrix of rows x columns, in boxes of box_rows x 64 elements, swizzled by 128 bytes.
template <class T>
CUtensorMap tensor_map(const T* data, int rows, int columns, int box_rows) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                              const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static Encode encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) {
      std::fprintf(stderr, "the driver has no cuTensorMapEncodeTiled\n");
      std::exit(lab::kExitCuda);
    }
    return reinterpret_cast<Encode>(function);
  }();
  CUtensorMap map;
  const cuuint64_t sizes[] = {cuuint64_t(columns), cuuint64_t(rows)}, stride = columns * sizeof(T);
  const cuuint32_t box[] = {64, cuuint32_t(box_rows)}, every[] = {1, 1};
  const CUresult result =
      encode(&map, kHalf<T> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2,
             const_cast<T*>(data), sizes, &stride, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", result);
    std::exit(lab::kExitCuda);
  }
  return map;
}

// Data that all rows of one size share.
template <class T>
struct Bench {
  Bench(lab::Program& in, const lab::Size& size_, const char* type_)
      : program(in),
        size(size_),
        type(type_),
        product(size_, {[](float v) { return static_cast<float>(static_cast<T>(v)); }, kHalf<T> ? 0x1p-11 : 0x1p-8}),
        m(product.m),
        n(product.n),
        k(product.k),
        a(narrowed(product.a), size_t(m) * k),
        b(narrowed(product.b), size_t(k) * n),
        c(size_t(m) * n) {}

  static std::vector<T> narrowed(const std::vector<float>& v) { return std::vector<T>(v.begin(), v.end()); }
  lab::Case row(const char* rung) const {
    return {rung, size, type, {sizeof(T) * product.elements(), 2.0 * m * n * k}};
  }
  template <class Launch>
  void measure(const char* rung, Launch launch) {
    program.run(
        row(rung), [&] { c.poison(); }, launch,
        [&] {
          const std::vector<T> out = c.host();
          return product.verify(std::vector<float>(out.begin(), out.end()));
        });
  }
  // Tensor copies and 16-byte copies need rows that are aligned to 16 bytes. Returns whether the row runs.
  bool takes(const char* rung, int major, bool only) {
    const int has = lab::device_attribute(cudaDevAttrComputeCapabilityMajor);
    const std::string needed = std::to_string(major) + ".0";
    if (only ? has != major : has < major)
      program.skip(row(rung), only ? "products of warpgroups are of compute capability 9.0 and no other"
                                   : "this GPU lacks its instructions: compute capability " + needed + " up");
    else if (n % 8 != 0 || k % 8 != 0)
      program.skip(row(rung), "rows must be aligned to 16 bytes: N and K multiples of 8");
    else
      return true;
    return false;
  }

  lab::Program& program;
  const lab::Size size;
  const char* type;
  const lab::Product<float> product;
  const int m, n, k;
  lab::DeviceArray<T> a, b, c;
};

template <class T, int kStages>
void run_warps(Bench<T>& bench, const char* rung) {
  using Tiles = WarpTiles;
  if (!bench.takes(rung, 8, false)) return;
  constexpr int kShared = kStages * Tiles::kBytes;
  const auto kernel = hgemm_warps<T, kStages>;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const int grid = lab::blocks(bench.m, Tiles::kTileM) * lab::blocks(bench.n, Tiles::kTileN);
  bench.measure(rung, [&] {
    kernel<<<grid, Tiles::kThreads, kShared>>>(bench.a.data(), bench.b.data(), bench.c.data(), bench.m, bench.n,
                                               bench.k);
  });
}

// The maps of the three matrices.
template <class T>
struct Maps {
  explicit Maps(const Bench<T>& bench)
      : a(tensor_map(bench.a.data(), bench.m, bench.k, WarpgroupTiles::kTileM)),
        b(tensor_map(bench.b.data(), bench.k, bench.n, WarpgroupTiles::kTileK)),
        c(tensor_map(bench.c.data(), bench.m, bench.n, WarpgroupTiles::kRowsEach)) {}
  CUtensorMap a, b, c;
};

template <class T>
void run_one_stage(Bench<T>& bench) {
  using Tiles = WarpgroupTiles;
  if (!bench.takes("warpgroups", 9, true)) return;
  constexpr int kShared = Tiles::kBytes + Tiles::kAlign;
  CHECK_CUDA(cudaFuncSetAttribute(hgemm_one_stage<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  const Maps<T> maps(bench);
  const int grid = lab::blocks(bench.m, Tiles::kTileM) * lab::blocks(bench.n, Tiles::kTileN);
  bench.measure("warpgroups", [&] {
    hgemm_one_stage<T><<<grid, 256, kShared>>>(maps.a, maps.b, bench.c.data(), bench.m, bench.n, bench.k);
  });
}

// As few clusters as need no more rounds than all that fit would: 2048 tiles are 16 rounds of 128 blocks as of 132, and
// those of 128 begin and end together, in a square of C.
int clusters_at_once(int clusters, int blocks_each) {
  const int fit = std::max(1, lab::device_attribute(cudaDevAttrMultiProcessorCount) / blocks_each);
  return lab::blocks(clusters, lab::blocks(clusters, fit));
}

template <class Shape, class T>
void run_ring(Bench<T>& bench, const char* rung) {
  using Tiles = WarpgroupTiles;
  if (!bench.takes(rung, 9, true)) return;
  const auto kernel = hgemm_ring<T, Shape>;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kShared));
  const Maps<T> maps(bench);
  const int clusters = lab::blocks(bench.m, Tiles::kTileM * Shape::kCluster) * lab::blocks(bench.n, Tiles::kTileN);
  const int grid = Shape::kCluster * (Shape::kPersistent ? clusters_at_once(clusters, Shape::kCluster) : clusters);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = Shape::kCluster;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(Shape::kThreads);
  config.dynamicSmemBytes = Shape::kShared;
  config.attrs = &cluster;
  config.numAttrs = 1;
  bench.measure(rung, [&] {
    CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, maps.a, maps.b, maps.c, bench.c.data(), bench.m, bench.n, bench.k));
  });
}

template <class T>
void run_type(lab::Program& program, const char* type, lab::Cublas& cublas) {
  for (const lab::Size& size : program.sizes()) {
    const double mk = double(size[0]) * size[2], kn = double(size[2]) * size[1], mn = double(size[0]) * size[1];
    if (!program.fits(size, sizeof(T) * (mk + kn + mn), (sizeof(T) + sizeof(float)) * (mk + kn) + 40 * mn)) continue;
    Bench<T> bench(program, size, type);
    const int m = bench.m, n = bench.n, k = bench.k;
    bench.measure("one element", [&] {
      hgemm_one_element<<<dim3(lab::blocks(n, 32), lab::blocks(m, 8)), dim3(32, 8)>>>(bench.a.data(), bench.b.data(),
                                                                                      bench.c.data(), m, n, k);
    });
    bench.measure("tile", [&] {
      hgemm_tile<<<dim3(lab::blocks(n, 32), lab::blocks(m, 32)), dim3(32, 32)>>>(bench.a.data(), bench.b.data(),
                                                                                 bench.c.data(), m, n, k);
    });
    run_warps<T, 1>(bench, "tensor cores");
    run_warps<T, 4>(bench, "stages");
    run_one_stage(bench);
    run_ring<Ring<4, 1, false>>(bench, "ring");
    run_ring<Ring<4, 2, false>>(bench, "clusters");
    run_ring<Ring<3, 2, true>>(bench, "persistent");
    if (cublas.missing().empty())
      bench.measure("cublas", [&] { cublas.multiply(bench.a.data(), bench.b.data(), bench.c.data(), m, n, k); });
    else
      program.skip(bench.row("cublas"), cublas.missing());
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  lab::Cublas cublas;
  for (const std::string& type : program.types())
    if (type == "half")
      run_type<__half>(program, "half", cublas);
    else
      run_type<__nv_bfloat16>(program, "bfloat16", cublas);
  return program.finish();
}
