// Matrix multiplication C = A B in double (and float), row-major, any sizes: the document's five steps, more of them,
// and the libraries of the GPU and of the CPU.
#include <climits>

#include "gemm/float_fitted.cuh"
#include "gemm/float_stages.cuh"
#include "gemm/kernels.cuh"
#include "gemm/tensor_fitted.cuh"
#include "gemm/tensor_stages.cuh"
#include "harness/blas.h"
#include "harness/harness.h"
#include "harness/product.h"
#include "matmul/register_tile.cuh"

namespace {

using lab::Role;

const lab::Topic kTopic = {
    .name = "gemm",
    .title = "matrix multiplication in double: elements per thread, shared memory, registers, libraries",
    .document = "002 (DTU)",
    .shows =
        "More elements per thread need fewer loads, if a warp still reads along rows. Shared memory and registers "
        "reduce the loads further; small matrices are faster on the CPU.",
    .size_names = "MxNxK",
    .quick_sizes = "16:256:x2,61x37x100",
    .full_sizes = "16:4096:x2,1000x777x1234",
    .large_sizes = "4096",
    .types = "double,float",
    .rungs = {{"cpu loop", "the CPU, one thread, three loops", Role::host},
              {"openblas", "the CPU, OpenBLAS", Role::host},
              {"one thread", "one thread of the GPU"},
              {"one element", "one thread per element: two loads per multiply-add"},
              {"two across", "two elements in one row share A, but a warp reads every second element of B"},
              {"two down", "two elements in one column share B: three loads for two, still along rows"},
              {"four across", "four in one row: fewer loads, four times the sectors per request"},
              {"four down", "four in one column: five loads for four"},
              {"shared, sum too", "tiles of 32 x 32 and the sum in shared memory"},
              {"shared", "the sum in a register"},
              {"registers 4x4", "16 elements per thread: each shared load serves 4 multiply-adds"},
              {"double buffer",
               "8 x 4 elements per thread (float: 8 x 8), next tiles loaded during the work, 16 bytes per load"},
              {"tensor cores", "tensor cores, also for double (compute capability 8.0 and later)"},
              {"stages", "tiles by asynchronous copies, several ahead; double: tensor core shapes of 9.0"},
              {"fitted", "operands already in the right registers; double: no block barrier"},
              {"cublas", "cuBLAS, row-major by swapping the operands", Role::library}},
    .options = {{"cpu-threads", "0", "threads of OpenBLAS; 0: one for each core"}},
};

constexpr double kOneThreadSteps = 128.0 * 128 * 128;  // beyond that it takes seconds
constexpr double kCpuLoopSteps = 512.0 * 512 * 512;

// Data that all rows of one size share.
template <class T>
struct Bench {
  Bench(lab::Program& in, const lab::Size& size_, const char* type_)
      : program(in),
        size(size_),
        type(type_),
        product(size_),
        a(product.a, size_t(product.m) * product.k),
        b(product.b, size_t(product.k) * product.n),
        c(size_t(product.m) * product.n) {}

  lab::Case row(const char* rung) const { return {rung, size, type, product.work()}; }

  template <class Launch>
  void measure(const char* rung, Launch launch) {
    program.run(
        row(rung), [&] { c.poison(); }, launch, [&] { return product.verify(c.host()); });
  }
  // Blocks of `threads` that compute `rows` x `columns` elements each.
  using Kernel = void (*)(const T*, const T*, T*, int, int, int);
  void kernel(const char* rung, Kernel kernel, int rows, int columns, dim3 threads) {
    if (!lab::block_fits(kernel, threads.x * threads.y)) {
      program.skip(row(rung), "one block needs more threads, registers or shared memory than this GPU has");
      return;
    }
    const dim3 grid(lab::blocks(product.n, columns), lab::blocks(product.m, rows));
    measure(rung, [&] { kernel<<<grid, threads>>>(a.data(), b.data(), c.data(), product.m, product.n, product.k); });
  }
  template <class Multiply>
  void host(const lab::Case& what, Multiply multiply) {
    std::vector<T> out(size_t(product.m) * product.n, std::numeric_limits<T>::quiet_NaN());
    program.run_on_host(
        what, [&] { multiply(product.a.data(), product.b.data(), out.data(), product.m, product.n, product.k); },
        [&] { return product.verify(out); });
  }

