// Tensor copies, bulk copies, products of warpgroups, and rings of both: for lab/results/h200/asynchronous.csv.
//   asynchronous count [PART]            each case once, small; prints the cases in the order of their kernels (for
//   ncu) asynchronous time REPEATS [PART]     times between events, at several grids and sizes: medians of the
//   repetitions
// PART: only the cases whose names begin with it.
#include <cuda.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "asynchronous_copies.cuh"
#include "asynchronous_products.cuh"

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cudaError_t error = call;                                                                   \
    if (error != cudaSuccess) fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)), exit(1); \
  } while (0)

__global__ void flush(const float4* from, long n, float* sink) {
  float sum = 0;
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) sum += from[i].x;
  if (sum == 1) *sink = sum;
}

struct Options {
  bool count = false;
  int repeats = 5;
  std::string part;
};
static Options options;
static unsigned char *memory, *flushed;
static double* sink;
static size_t kMemory = 1100u << 20, kFlushed = 192u << 20;
static cudaEvent_t begin_event, end_event;

static bool wanted(const std::string& name) {
  return name.compare(0, options.part.size(), options.part) == 0;
}

// Launches `launch` and prints a row. bytes: what the launch moves. operations: of its products.
template <class Launch>
void measure(const std::string& name, int blocks, int threads, double bytes, double operations, Launch launch) {
  std::vector<float> times;
  const int n = options.count ? 1 : options.repeats;
  for (int r = 0; r < n; ++r) {
    if (!options.count) flush<<<528, 512>>>((const float4*)flushed, (long)(kFlushed / 16), (float*)sink);
    CHECK(cudaEventRecord(begin_event));
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end_event));
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
      printf("%s: %s\n", name.c_str(), cudaGetErrorString(error));
      exit(1);
    }
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin_event, end_event));
    times.push_back(ms * 1e3f);
  }
  std::sort(times.begin(), times.end());
  printf("%s,%d,%d,%.0f,%.0f,%.2f,%.2f\n", name.c_str(), blocks, threads, bytes, operations, times[times.size() / 2],
         times[0]);
  fflush(stdout);
}

typedef CUresult (*Encode)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                           const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Encode encode;

struct Tensor {
  const char* name;
  CUtensorMapDataType type;
  int element, dims;
  int box[5];
  CUtensorMapSwizzle swizzle;
  int first[5] = {};
  int stride[5] = {1, 1, 1, 1, 1};
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  int inner_tiles = 4;  // boxes along dimension 0
  bool beyond = false;  // the last box of each of the outer dimensions lies half outside
};

static const auto F32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
static const auto F16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
static const auto U8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
static const auto NONE = CU_TENSOR_MAP_SWIZZLE_NONE;
static const auto S32 = CU_TENSOR_MAP_SWIZZLE_32B;
static const auto S64 = CU_TENSOR_MAP_SWIZZLE_64B;
static const auto S128 = CU_TENSOR_MAP_SWIZZLE_128B;

