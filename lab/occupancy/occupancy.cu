// Occupancy: the number of warps that an SM holds at once, its limits, and the waves in which blocks run on the SMs.
#include <algorithm>
#include <map>

#include "harness/harness.h"

// Claim: the block requests more shared memory than it needs, so fewer blocks fit on an SM; the work is the same.
__global__ void with_dynamic_shared(const float* in, float* out, long n) {
  extern __shared__ float space[];
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  space[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = space[threadIdx.x] * 2;
}

// Records the SM and the times of each block: one row of four words a block.
__global__ void where_blocks_run(unsigned long long* rows, int steps) {
  unsigned sm;
  unsigned long long begin, end;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  float x = threadIdx.x;
  for (int i = 0; i < steps; ++i) x = x * 0.5f + 1.0f;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
  if (threadIdx.x == 0) {
    unsigned long long* row = rows + 4ull * blockIdx.x;
    row[0] = sm;
    row[1] = begin;
    row[2] = end;
    row[3] = x == 12345.0f ? 2 : 1;  // keeps the chain alive
  }
}

namespace {

const lab::Topic kTopic = {
    .name = "occupancy",
    .title = "blocks on SMs: limits, waves and the tail",
    .document = "004 (SPMD)",
    .shows =
        "Limits of the blocks per SM (threads, blocks, registers, shared memory), and grids that are not a multiple of "
        "the resident blocks: they leave SMs idle at the end.",
    .size_names = "N",
    .quick_sizes = "540672",
    .full_sizes = "67108864",
    .types = "float",
    .rungs = {{"block size", "32 to 1024 threads: with 32 per block, the block limit applies", lab::Role::sweep},
              {"shared memory", "more shared memory per block: fewer blocks per SM", lab::Role::sweep},
              {"waves", "grids of 1/2 to 2 waves: the last wave takes as long as its slowest block", lab::Role::sweep}},
};

struct Sm {
  int count, threads, blocks, registers;
  size_t shared, reserved;
};

int largest_block() {
  return std::min(1024, lab::device_attribute(cudaDevAttrMaxThreadsPerBlock));
}

Sm device_sm() {
  return {lab::device_attribute(cudaDevAttrMultiProcessorCount),
          lab::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor),
          lab::device_attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
          lab::device_attribute(cudaDevAttrMaxRegistersPerMultiprocessor),
          static_cast<size_t>(lab::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor)),
          static_cast<size_t>(lab::device_attribute(cudaDevAttrReservedSharedMemoryPerBlock))};
}

// The four limits computed by hand, and the limit that the runtime reports.
std::string limits(const Sm& sm, int block, size_t shared) {
  cudaFuncAttributes a;
  CHECK_CUDA(cudaFuncGetAttributes(&a, with_dynamic_shared));
  int runtime = 0;
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&runtime, with_dynamic_shared, block, shared));
  const int warps = (block + 31) / 32;
  const int by_threads = sm.threads / (warps * 32);
  const int registers_a_warp = (a.numRegs * 32 + 255) / 256 * 256;  // allocated in steps of 256
  // The register file has four parts; the warps of a block are distributed over them.
  const int by_registers = registers_a_warp ? sm.registers / registers_a_warp / 4 * 4 / warps : sm.blocks;
  const size_t allocated = shared + sm.reserved;
  const int by_shared = allocated ? static_cast<int>(sm.shared / ((allocated + 127) / 128 * 128)) : sm.blocks;
  const int least = std::min({by_threads, sm.blocks, by_registers, by_shared});
  char text[160];
  std::snprintf(text, sizeof text, "%7d %10zu %8d %8d %10d %8d %8d %8d %9.1f %%\n", block, shared, by_threads,
                sm.blocks, by_registers, by_shared, least, runtime, 100.0 * runtime * warps * 32 / sm.threads);
  return text;
}

void note_limits(lab::Program& program, const Sm& sm) {
  std::string text =
      "                        blocks an SM holds, by limit                            occupancy\n"
      "threads     shared  threads   blocks  registers   shared    least  runtime   (runtime)\n";
  for (const int block : {32, 64, 128, 256, 512, 768, 1024}) text += limits(sm, block, block * sizeof(float));
  for (const size_t shared : {8192, 16384, 32768, 49152}) text += limits(sm, 256, shared);
  program.note("what limits the blocks of an SM", text);
}

struct BlockRun {
  int block;
  unsigned long long begin, end;
  int wave = 0;
};