  lab::Program& program;
  const lab::Size size;
  const char* type;
  const lab::Product<T> product;
  lab::DeviceArray<T> a, b, c;
};

// Loop order row, step, column: the fastest one for row-major matrices.
template <class T>
void multiply_on_cpu(const T* a, const T* b, T* c, int m, int n, int k) {
  for (int row = 0; row < m; ++row) {
    T* out = c + size_t(row) * n;
    std::fill(out, out + n, T(0));
    for (int i = 0; i < k; ++i)
      for (int column = 0; column < n; ++column) out[column] += a[size_t(row) * k + i] * b[size_t(i) * n + column];
  }
}

template <class T>
void run_cpu(Bench<T>& bench, const lab::OpenBlas& openblas, int threads) {
  const double steps = double(bench.product.m) * bench.product.n * bench.product.k;
  if (steps <= kCpuLoopSteps)
    bench.host(bench.row("cpu loop"), multiply_on_cpu<T>);
  else
    bench.program.skip(bench.row("cpu loop"), "takes seconds on one core; runs only up to 512x512x512");
  lab::Case blas = bench.row("openblas");
  blas.parameters = {{"threads", double(threads)}};
  if (openblas.missing().empty())
    bench.host(blas, [&](auto... arguments) { openblas.multiply(arguments...); });
  else
    bench.program.skip(blas, openblas.missing());
}

int compute_capability_major() {
  int device = 0, major = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major;
}

template <class T>
void run_tensor(Bench<T>& bench) {
  if constexpr (sizeof(T) == sizeof(float))
    bench.program.skip(bench.row("tensor cores"), "they use only 11 bits of a float (TF32): a different product");
  else if (compute_capability_major() < 8)
    bench.program.skip(bench.row("tensor cores"), "no tensor cores for double: needs compute capability 8.0");
  else
    bench.kernel("tensor cores", gemm_tensor<16>, 64, 64, dim3(128));
}

// A larger tile needs fewer loads for each element, but there must be enough tiles for all multiprocessors.
template <class T>
struct StagesOf {
  using Large = FloatShape<128, 256, 32, 8, 16, 3, 1>;
  using Middle = FloatShape<128, 128, 8, 8, 8, 4, 2>;
  using Small = FloatShape<64, 64, 16, 8, 4, 4, 4>;
  static constexpr int kMajor = 8;
  template <class Shape, bool kWide>
  static constexpr auto kernel = gemm_float_stages<Shape, kWide>;
};
template <>
struct StagesOf<double> {
  using Large = TensorShape<128, 128, 32, 2, 4, 3, 16>;
  using Middle = TensorShape<128, 64, 16, 2, 2, 4, 8, 2>;
  using Small = TensorShape<64, 64, 16, 2, 2, 4, 8, 3>;
  static constexpr int kMajor = 9;
  template <class Shape, bool kWide>
  static constexpr auto kernel = gemm_tensor_stages<Shape, kWide>;
};

template <class Shape, class T>
void run_stages_of(Bench<T>& bench) {
  const int m = bench.product.m, n = bench.product.n, k = bench.product.k;
  const bool wide = n % Pack<T>::kCount == 0 && k % Pack<T>::kCount == 0;  // rows are aligned to 16 bytes
  const auto kernel = wide ? StagesOf<T>::template kernel<Shape, true> : StagesOf<T>::template kernel<Shape, false>;
  if (Shape::kShared > lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))
    return bench.program.skip(bench.row("stages"), "this GPU has not enough shared memory for one block");
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kShared));
  const int grid = lab::blocks(m, Shape::kTileM) * lab::blocks(n, Shape::kTileN);
  bench.measure("stages", [&] {
    kernel<<<grid, Shape::kThreads, Shape::kShared>>>(bench.a.data(), bench.b.data(), bench.c.data(), m, n, k);
  });
}