static const Tensor tensors[] = {
    {"1d_1k", F32, 4, 1, {256}, NONE},
    {"1d_64", F32, 4, 1, {16}, NONE},
    {"1d_16", F32, 4, 1, {4}, NONE},
    {"2d_row16", F32, 4, 2, {4, 64}, NONE},
    {"2d_row32", F32, 4, 2, {8, 64}, NONE},
    {"2d_row64", F32, 4, 2, {16, 64}, NONE},
    {"2d_row128", F32, 4, 2, {32, 64}, NONE},
    {"2d_row1k", F32, 4, 2, {256, 16}, NONE},
    {"2d_s32", F16, 2, 2, {16, 64}, S32},
    {"2d_s64", F16, 2, 2, {32, 64}, S64},
    {"2d_s128", F16, 2, 2, {64, 64}, S128},
    {"2d_s128_big", F16, 2, 2, {64, 256}, S128},
    {"2d_u8_s128", U8, 1, 2, {128, 128}, S128},
    {"3d_s128", F32, 4, 3, {32, 8, 4}, S128},
    {"4d_s64", F32, 4, 4, {16, 4, 4, 4}, S64},
    {"5d_s32", F32, 4, 5, {8, 4, 4, 2, 2}, S32},
    {"5d_none", F32, 4, 5, {32, 2, 2, 2, 4}, NONE},
    {"2d_one_wide", F16, 2, 2, {64, 64}, S128, {}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_L2_PROMOTION_NONE, 1},
    {"2d_shifted", F32, 4, 2, {32, 64}, NONE, {4, 0}},
    {"2d_shifted_row32", F32, 4, 2, {8, 64}, NONE, {4, 0}},
    {"2d_outside_low", F32, 4, 2, {32, 64}, NONE, {-16, -8}},
    {"2d_outside_high", F32, 4, 2, {32, 64}, NONE, {}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_L2_PROMOTION_NONE, 4, true},
    {"2d_outside_all", F32, 4, 2, {32, 64}, NONE, {0, -100000000}},
    {"2d_strided1", F32, 4, 2, {32, 64}, NONE, {}, {1, 2, 1, 1, 1}},
    {"2d_strided8", F32, 4, 2, {32, 256}, NONE, {}, {1, 8, 1, 1, 1}},
    {"2d_row32_l2_64", F32, 4, 2, {8, 64}, NONE, {}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_L2_PROMOTION_L2_64B},
    {"2d_row32_l2_128", F32, 4, 2, {8, 64}, NONE, {}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_L2_PROMOTION_L2_128B},
    {"2d_row32_l2_256", F32, 4, 2, {8, 64}, NONE, {}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
    {"2d_s128_l2_256", F16, 2, 2, {64, 64}, S128, {}, {1, 1, 1, 1, 1}, CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
};

static const Tensor& tensor(const char* name) {
  for (const Tensor& t : tensors)
    if (!strcmp(t.name, name)) return t;
  exit(2);
}

// A map and a plan of at least `boxes` boxes of the tensor.
static bool make(const Tensor& t, long boxes, unsigned char* at, CUtensorMap& map, Plan& plan) {
  plan = Plan{};
  cuuint64_t sizes[5], strides[4];
  cuuint32_t box[5], steps[5];
  long left = boxes;
  plan.dims = t.dims;
  plan.bytes = t.element;
  for (int d = 0; d < t.dims; ++d) {
    long tiles = d + 1 == t.dims ? left : d == 0 ? std::min<long>(left, t.inner_tiles) : std::min<long>(left, 2);
    left = (left + tiles - 1) / tiles;
    while ((1L << plan.shift[d]) < tiles) ++plan.shift[d];
    plan.step[d] = t.box[d];
    plan.first[d] = t.first[d];
    box[d] = (cuuint32_t)t.box[d];
    steps[d] = (cuuint32_t)t.stride[d];
    sizes[d] = (cuuint64_t)tiles * t.box[d] - (t.beyond && d > 0 ? t.box[d] / 2 : 0);
    plan.bytes *= (t.box[d] + t.stride[d] - 1) / t.stride[d];
    if (d + 1 < t.dims) strides[d] = (d ? strides[d - 1] : t.element) * (cuuint64_t)tiles * t.box[d];
  }
  plan.boxes = 1;
  for (int d = 0; d < t.dims; ++d) plan.boxes <<= plan.shift[d];
  const CUresult result = encode(&map, t.type, t.dims, at, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 t.swizzle, t.promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result) printf("%s: error %d\n", t.name, (int)result);
  return !result;
}

enum class Way { load, store, add, prefetch };
static const char* const ways[] = {"load", "store", "add", "prefetch"};

// Copies of all boxes of a tensor, `passes` times, by `blocks` blocks with `depth` copies in flight.
static void tensor_case(Way way, const Tensor& t, long boxes, int blocks, int depth, int passes) {
  std::string name = std::string("tensor_") + ways[(int)way] + "_" + t.name;
  if (!wanted(name)) return;
  CUtensorMap map;
  Plan plan;
  if (!make(t, boxes, memory, map, plan)) return;
  plan.total = plan.boxes * passes;
  plan.depth = depth;
  plan.room = (plan.bytes + 1023) / 1024 * 1024;
  const int shared = plan.room * depth + 1024;
  name +=
      " depth=" + std::to_string(depth) + " boxes=" + std::to_string(plan.total) + " passes=" + std::to_string(passes);
  void (*kernel)(const CUtensorMap, const Plan) = nullptr;
  const int d = t.dims;
  if (way == Way::load)
    kernel = d == 1   ? tensor_load<1>
             : d == 2 ? tensor_load<2>
             : d == 3 ? tensor_load<3>
             : d == 4 ? tensor_load<4>
                      : tensor_load<5>;
  if (way == Way::store)
    kernel = d == 1   ? tensor_store<1, false>
             : d == 2 ? tensor_store<2, false>
             : d == 3 ? tensor_store<3, false>
                      : tensor_store<5, false>;
  if (way == Way::add) kernel = d == 1 ? tensor_store<1, true> : tensor_store<2, true>;
  if (way == Way::prefetch) kernel = d == 1 ? tensor_prefetch<1> : tensor_prefetch<2>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  measure(name, blocks, 32, (double)plan.total * plan.bytes, 0, [&] { kernel<<<blocks, 32, shared>>>(map, plan); });
}

static void multicast_case(int cluster, long boxes, int blocks, int depth, int passes) {
  std::string name = "tensor_multicast_" + std::to_string(cluster);
  if (!wanted(name)) return;
  CUtensorMap map;
  Plan plan;
  if (!make(tensor("2d_s128"), boxes, memory, map, plan)) return;
  plan.total = plan.boxes * passes;
  plan.depth = depth;
  plan.room = plan.bytes * cluster;
  const int shared = plan.room * depth + 1024;
  name +=
      " depth=" + std::to_string(depth) + " boxes=" + std::to_string(plan.total) + " passes=" + std::to_string(passes);
  CHECK(cudaFuncSetAttribute(tensor_multicast, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(32);
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute;
  config.numAttrs = 1;
  measure(name, blocks, 32, (double)plan.total * plan.bytes, 0,
          [&] { CHECK(cudaLaunchKernelEx(&config, tensor_multicast, map, plan)); });
}

static void bulk_case(const char* way, int bytes, long offset, long copies, int blocks, int depth, int passes) {
  std::string name = std::string("bulk_") + way + "_" + std::to_string(bytes) + (offset ? "_shifted" : "");
  if (!wanted(name)) return;
  Plan plan = {};
  plan.boxes = copies;
  plan.total = copies * passes;
  plan.bytes = bytes;
  plan.depth = depth;
  plan.room = (bytes + 127) / 128 * 128;
  const int shared = plan.room * depth + 1024;
  name +=
      " depth=" + std::to_string(depth) + " copies=" + std::to_string(plan.total) + " passes=" + std::to_string(passes);
  void (*kernel)(unsigned char*, const Plan) = nullptr;
  if (!strcmp(way, "load")) kernel = bulk_load;
  if (!strcmp(way, "store")) kernel = bulk_store<false>;
  if (!strcmp(way, "add")) kernel = bulk_store<true>;
  if (!strcmp(way, "prefetch")) kernel = bulk_prefetch;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  measure(name, blocks, 32, (double)plan.total * bytes, 0,
          [&] { kernel<<<blocks, 32, shared>>>(memory + offset, plan); });
}

static void neighbour_case(int bytes, int copies, int blocks) {
  std::string name = "bulk_neighbour_" + std::to_string(bytes);
  if (!wanted(name)) return;
  name += " copies=" + std::to_string(copies);
  measure(name, blocks, 32, (double)copies * blocks * bytes, 0, [&] { bulk_neighbour<<<blocks, 32>>>(bytes, copies); });
}

static void product_case(const Product& p, int blocks, int threads, int loops) {
  if (!wanted(p.name)) return;
  const bool group = !strncmp(p.name, "wgmma", 5);
  const std::string name = std::string(p.name) + " loops=" + std::to_string(loops);
  const int shared = group ? 65536 + 1024 : 0;
  if (group) CHECK(cudaFuncSetAttribute(p.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  measure(name, blocks, threads, 0, p.operations * 4 * loops * blocks * (threads / (group ? 128 : 32)),
          [&] { p.kernel<<<blocks, threads, shared>>>(loops, sink); });
  if (strstr(p.name, "m64n256k16_bf16")) {
    double mhz = 0;
    CHECK(cudaMemcpy(&mhz, sink, 8, cudaMemcpyDeviceToHost));
    fprintf(stderr, "%s: the SM ran at %.0f MHz\n", name.c_str(), mhz);
  }
}

// C = A x B of m x n x k halves, tile 128 x 128 x 64, without writing C.
static void ring_case(int mode, int depth, int m, int n, int k) {
  static const char* const modes[] = {"", "copies", "products", "both"};
  std::string name = std::string("ring_") + modes[mode];
  if (!wanted(name)) return;
  Tensor t = tensor("2d_s128");
  t.box[1] = 128;
  t.inner_tiles = k / 64;
  CUtensorMap a, b;
  Plan plan;
  if (!make(t, (long)(m / 128) * (k / 64), memory, a, plan) ||
      !make(t, (long)(n / 128) * (k / 64), memory + kMemory / 2, b, plan))
    return;
  const int blocks = (m / 128) * (n / 128), shared = depth * 32768 + 1024;
  name += " depth=" + std::to_string(depth) + " m=" + std::to_string(m) + " n=" + std::to_string(n) +
          " k=" + std::to_string(k);
  auto kernel = mode == 1 ? ring<1> : mode == 2 ? ring<2> : ring<3>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  measure(name, blocks, 384, mode == 2 ? 0 : (double)blocks * (k / 64) * 32768, mode == 1 ? 0 : 2.0 * m * n * k,
          [&] { kernel<<<blocks, 384, shared>>>(a, b, m / 128, k / 64, depth, (float*)sink); });
}

static void count() {
  for (const Tensor& t : tensors) tensor_case(Way::load, t, 64, 16, 2, 1);
  for (const char* name : {"1d_1k", "1d_16", "2d_row16", "2d_row32", "2d_row128", "2d_s32", "2d_s64", "2d_s128",
                           "3d_s128", "5d_s32", "2d_shifted", "2d_shifted_row32", "2d_outside_high"})
    tensor_case(Way::store, tensor(name), 64, 16, 2, 1);
  for (const char* name : {"1d_1k", "2d_row16", "2d_row128", "2d_s128", "2d_shifted", "2d_outside_high"})
    tensor_case(Way::add, tensor(name), 64, 16, 2, 1);
  for (const char* name : {"1d_1k", "2d_row16", "2d_row128", "2d_s128", "2d_shifted", "2d_outside_low"})
    tensor_case(Way::prefetch, tensor(name), 64, 16, 2, 1);
  for (int cluster : {1, 2, 4}) multicast_case(cluster, 64, 16, 2, 1);
  for (int bytes : {16, 48, 64, 128, 256, 1024, 4096, 16384}) bulk_case("load", bytes, 0, 64, 16, 2, 1);
  for (int bytes : {64, 1024}) bulk_case("load", bytes, 16, 64, 16, 2, 1);
  for (int bytes : {16, 64, 1024, 4096}) bulk_case("store", bytes, 0, 64, 16, 2, 1);
  bulk_case("store", 1024, 16, 64, 16, 2, 1);
  for (int bytes : {16, 1024}) bulk_case("add", bytes, 0, 64, 16, 2, 1);
  for (int bytes : {16, 1024}) bulk_case("prefetch", bytes, 0, 64, 16, 2, 1);
  for (int bytes : {16, 1024, 4096}) neighbour_case(bytes, 4, 16);
  for (const Product& p : products) product_case(p, 4, strncmp(p.name, "wgmma", 5) ? 128 : 128, 4);
  for (int mode : {1, 2, 3}) ring_case(mode, 4, 256, 256, 512);
}

static void time() {
  const long MB = 1 << 20;
  const auto boxes = [](const char* name, long bytes) {
    const Tensor& t = tensor(name);
    long box = t.element;
    for (int d = 0; d < t.dims; ++d) box *= (t.box[d] + t.stride[d] - 1) / t.stride[d];
    return bytes / box;
  };
  // One block: latency (depth 1) and the rate of an SM, from L2 (many passes over little) and from DRAM.
  for (const char* name : {"1d_16", "1d_64", "1d_1k", "2d_row16", "2d_row32", "2d_row64", "2d_row128", "2d_row1k",
                           "2d_s128", "2d_s128_big", "3d_s128", "4d_s64", "5d_s32", "5d_none"}) {
    const Tensor& t = tensor(name);
    const long few = std::min<long>(2048, boxes(name, 4 * MB));
    tensor_case(Way::load, t, few, 1, 1, 1);
    tensor_case(Way::load, t, few, 1, 4, 1);
    tensor_case(Way::load, t, 16, 1, 1, 64);
    tensor_case(Way::load, t, 16, 1, 4, 64);
    tensor_case(Way::load, t, 16, 1, 6, 64);
  }
  // The whole GPU.
  for (const char* name : {"1d_1k", "2d_row16", "2d_row32", "2d_row64", "2d_row128", "2d_row1k", "2d_s32", "2d_s64",
                           "2d_s128", "2d_s128_big", "3d_s128", "4d_s64", "5d_s32", "2d_strided1", "2d_strided8",
                           "2d_shifted", "2d_outside_low", "2d_outside_all"}) {
    const Tensor& t = tensor(name);
    tensor_case(Way::load, t, boxes(name, 8 * MB), 132, 4, 1);
    tensor_case(Way::load, t, boxes(name, 8 * MB), 132, 4, 16);
    tensor_case(Way::load, t, boxes(name, 128 * MB), 528, 4, 1);
  }
  for (long size : {1, 32, 512})
    for (int depth : {1, 2, 6})
      for (int blocks : {132, 1056})
        tensor_case(Way::load, tensor("2d_s128"), boxes("2d_s128", size * MB), blocks, depth, 1);
  for (const char* name : {"1d_1k", "2d_row16", "2d_row32", "2d_row128", "2d_s128", "3d_s128", "2d_shifted"}) {
    tensor_case(Way::store, tensor(name), 16, 1, 4, 64);
    tensor_case(Way::store, tensor(name), boxes(name, 8 * MB), 132, 4, 4);
    tensor_case(Way::store, tensor(name), boxes(name, 128 * MB), 528, 4, 1);
  }
  for (const char* name : {"1d_1k", "2d_row16", "2d_row128", "2d_s128"}) {
    tensor_case(Way::add, tensor(name), 16, 1, 4, 64);
    tensor_case(Way::add, tensor(name), boxes(name, 8 * MB), 132, 4, 4);
    tensor_case(Way::add, tensor(name), boxes(name, 128 * MB), 528, 4, 1);
    tensor_case(Way::prefetch, tensor(name), boxes(name, 128 * MB), 528, 4, 1);
  }
  for (int cluster : {1, 2, 4}) {
    multicast_case(cluster, boxes("2d_s128", 8 * MB), 132, 4, 16);
    multicast_case(cluster, boxes("2d_s128", 128 * MB), 528, 4, 1);
  }
  for (int bytes : {16, 64, 256, 1024, 4096, 16384}) {
    bulk_case("load", bytes, 0, 64, 1, 1, 16);
    bulk_case("load", bytes, 0, 64, 1, 8, 16);
    bulk_case("load", bytes, 0, 8 * MB / bytes, 132, 8, bytes < 1024 ? 1 : 8);
    if (bytes >= 64) bulk_case("load", bytes, 0, 256 * MB / bytes, 528, 4, 1);
    bulk_case("store", bytes, 0, 64, 1, 4, 16);
    if (bytes >= 64) bulk_case("store", bytes, 0, 256 * MB / bytes, 528, 4, 1);
  }
  for (int bytes : {256, 1024, 4096}) bulk_case("add", bytes, 0, 64 * MB / bytes, 528, 4, 1);
  for (int bytes : {1024, 4096}) neighbour_case(bytes, 64, 132);
  for (const Product& p : products) {
    const bool group = !strncmp(p.name, "wgmma", 5);
    if (group) product_case(p, 132, 128, 256);
    product_case(p, 132, 256, group ? 512 : 1024);
  }
  for (int depth : {1, 2, 3, 4, 6})
    for (int mode : {1, 2, 3}) {
      if (mode == 2 && depth != 4) continue;
      ring_case(mode, depth, 128, 128, 4096);
      ring_case(mode, depth, 1536, 1408, 4096);
      ring_case(mode, depth, 4096, 4096, 2048);
    }
  ring_case(3, 4, 8192, 8192, 8192);
}

int main(int argc, char** argv) {
  options.count = argc > 1 && !strcmp(argv[1], "count");
  if (options.count) kMemory = kFlushed = 32u << 20;
  int k = 2;
  if (!options.count && argc > 2) options.repeats = atoi(argv[k++]);
  if (argc > k) options.part = argv[k];
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000, cudaEnableDefault, &found));
  CHECK(cudaEventCreate(&begin_event));
  CHECK(cudaEventCreate(&end_event));
  CHECK(cudaMalloc(&memory, kMemory));
  CHECK(cudaMalloc(&flushed, kFlushed));
  CHECK(cudaMalloc(&sink, 1 << 22));
  if (!options.count) CHECK(cudaMemset(memory, 0, kMemory));
  printf("case,blocks,threads,bytes,operations,median_us,fastest_us\n");
  options.count ? count() : time();
}
