// Runs the cases of generate.py on a real GPU.
//   g++ -std=c++17 -I CUDA/include -o record_on_gpu record_on_gpu.cpp -lcuda && ./record_on_gpu CUBIN CASES RESULTS RAW
// CUBIN: kernels.ptx, assembled by ptxas for sm_90a. Writes a line "SUMMARY case" to RESULTS (cases.h), and what each
// case did in words to RAW. "encode_N": the driver refuses the tensor map. An error ends the process's use of the GPU,
// so a child runs the cases up to the first error, and the next child goes on behind it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "encode.h"

using namespace tensor_copies;

namespace {

struct Gpu {
  CUmodule module = nullptr;
  CUdeviceptr data = 0, init = 0, out = 0, arguments = 0, map = 0;
  std::uint64_t before = 0, after = 0;  // the mbarrier of the last run

  bool open(const char* cubin) {
    CUdevice device;
    CUcontext context;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuModuleLoad(&module, cubin))
      return false;
    return !cuMemAlloc(&data, kData) && !cuMemAlloc(&init, kShared) && !cuMemAlloc(&arguments, sizeof(Arguments)) &&
           !cuMemAlloc(&out, 2 * (kShared + kStatusBytes)) && !cuMemAlloc(&map, 4096);
  }

  CUresult run(const Case& c, const CUtensorMap& tensor, int number, Result* result) {
    CUfunction function;
    if (const CUresult e = cuModuleGetFunction(&function, module, c.kernel.c_str())) return e;
    const std::vector<std::uint8_t> memory = content(c, number, 0, kData), shared = content(c, number, 1, kShared);
    cuMemcpyHtoD(data, memory.data(), kData);
    cuMemcpyHtoD(init, shared.data(), kShared);
    cuMemsetD8(out, 0, 2 * (kShared + kStatusBytes));
    cuMemsetD8(map, 0, 4096);
    if (c.has("map") && !c.has("blank"))
      cuMemcpyHtoD(map + static_cast<CUdeviceptr>(c.get("map")), &tensor, sizeof tensor);
    const Arguments a = arguments_of(c, data, init, out, map);
    cuMemcpyHtoD(arguments, &a, sizeof a);
    CUtensorMap by_value = tensor;
    void* parameters[] = {&by_value, &arguments};
    CUresult e =
        cuLaunchKernel(function, static_cast<unsigned>(c.blocks()), 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr);
    if (!e) e = cuCtxSynchronize();
    if (e) return e;
    std::vector<std::uint8_t> all(2 * (kShared + kStatusBytes)), global(kData);
    e = cuMemcpyDtoH(all.data(), out, all.size());
    if (!e) e = cuMemcpyDtoH(global.data(), data, kData);
    read_output(c, number, all, global, result);
    std::memcpy(&before, &all[kShared * c.blocks() + 8], 8);
    std::memcpy(&after, &all[kShared * c.blocks() + 16], 8);
    return e;
  }
};

// Runs cases until one fails; returns how many are done.
std::size_t run_cases(const std::vector<Case>& cases, std::size_t first, const char* cubin, std::FILE* results,
                      std::FILE* raw) {
  Gpu gpu;
  if (!gpu.open(cubin)) return std::fprintf(stderr, "no GPU\n"), cases.size();
  for (std::size_t i = first; i < cases.size(); ++i) {
    const Case& c = cases[i];
    alignas(64) CUtensorMap map{};
    const bool mapped = c.has("dims");
    if (const CUresult e =
            mapped ? encode(c, gpu.data + static_cast<CUdeviceptr>(c.get("base", 0, kBase)), &map) : CUDA_SUCCESS) {
      std::fprintf(results, "encode_%d %s\n", e, c.text.c_str());
      continue;
    }
    Result result;
    for (int run = 0; run < c.runs() && !result.error; ++run) result.error = gpu.run(c, map, run, &result);
    std::fprintf(results, "%s %s\n", summary(c, result).c_str(), c.text.c_str());
    std::fprintf(raw, "%s\n  %s", c.text.c_str(), picture(c, result).c_str());
    if (!result.error && (result.done[0][0] == 0 || i % 50 == 0))
      std::fprintf(raw, " mbarrier %016llx %016llx", static_cast<unsigned long long>(gpu.before),
                   static_cast<unsigned long long>(gpu.after));
    std::fprintf(raw, "\n");
    if (result.error) return i + 1;
  }
  return cases.size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: record_on_gpu CUBIN CASES RESULTS RAW\n"), 2;
  const std::vector<Case> cases = read_cases(argv[2]);
  for (const char* path : {argv[3], argv[4]}) std::remove(path);
  int ends[2];
  if (pipe(ends)) return 2;
  for (std::size_t next = 0; next < cases.size();) {
    const pid_t child = fork();
    if (child == 0) {
      std::FILE *results = std::fopen(argv[3], "a"), *raw = std::fopen(argv[4], "a");
      const std::size_t done = run_cases(cases, next, argv[1], results, raw);
      std::fclose(results);
      std::fclose(raw);
      if (write(ends[1], &done, sizeof done) != sizeof done) _exit(2);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 ||
        read(ends[0], &next, sizeof next) != sizeof next)
      return std::fprintf(stderr, "a child failed behind case %zu\n", next), 1;
  }
  return 0;
}