// A block's wave is one after that of the blocks that ended on its SM before it began. The virtual GPU has no clock
// inside a kernel, so there the wave follows from counting the SM's blocks.
void number_waves(std::vector<BlockRun>& runs, int resident) {
  if (lab::on_virtual_gpu()) {
    for (size_t i = 0; i < runs.size(); ++i) runs[i].wave = static_cast<int>(i) / resident;
    return;
  }
  std::sort(runs.begin(), runs.end(), [](const BlockRun& a, const BlockRun& b) { return a.begin < b.begin; });
  for (BlockRun& run : runs)
    for (const BlockRun& earlier : runs)
      if (earlier.end <= run.begin) run.wave = std::max(run.wave, earlier.wave + 1);
}

// The schedule of the first SMs (their blocks and waves), and how full each wave is.
void note_schedule(lab::Program& program, const Sm& sm) {
  constexpr int kShown = 8;
  const int block = largest_block();
  int resident = 0;
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, where_blocks_run, block, 0));
  const int blocks = sm.count * resident + sm.count / 2;
  lab::DeviceArray<unsigned long long> rows(4ull * blocks);
  rows.poison();
  where_blocks_run<<<blocks, block>>>(rows.data(), 2000);
  CHECK_KERNEL();
  const std::vector<unsigned long long> v = rows.host();
  std::map<unsigned, std::vector<BlockRun>> of_sm;
  for (int b = 0; b < blocks; ++b)
    of_sm[static_cast<unsigned>(v[4ull * b])].push_back({b, v[4ull * b + 1], v[4ull * b + 2]});
  std::map<int, std::pair<int, int>> waves;  // blocks, SMs
  char line[200];
  std::snprintf(line, sizeof line, "%d blocks of %d threads, %d fit an SM, %d SMs: %.2f waves; %zu SMs were used\n",
                blocks, block, resident, sm.count, static_cast<double>(blocks) / (resident * sm.count), of_sm.size());
  std::string text = line;
  int shown = 0;
  for (auto& [id, runs] : of_sm) {
    number_waves(runs, resident);
    std::snprintf(line, sizeof line, "SM %3u: blocks", id);
    std::string list = line;
    int wave = 0;
    std::map<int, int> seen;
    for (const BlockRun& run : runs) {
      waves[run.wave].first++;
      waves[run.wave].second += seen[run.wave]++ == 0;
      list += (run.wave != wave ? " | " : " ") + std::to_string(run.block);
      wave = run.wave;
    }
    if (shown++ < kShown) text += list + "\n";
  }
  text += "(the first SMs; | begins the next wave)\n";
  for (const auto& [wave, count] : waves) {
    std::snprintf(line, sizeof line, "wave %d: %4d blocks on %3d SMs, %3d SMs without work\n", wave + 1, count.first,
                  count.second, sm.count - count.second);
    text += line;
  }
  program.note("which SM ran which blocks", text);
}

void run_size(lab::Program& program, const lab::Size& size, const Sm& sm) {
  const long n = size[0];
  if (!program.fits(size, 8.0 * n, 16.0 * n)) return;
  const std::vector<float> host = lab::Random(5).floats(n);
  std::vector<float> twice(host);
  for (float& v : twice) v *= 2;
  lab::DeviceArray<float> in(host), out(n);
  const auto run = [&](const lab::Case& c, int block, size_t shared, long count) {
    if (block > lab::device_attribute(cudaDevAttrMaxThreadsPerBlock))
      return program.skip(c, "a block of this GPU has fewer threads");
    if (shared > static_cast<size_t>(lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlock)))
      return program.skip(c, "a block of this GPU has less shared memory");
    CHECK_CUDA(cudaFuncSetAttribute(with_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared)));
    const std::vector<float> expected(twice.begin(), twice.begin() + count);
    program.run(
        c, [&] { out.poison(); },
        [&] { with_dynamic_shared<<<lab::blocks(count, block), block, shared>>>(in.data(), out.data(), count); },
        [&] {
          std::vector<float> got = out.host();
          got.resize(count);
          return lab::compare(got, expected);
        });
  };
  for (const int block : {32, 64, 128, 256, 512, 1024})
    run({"block size", size, "float", {8.0 * n, double(n)}, {{"threads", block}}}, block, block * sizeof(float), n);
  for (const int kib : {1, 8, 16, 32, 48})
    run({"shared memory", size, "float", {8.0 * n, double(n)}, {{"KiB", kib}}}, 256, kib * 1024, n);
  for (const double waves : {0.5, 1.0, 1.1, 1.5, 2.0}) {
    const int block = largest_block();
    const long count = std::min(n, static_cast<long>(waves * sm.count * (sm.threads / block)) * block);
    run({"waves", size, "float", {8.0 * count, double(count)}, {{"waves", waves}}}, block, block * sizeof(float),
        count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const Sm sm = device_sm();
  for (const lab::Size& size : program.sizes()) run_size(program, size, sm);
  note_limits(program, sm);
  note_schedule(program, sm);
  return program.finish();
}