// Returns whether this shape's tiles fill each multiprocessor `times` over, and whether a block fits at all.
template <class Shape, class T>
bool fills(const Bench<T>& bench, int times) {
  const long tiles =
      static_cast<long>(lab::blocks(bench.product.m, Shape::kTileM)) * lab::blocks(bench.product.n, Shape::kTileN);
  return tiles >= times * lab::device_attribute(cudaDevAttrMultiProcessorCount) &&
         Shape::kShared <= lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

template <class T>
void run_stages(Bench<T>& bench) {
  using Large = typename StagesOf<T>::Large;
  using Middle = typename StagesOf<T>::Middle;
  if (compute_capability_major() < StagesOf<T>::kMajor)
    return bench.program.skip(bench.row("stages"), "this GPU lacks its instructions: compute capability " +
                                                       std::to_string(StagesOf<T>::kMajor) + ".0 up");
  if (fills<Large>(bench, 3))
    run_stages_of<Large>(bench);
  else if (fills<Middle>(bench, 1))
    run_stages_of<Middle>(bench);
  else
    run_stages_of<typename StagesOf<T>::Small>(bench);
}

// A shape is done sooner if its tiles are smaller and fewer of them come one after another on a multiprocessor. A
// larger tile is better only if that is equal.
template <class T>
struct FittedOf {
  using Large = FittedFloatShape<128, 256, 8, 16, 4, 1, 3>;
  using Middle = FittedFloatShape<128, 128, 8, 8, 3, 2, 4>;
  using Small = FittedFloatShape<64, 128, 8, 8, 4, 2, 4>;
  template <class Shape>
  static auto kernel(bool wide, int m, int n) {
    const bool inside = m >= Shape::kTileM && n >= Shape::kTileN;
    return wide     ? inside ? gemm_float_fitted<Shape, true, true> : gemm_float_fitted<Shape, true, false>
               : inside ? gemm_float_fitted<Shape, false, true>
                    : gemm_float_fitted<Shape, false, false>;
  }
};
template <>
struct FittedOf<double> {
  using Large = FittedTensorShape<112, 128, 2, 4, 6>;
  using Middle = FittedTensorShape<128, 128, 2, 4, 6>;
  using Small = FittedTensorShape<128, 64, 4, 2, 6>;
  template <class Shape>
  static auto kernel(bool wide, int, int) {
    return wide ? gemm_tensor_fitted<Shape, true> : gemm_tensor_fitted<Shape, false>;
  }
};

template <class Shape, class T>
void run_fitted_of(Bench<T>& bench) {
  const int m = bench.product.m, n = bench.product.n, k = bench.product.k;
  const bool wide = n % Pack<T>::kCount == 0 && k % Pack<T>::kCount == 0;  // rows are aligned to 16 bytes
  const auto kernel = FittedOf<T>::template kernel<Shape>(wide, m, n);
  if (Shape::kShared > lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))
    return bench.program.skip(bench.row("fitted"), "this GPU has not enough shared memory for one block");
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kShared));
  const int grid = lab::blocks(m, Shape::kTileM) * lab::blocks(n, Shape::kTileN);
  bench.measure("fitted", [&] {
    kernel<<<grid, Shape::kThreads, Shape::kShared>>>(bench.a.data(), bench.b.data(), bench.c.data(), m, n, k);
  });
}

// Elements of C that the busiest multiprocessor computes one after another. The maximum of long if no block fits.
template <class Shape, class T>
long busiest(const Bench<T>& bench) {
  const long tiles =
      static_cast<long>(lab::blocks(bench.product.m, Shape::kTileM)) * lab::blocks(bench.product.n, Shape::kTileN);
  const bool fits = Shape::kShared <= lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return fits ? lab::blocks(tiles, lab::device_attribute(cudaDevAttrMultiProcessorCount)) *
                    static_cast<long>(Shape::kTileM * Shape::kTileN)
              : LONG_MAX;
}

