// Divergence: lanes of one warp that take different paths run one after the other, with the other lanes switched off.
// The cost depends on the number of paths in one warp, not on the number in all.
#include "harness/harness.h"

constexpr int kThreads = 256;
constexpr int kSteps = 32;  // work of one path

// One path: a chain of dependent multiply-adds with its own constant. It is a real loop, not unrolled and not inlined
// into a select, so that the branch stays a branch.
__device__ __noinline__ float path(float x, int which) {
  const float factor = 0.5f + which / 128.0f;  // exact, so that fusing changes nothing
#pragma unroll 1
  for (int i = 0; i < kSteps; ++i) x = fmaf(x, factor, 0.25f);
  return x;
}

// Claim: all threads take the same path, so no warp diverges.
__global__ void no_branch(const float* in, float* out, int n) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i < n) out[i] = path(in[i], 0);
}

// Claim: there are two paths, but each warp takes only one: the branch is uniform and costs nothing.
__global__ void split_by_warp(const float* in, float* out, int n) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i >= n) return;
  if (i / 32 % 2 == 0)
    out[i] = path(in[i], 0);
  else
    out[i] = path(in[i], 1);
}

// Claim: even lanes take one path, odd lanes the other: every warp runs both, each with half its lanes.
__global__ void split_by_lane(const float* in, float* out, int n) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i >= n) return;
  if (i % 2 == 0)
    out[i] = path(in[i], 0);
  else
    out[i] = path(in[i], 1);
}

// Claim: a warp with k ways runs k paths of 32 / k lanes each: k times the instructions. One loop serves all ways: a
// lane joins in the round of its own way.
__global__ void switch_ways(const float* in, float* out, int n, int ways) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i >= n) return;
  const int own = static_cast<int>(i % ways);
  for (int way = 0; way < ways; ++way)
    if (way == own) out[i] = path(in[i], way);
}

// Claim: if loops differ in length, the warp runs as long as the longest; lanes with short loops wait, switched off.
__global__ void uneven_loops(const float* in, float* out, int n) {
  const long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
#pragma unroll 1
  for (int step = 0; step <= i % 32; ++step) x = fmaf(x, 0.5f, 0.25f);
  out[i] = x;
}

namespace {

const lab::Topic kTopic = {
    .name = "divergence",
    .title = "the cost of a split warp",
    .document = "004 (SPMD)",
    .shows = "The same arithmetic under branches that split no warp, every warp in two, or every warp in up to 32.",
    .size_names = "N",
    .quick_sizes = "65536",
    .full_sizes = "16777216",
    .types = "float",
    .rungs = {{"no branch", "one path for all", lab::Role::sweep},
              {"split by warp", "two paths, each for whole warps: no divergence", lab::Role::sweep},
              {"split by lane", "two paths in every warp: both run with half of the lanes", lab::Role::sweep},
              {"switch", "2 to 32 paths in each warp", lab::Role::sweep},
              {"uneven loops", "1 to 32 iterations in one warp: the longest counts", lab::Role::sweep}},
};

float host_path(float x, int which) {
  const float factor = 0.5f + which / 128.0f;
  for (int i = 0; i < kSteps; ++i) x = std::fmaf(x, factor, 0.25f);
  return x;
}

void run_size(lab::Program& program, const lab::Size& size) {
  const long n = size[0];
  if (!program.fits(size, 8.0 * n, 16.0 * n)) return;
  const std::vector<float> host = lab::Random(18).floats(n);
  lab::DeviceArray<float> in(host), out(n);
  const int grid = lab::blocks(n, kThreads), count = static_cast<int>(n);
  const lab::Work work{8.0 * n, 2.0 * kSteps * n};
  // Does the same fused multiply-adds in the same order: equal to the last bit.
  const auto run = [&](const lab::Case& c, auto launch, auto element) {
    program.run(
        c, [&] { out.poison(); }, launch,
        [&] {
          std::vector<float> expected(n);
          for (long i = 0; i < n; ++i) expected[i] = element(i);
          return lab::compare(out.host(), expected);
        });
  };
  run(
      {"no branch", size, "float", work}, [&] { no_branch<<<grid, kThreads>>>(in.data(), out.data(), count); },
      [&](long i) { return host_path(host[i], 0); });
  run(
      {"split by warp", size, "float", work}, [&] { split_by_warp<<<grid, kThreads>>>(in.data(), out.data(), count); },
      [&](long i) { return host_path(host[i], i / 32 % 2); });
  run(
      {"split by lane", size, "float", work}, [&] { split_by_lane<<<grid, kThreads>>>(in.data(), out.data(), count); },
      [&](long i) { return host_path(host[i], i % 2); });
  for (const int ways : {2, 4, 8, 16, 32})
    run(
        {"switch", size, "float", work, {{"ways", ways}}},
        [&] { switch_ways<<<grid, kThreads>>>(in.data(), out.data(), count, ways); },
        [&](long i) { return host_path(host[i], i % ways); });
  run(
      {"uneven loops", size, "float", {8.0 * n, 33.0 * n}},
      [&] { uneven_loops<<<grid, kThreads>>>(in.data(), out.data(), count); },
      [&](long i) {
        float x = host[i];
        for (int step = 0; step <= i % 32; ++step) x = std::fmaf(x, 0.5f, 0.25f);
        return x;
      });
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  for (const lab::Size& size : program.sizes()) run_size(program, size);
  return program.finish();
}
