// Vector addition: c = a + b, the document's first kernel. Only memory matters, so the rungs differ in the elements
// that each thread reads, and in the number of threads.
#include "harness/harness.h"

constexpr int kThreads = 256;
constexpr int kPerThread = 4;

// Claim: one thread is one lane of one warp on one SM: it uses 1/32 of each request's width, and nothing overlaps.
__global__ void one_thread(const float* a, const float* b, float* c, long n) {
  for (long i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

// Claim: one block keeps one SM busy; the others wait.
__global__ void one_block(const float* a, const float* b, float* c, long n) {
  for (long i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
}

// Claim: neighbouring threads are 16 bytes apart, so a warp's request touches 16 sectors and uses a quarter of each.
__global__ void chunked(const float* a, const float* b, float* c, long n) {
  const long first = (blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x) * kPerThread;
  for (long i = first; i < first + kPerThread && i < n; ++i) c[i] = a[i] + b[i];
}

// Claim: neighbouring threads take neighbouring elements, so a warp's request is 4 full sectors, without waste.
__global__ void one_element(const float* a, const float* b, float* c, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Claim: the same order over the grid with several elements a thread: fewer blocks to start, the same requests.
__global__ void grid_stride(const float* a, const float* b, float* c, long n) {
  const long stride = gridDim.x * static_cast<long>(blockDim.x);
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += stride) c[i] = a[i] + b[i];
}

// Claim: loads all elements of `grid stride` before the first sum: the same requests, but a thread has four in flight
// instead of one after the other.
__global__ void unrolled(const float* a, const float* b, float* c, long n) {
  const long stride = gridDim.x * static_cast<long>(blockDim.x);
  const long first = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  float x[kPerThread], y[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (first + k * stride < n) x[k] = a[first + k * stride], y[k] = b[first + k * stride];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (first + k * stride < n) c[first + k * stride] = x[k] + y[k];
}

// Claim: 16 bytes a thread touch the same sectors with a quarter of the requests, and keep more bytes in flight.
__global__ void wide(const float* a, const float* b, float* c, long n) {
  const long i = (blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x) * 4;
  if (i + 3 < n) {
    const float4 x = *reinterpret_cast<const float4*>(a + i), y = *reinterpret_cast<const float4*>(b + i);
    *reinterpret_cast<float4*>(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  } else {
    for (long j = i; j < n; ++j) c[j] = a[j] + b[j];
  }
}

namespace {

const lab::Topic kTopic = {
    .name = "vecadd",
    .title = "vector addition: access order and number of threads",
    .document = "004 (SPMD)",
    .shows =
        "One addition per twelve bytes: bandwidth is the limit. From one thread to a full grid, then block sizes, "
        "several elements per thread, wide loads, and managed memory.",
    .size_names = "N",
    .quick_sizes = "65536,1048576",
    .full_sizes = "1048576,16777216,268435456",
    .large_sizes = "268435456",
    .types = "float",
    .rungs = {{"one thread", "a single lane does everything (at most 65,536 elements; larger: skipped)"},
              {"one block", "256 threads on one SM"},
              {"chunked", "four neighbouring elements per thread: a quarter of each sector used"},
              {"one element", "neighbouring threads, neighbouring elements: full sectors"},
              {"grid stride", "several elements per thread, one grid apart"},
              {"unrolled", "several elements per thread, all loads before the first sum"},
              {"float4", "16 bytes per load: a quarter of the requests"},
              {"managed", "the same kernel as `one element` on managed memory", lab::Role::sweep},
              {"block size", "`one element` with 32 to 1024 threads per block", lab::Role::sweep}},
};

void run_managed(lab::Program& program, const lab::Case& c, const std::vector<float>& a, const std::vector<float>& b,
                 const std::vector<double>& sum, double tolerance) {
  if (!program.chosen(c.rung)) return;
  if (!lab::device_attribute(cudaDevAttrManagedMemory)) return program.skip(c, "this GPU has no managed memory");
  const long n = static_cast<long>(a.size());
  const size_t bytes = a.size() * sizeof(float);
  float *ma, *mb, *mc;
  CHECK_CUDA(cudaMallocManaged(&ma, bytes));
  CHECK_CUDA(cudaMallocManaged(&mb, bytes));
  CHECK_CUDA(cudaMallocManaged(&mc, bytes));
  // The host writes the data, so that a GPU with page migration fetches the pages again in each repetition.
  program.run(
      c,
      [&] {
        std::memcpy(ma, a.data(), bytes);
        std::memcpy(mb, b.data(), bytes);
        std::memset(mc, 0xff, bytes);
      },
      [&] { one_element<<<lab::blocks(n, kThreads), kThreads>>>(ma, mb, mc, n); },
      [&] { return lab::compare(std::vector<float>(mc, mc + n), sum, tolerance); });
  for (float* p : {ma, mb, mc}) CHECK_CUDA(cudaFree(p));
}

void run_size(lab::Program& program, const lab::Size& size) {
  const long n = size[0];
  const double bytes = 12.0 * n;
  if (!program.fits(size, 2 * bytes, 3 * bytes)) return;
  lab::Random random(1);
  const long made = lab::runs_in_part() ? 0 : n;
  const std::vector<float> a = random.floats(made), b = random.floats(made);
  std::vector<double> sum(made);
  for (long i = 0; i < made; ++i) sum[i] = static_cast<double>(a[i]) + b[i];
  const double tolerance = lab::kUnitFloat;  // one rounding of a sum below 2
  lab::DeviceArray<float> da(a, n), db(b, n), dc(n);
  const auto of = [&](const char* rung) { return lab::Case{rung, size, "float", {bytes, double(n)}}; };
  const auto run = [&](const lab::Case& c, auto kernel, int grid, int block) {
    if (!lab::block_fits(kernel, block)) return program.skip(c, "no block of this size fits an SM of this GPU");
    if (!lab::grid_fits(grid)) return program.skip(c, "a grid of this GPU has fewer blocks");
    program.run(
        c, [&] { dc.poison(); }, [&] { kernel<<<grid, block>>>(da.data(), db.data(), dc.data(), n); },
        [&] { return lab::compare(dc.host(), sum, tolerance); });
  };
  constexpr long kOneThreadLimit = 65536;
  if (n <= kOneThreadLimit)
    run(of("one thread"), one_thread, 1, 1);
  else
    program.skip(of("one thread"), "more than 65,536 elements for one thread");
  run(of("one block"), one_block, 1, kThreads);
  run(of("chunked"), chunked, lab::blocks(n, kThreads * kPerThread), kThreads);
  run(of("one element"), one_element, lab::blocks(n, kThreads), kThreads);
  run(of("grid stride"), grid_stride, lab::blocks(n, kThreads * kPerThread), kThreads);
  run(of("unrolled"), unrolled, lab::blocks(n, kThreads * kPerThread), kThreads);
  run(of("float4"), wide, lab::blocks(n, kThreads * 4), kThreads);
  run_managed(program, of("managed"), a, b, sum, tolerance);
  for (const int block : {32, 64, 128, 256, 512, 1024}) {
    lab::Case c = of("block size");
    c.parameters = {{"threads", block}};
    run(c, one_element, lab::blocks(n, block), block);
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  for (const lab::Size& size : program.sizes()) run_size(program, size);
  return program.finish();
}