template <class T>
void run_fitted(Bench<T>& bench) {
  using Of = FittedOf<T>;
  if (compute_capability_major() < StagesOf<T>::kMajor)
    return bench.program.skip(bench.row("fitted"), "this GPU lacks its instructions: compute capability " +
                                                       std::to_string(StagesOf<T>::kMajor) + ".0 up");
  const long large = busiest<typename Of::Large>(bench), middle = busiest<typename Of::Middle>(bench);
  const long small = busiest<typename Of::Small>(bench);
  if (large <= std::min(middle, small))
    run_fitted_of<typename Of::Large>(bench);
  else if (middle <= small)
    run_fitted_of<typename Of::Middle>(bench);
  else
    run_fitted_of<typename Of::Small>(bench);
}

template <class T>
void run_gpu(Bench<T>& bench, lab::Cublas& cublas) {
  const int m = bench.product.m, n = bench.product.n, k = bench.product.k;
  if (double(m) * n * k <= kOneThreadSteps)
    bench.kernel("one thread", gemm_one_thread<T>, m, n, dim3(1));
  else
    bench.program.skip(bench.row("one thread"), "one thread would take seconds; runs only up to 128x128x128");
  const dim3 square(16, 16);
  bench.kernel("one element", gemm_one_element<T>, 16, 16, square);
  bench.kernel("two across", gemm_across<T, 2>, 16, 32, square);
  bench.kernel("two down", gemm_down<T, 2>, 32, 16, square);
  bench.kernel("four across", gemm_across<T, 4>, 16, 64, square);
  bench.kernel("four down", gemm_down<T, 4>, 64, 16, square);
  bench.kernel("shared, sum too", gemm_shared_sum<T, 32>, 32, 32, dim3(32, 32));
  bench.kernel("shared", gemm_shared<T, 32>, 32, 32, dim3(32, 32));
  bench.kernel("registers 4x4", matmul_registers<T, 4>, 64, 64, square);
  // A double takes two registers: half as many elements a thread.
  constexpr int kAcross = 32 / sizeof(T), kRows = 128, kColumns = 16 * kAcross, kPack = Pack<T>::kCount;
  const bool wide = n % kPack == 0 && k % kPack == 0;  // rows of all three matrices are aligned to 16 bytes
  bench.kernel("double buffer",
               wide ? matmul_double_buffer<T, kRows, kColumns, kAcross, true>
                    : matmul_double_buffer<T, kRows, kColumns, kAcross, false>,
               kRows, kColumns, dim3(256));
  run_tensor(bench);
  run_stages(bench);
  run_fitted(bench);
  if (cublas.missing().empty())
    bench.measure("cublas", [&] { cublas.multiply(bench.a.data(), bench.b.data(), bench.c.data(), m, n, k); });
  else
    bench.program.skip(bench.row("cublas"), cublas.missing());
}

template <class T>
void run_type(lab::Program& program, const char* type, lab::Cublas& cublas, const lab::OpenBlas& openblas,
              int threads) {
  for (const lab::Size& size : program.sizes()) {
    const double mk = double(size[0]) * size[2], kn = double(size[2]) * size[1], mn = double(size[0]) * size[1];
    if (!program.fits(size, sizeof(T) * (mk + kn + mn), sizeof(T) * (mk + kn) + 40 * mn)) continue;
    Bench<T> bench(program, size, type);
    run_cpu(bench, openblas, threads);
    run_gpu(bench, cublas);
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int asked = static_cast<int>(program.line().option_number("cpu-threads", 0, 1024));
  const int threads = asked ? asked : cores;
  const lab::OpenBlas openblas(threads);
  lab::Cublas cublas;
  for (const std::string& type : program.types()) {
    if (type == "float")
      run_type<float>(program, "float", cublas, openblas, threads);
    else
      run_type<double>(program, "double", cublas, openblas, threads);
  }
  return program.finish();
}
