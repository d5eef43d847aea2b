// Registers and local memory: the two places for an array of a thread. If the compiler knows all indices, the array is
// in registers. If a variable indexes it, or it does not fit, it is in local memory: device memory with private
// addresses.
#include "harness/harness.h"

constexpr int kThreads = 128;
constexpr int kWords = 32;  // of a thread's array

// Both kernels reverse 32 words of each thread: out word w = in word 31 - w, plus the word that was there. The words of
// a warp are interleaved in memory (word w of thread t at w * threads + t), so that global accesses coalesce.

// Claim: the loops unroll and every index is a constant, so the array is 32 registers and uses no memory.
__global__ void reverse_in_registers(const float* in, float* out, int threads) {
  const int t = blockIdx.x * kThreads + threadIdx.x;
  if (t >= threads) return;
  float words[kWords];
#pragma unroll
  for (int w = 0; w < kWords; ++w) words[w] = in[static_cast<long>(w) * threads + t];
#pragma unroll
  for (int w = 0; w < kWords; ++w) out[static_cast<long>(w) * threads + t] = words[kWords - 1 - w] + words[w];
}

// Claim: the index comes from memory, so the array must have addresses: local memory. It takes 4 sectors a request,
// because the hardware interleaves the lanes' words.
__global__ void reverse_by_index(const float* in, float* out, const int* order, int threads) {
  const int t = blockIdx.x * kThreads + threadIdx.x;
  if (t >= threads) return;
  float words[kWords];
#pragma unroll 1
  for (int w = 0; w < kWords; ++w) words[w] = in[static_cast<long>(w) * threads + t];
#pragma unroll 1
  for (int w = 0; w < kWords; ++w) out[static_cast<long>(w) * threads + t] = words[order[w]] + words[w];
}

// Claim: the same array in shared memory, one column a thread: it has addresses, but is on chip and free of conflicts.
__global__ void reverse_in_shared(const float* in, float* out, const int* order, int threads) {
  __shared__ float words[kWords][kThreads];
  const int t = blockIdx.x * kThreads + threadIdx.x, lane = threadIdx.x;
  if (t >= threads) return;
#pragma unroll 1
  for (int w = 0; w < kWords; ++w) words[w][lane] = in[static_cast<long>(w) * threads + t];
#pragma unroll 1
  for (int w = 0; w < kWords; ++w) out[static_cast<long>(w) * threads + t] = words[order[w]][lane] + words[w][lane];
}

// Claim: lanes with different indices touch different lines of local memory: up to 32 sectors a request.
__global__ void reverse_lanes_apart(const float* in, float* out, const int* order, int threads) {
  const int t = blockIdx.x * kThreads + threadIdx.x;
  if (t >= threads) return;
  float words[kWords];
#pragma unroll 1
  for (int w = 0; w < kWords; ++w) words[w] = in[static_cast<long>(w) * threads + t];
#pragma unroll 1
  for (int w = 0; w < kWords; ++w) {
    const int own = (w + threadIdx.x) % kWords;  // each lane starts at a different word
    out[static_cast<long>(own) * threads + t] = words[order[own]] + words[own];
  }
}

namespace {

const lab::Topic kTopic = {
    .name = "local",
    .title = "registers, local memory and the cost of indexing",
    .document = "000 (COSC 407)",
    .shows =
        "A thread's array is free if the compiler knows every index. Otherwise it is in local memory: device memory "
        "behind L1, interleaved so that lanes with the same index share sectors.",
    .size_names = "THREADS",
    .quick_sizes = "32768",
    .full_sizes = "4194304",
    .large_sizes = "4194304",
    .types = "float",
    .rungs = {{"lanes apart", "each lane has another index: its words are in different sectors"},
              {"by index", "one variable index for the warp: local memory, 4 sectors per request"},
              {"shared", "the same array in shared memory, one bank per lane"},
              {"registers", "constant indices: only input and output use memory"}},
};

void run_size(lab::Program& program, const lab::Size& size) {
  const long threads = size[0], count = threads * kWords;
  const double bytes = 8.0 * count;
  if (!program.fits(size, bytes, 3 * bytes)) return;
  const bool made = !lab::runs_in_part();
  const std::vector<float> host = lab::Random(7).floats(made ? count : 0);
  std::vector<double> expected(host.size());
  for (long t = 0; made && t < threads; ++t)
    for (long w = 0; w < kWords; ++w)
      expected[w * threads + t] = double(host[(kWords - 1 - w) * threads + t]) + host[w * threads + t];
  std::vector<int> order(kWords);
  for (int w = 0; w < kWords; ++w) order[w] = kWords - 1 - w;
  lab::DeviceArray<float> in(host, count), out(count);
  lab::DeviceArray<int> indices(order);
  const int grid = lab::blocks(threads, kThreads), n = static_cast<int>(threads);
  const auto run = [&](const char* rung, auto launch) {
    program.run(
        {rung, size, "float", {bytes, double(count)}}, [&] { out.poison(); }, launch,
        [&] { return lab::compare(out.host(), expected, 2 * lab::kUnitFloat); });  // one rounding below 2
  };
  run("lanes apart", [&] { reverse_lanes_apart<<<grid, kThreads>>>(in.data(), out.data(), indices.data(), n); });
  run("by index", [&] { reverse_by_index<<<grid, kThreads>>>(in.data(), out.data(), indices.data(), n); });
  run("shared", [&] { reverse_in_shared<<<grid, kThreads>>>(in.data(), out.data(), indices.data(), n); });
  run("registers", [&] { reverse_in_registers<<<grid, kThreads>>>(in.data(), out.data(), n); });
}

// The compiler's result: registers and local memory of each kernel, as the runtime reports them.
void note_attributes(lab::Program& program) {
  const auto line = [](const char* name, auto kernel) {
    cudaFuncAttributes a;
    CHECK_CUDA(cudaFuncGetAttributes(&a, kernel));
    char text[120];
    std::snprintf(text, sizeof text,
                  "%-12s %4d registers  %4zu bytes of local memory a thread  %6zu bytes of shared memory\n", name,
                  a.numRegs, a.localSizeBytes, a.sharedSizeBytes);
    return std::string(text);
  };
  program.note("what the compiler made of the kernels",
               line("lanes apart", reverse_lanes_apart) + line("by index", reverse_by_index) +
                   line("shared", reverse_in_shared) + line("registers", reverse_in_registers));
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  for (const lab::Size& size : program.sizes()) run_size(program, size);
  note_attributes(program);
  return program.finish();
}
