// Libraries: code that is loaded while the program runs.
#include <cstdio>
#include <fstream>

#include "../refused_kernel.h"
#include "api_test.h"

namespace warpgrind::runtime {

namespace {

constexpr const char* kCode = R"(.version 8.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .global .attribute(.managed) .align 4 .u32 managed = 7;
.visible .entry add_step(.param .u64 p)
{
  .reg .u64 %rd<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  ld.global.u32 %r2, [step];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%rd2], %r3;
  ret;
}
.visible .entry nothing() { ret; }
)";

unsigned after_add(cudaLibrary_t library) {
  test::Words d(1);
  unsigned* p = d;
  void* parameters[] = {&p};
  cudaKernel_t kernel = nullptr;
  OK(cudaLibraryGetKernel(&kernel, library, "add_step"));
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), {1, 1, 1}, {1, 1, 1}, parameters, 0, nullptr));
  return d.read()[0];
}

}  // namespace

TEST(Libraries, FromPtx) {
  cudaLibrary_t library = nullptr;
  OK(cudaLibraryLoadData(&library, kCode, nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_EQ(after_add(library), 3u);
  void* step = nullptr;
  std::size_t bytes = 0;
  OK(cudaLibraryGetGlobal(&step, &bytes, library, "step"));
  EXPECT_EQ(bytes, 4u);
  const unsigned five = 5;
  OK(cudaMemcpy(step, &five, sizeof five, cudaMemcpyHostToDevice));
  EXPECT_EQ(after_add(library), 5u);
  FAILS(cudaErrorSymbolNotFound, cudaLibraryGetManaged(&step, &bytes, library, "step"));
  OK(cudaLibraryGetManaged(&step, &bytes, library, "managed"));
  unsigned count = 0;
  OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 2u);
  cudaKernel_t all[2] = {};
  OK(cudaLibraryEnumerateKernels(all, 2, library));
  cudaKernel_t add = nullptr;
  OK(cudaLibraryGetKernel(&add, library, "add_step"));
  EXPECT_TRUE(all[0] == add || all[1] == add);
  FAILS(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&add, library, "none"));
  FAILS(cudaErrorSymbolNotFound, cudaLibraryGetGlobal(&step, &bytes, library, "none"));
  OK(cudaLibraryUnload(library));
  FAILS(cudaErrorInvalidResourceHandle, cudaLibraryUnload(library));
  FAILS(cudaErrorInvalidResourceHandle, cudaLibraryGetKernel(&add, library, "add_step"));
  FAILS(cudaErrorInvalidResourceHandle, cudaLibraryGetKernelCount(&count, library));
  FAILS(cudaErrorInvalidResourceHandle, cudaLibraryEnumerateKernels(all, 2, library));
  FAILS(cudaErrorInvalidResourceHandle, cudaLibraryGetManaged(&step, &bytes, library, "step"));
  void* parameters[] = {&step};
  FAILS(cudaErrorInvalidDeviceFunction,
        cudaLaunchKernel(reinterpret_cast<const void*>(all[0]), {1, 1, 1}, {1, 1, 1}, parameters, 0, nullptr));
}

TEST(Libraries, FromAFile) {
  const std::string path = testing::TempDir() + "add_step.ptx";
  std::ofstream(path) << kCode;
  cudaLibrary_t library = nullptr;
  OK(cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_EQ(after_add(library), 3u);
  OK(cudaLibraryUnload(library));
  std::remove(path.c_str());
  FAILS(cudaErrorFileNotFound,
        cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
}

// Two libraries of one image have separate variables.
TEST(Libraries, EachHasItsVariables) {
  cudaLibrary_t a = nullptr, b = nullptr;
  OK(cudaLibraryLoadData(&a, kCode, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cudaLibraryLoadData(&b, kCode, nullptr, nullptr, 0, nullptr, nullptr, 0));
  void *in_a = nullptr, *in_b = nullptr;
  OK(cudaLibraryGetGlobal(&in_a, nullptr, a, "step"));
  OK(cudaLibraryGetGlobal(&in_b, nullptr, b, "step"));
  EXPECT_NE(in_a, in_b);
  OK(cudaLibraryUnload(a));
  EXPECT_EQ(after_add(b), 3u);
  OK(cudaLibraryUnload(b));
}

// The buffer named by the options receives the error text.
TEST(Libraries, Refused) {
  char log[256] = "";
  cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  cudaLibrary_t library = nullptr;
  const std::string wrong =
      ".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry k() { mov.u32 %rx, 1; ret; }\n";
  FAILS(cudaErrorInvalidPtx, cudaLibraryLoadData(&library, wrong.c_str(), options, values, 2, nullptr, nullptr, 0));
  EXPECT_NE(std::string(log).find("%rx"), std::string::npos) << log;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log));
  FAILS(cudaErrorInvalidKernelImage,
        cudaLibraryLoadData(&library, "no code at all", nullptr, nullptr, 0, nullptr, nullptr, 0));
  FAILS(cudaErrorInvalidKernelImage, cudaLibraryLoadData(&library, "", nullptr, nullptr, 0, nullptr, nullptr, 0));
  FAILS(cudaErrorInvalidValue, cudaLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
}

// A kernel that hardware would run and the virtual GPU refuses. Later waits may not say success, because the results
// are wrong. When the program has read the error, other kernels run.
TEST(Libraries, WaitsAfterARefusedLaunchFail) {
  cudaLibrary_t library = nullptr;
  OK(cudaLibraryLoadData(&library, kRefusedKernel, nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  OK(cudaLibraryGetKernel(&kernel, library, "refused"));
  test::Words d(1);
  unsigned *p = d, word = 0;
  void* parameters[] = {&p};
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&event));
  const auto launch = [&](cudaStream_t on) {
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), {1, 1, 1}, {1, 1, 1}, parameters, 0, on);
  };
  FAILS(cudaErrorNotSupported, launch(nullptr));
  OK(cudaEventRecord(event));
  FAILS(cudaErrorNotSupported, cudaDeviceSynchronize());
  FAILS(cudaErrorNotSupported, cudaStreamSynchronize(nullptr));
  FAILS(cudaErrorNotSupported, cudaStreamSynchronize(stream));
  FAILS(cudaErrorNotSupported, cudaEventSynchronize(event));
  FAILS(cudaErrorNotSupported, cudaStreamQuery(nullptr));
  FAILS(cudaErrorNotSupported, cudaMemcpy(&word, p, sizeof word, cudaMemcpyDeviceToHost));
  FAILS(cudaErrorNotSupported, cudaPeekAtLastError());  // does not clear it
  FAILS(cudaErrorNotSupported, cudaDeviceSynchronize());
  FAILS(cudaErrorNotSupported, cudaGetLastError());
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&word, p, sizeof word, cudaMemcpyDeviceToHost));
  // The same for a launch by a graph.
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(launch(stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  FAILS(cudaErrorNotSupported, cudaGraphLaunch(exec, stream));
  FAILS(cudaErrorNotSupported, cudaStreamSynchronize(stream));
  FAILS(cudaErrorNotSupported, cudaGetLastError());
  OK(cudaStreamSynchronize(stream));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  // An error that a GPU gives, too, fails only the launch.
  FAILS(cudaErrorInvalidValue,
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel), {1, 1, 1}, {4096, 1, 1}, parameters, 0, nullptr));
  OK(cudaDeviceSynchronize());
  FAILS(cudaErrorInvalidValue, cudaGetLastError());
  OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(stream));
  OK(cudaLibraryUnload(library));
}

}  // namespace warpgrind::runtime
