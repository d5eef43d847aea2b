// Matrix multiplication C = A B in float, row-major, A is m x k, B is k x n: the effect of reuse through shared memory
// and registers.
#include "harness/blas.h"
#include "harness/harness.h"
#include "harness/product.h"
#include "matmul/kernels.cuh"
#include "matmul/phases.h"
#include "matmul/register_tile.cuh"

namespace {

using lab::Role;

const lab::Topic kTopic = {
    .name = "matmul",
    .title = "matrix multiplication in float: reuse through tiles and registers",
    .document = "000 (COSC 407), 003 (IIT Kharagpur)",
    .shows =
        "N^3 multiply-adds on N^2 data: each element is needed N times. Shared memory and then registers keep it near "
        "and save global loads. The ratio of computing to memory sets the ceiling.",
    .size_names = "MxNxK",
    .quick_sizes = "16,100x37x61,256",
    .full_sizes = "16,64,256,1024,2048,4096,1000x777x1234",
    .large_sizes = "4096",
    .types = "float",
    .rungs = {{"one thread", "one thread computes everything"},
              {"naive", "one thread per element: 2 loads for 2 operations, ratio 1"},
              {"one tile", "whole matrices in one tile of shared memory: no phases (sizes up to 16)"},
              {"tiled", "tiles of 16 x 16 in phases: each load serves 16 threads"},
              {"tiled 32", "tiles of 32 x 32: each load serves 32 threads"},
              {"registers 4x4", "16 elements per thread: each shared load serves 4 multiply-adds"},
              {"registers 8x8", "64 elements per thread: each shared load serves 8"},
              {"double buffer", "the next tiles are loaded during the computation; 16-byte accesses"},
              {"cublas", "cuBLAS, row-major by swapping the operands", Role::library},
              {"tile width", "the tiled kernel by width of the tile; 1 is the naive kernel", Role::sweep}},
    .options = {{"block", "0,0", "X,Y: the block whose phases are shown"},
                {"phases-width", "2", "width of its tile"},
                {"phases-size", "4", "size of the matrices that are shown"}},
};

// One thread does some ten steps a microsecond, on a real GPU too.
constexpr double kOneThreadSteps = 128.0 * 128 * 128;
const std::vector<int> kWidths = {1, 2, 4, 8, 12, 14, 15, 16, 32};

using Kernel = void (*)(const float*, const float*, float*, int, int, int);
Kernel tiled_kernel(int width) {
  switch (width) {
    case 1:
      return matmul_naive;
    case 2:
      return matmul_tiled<2>;
    case 4:
      return matmul_tiled<4>;
    case 8:
      return matmul_tiled<8>;
    case 12:
      return matmul_tiled<12>;
    case 14:
      return matmul_tiled<14>;
    case 15:
      return matmul_tiled<15>;
    case 16:
      return matmul_tiled<16>;
    default:
      return matmul_tiled<32>;
  }
}

void run_size(lab::Program& program, const lab::Size& size, lab::Cublas& cublas) {
  const double mk = double(size[0]) * size[2], kn = double(size[2]) * size[1], mn = double(size[0]) * size[1];
  if (!program.fits(size, 4 * (mk + kn + mn), 4 * (mk + kn) + 28 * mn)) return;
  const lab::Product<float> product(size);
  const int m = product.m, n = product.n, k = product.k;
  lab::DeviceArray<float> a(product.a, size_t(m) * k), b(product.b, size_t(k) * n), c(size_t(m) * n);

  const auto measure = [&](const lab::Case& row, auto launch) {
    program.run(
        row, [&] { c.poison(); }, launch, [&] { return product.verify(c.host()); });
  };
  const auto row = [&](const char* rung) { return lab::Case{rung, size, "float", product.work()}; };
  // Blocks of `threads` that compute tile x tile elements each.
  const auto kernel_row = [&](const lab::Case& what, Kernel kernel, int tile, dim3 threads) {
    if (!lab::block_fits(kernel, threads.x * threads.y)) {
      program.skip(what, "one block needs more threads, registers or shared memory than this GPU has");
      return;
    }
    const dim3 grid(lab::blocks(n, tile), lab::blocks(m, tile));
    measure(what, [&] { kernel<<<grid, threads>>>(a.data(), b.data(), c.data(), m, n, k); });
  };

  if (double(m) * n * k <= kOneThreadSteps)
    measure(row("one thread"), [&] { matmul_one_thread<<<1, 1>>>(a.data(), b.data(), c.data(), m, n, k); });
  else
    program.skip(row("one thread"), "one thread would take seconds; runs only up to 128x128x128");
  kernel_row(row("naive"), matmul_naive, 16, dim3(16, 16));
  if (m <= 16 && n <= 16 && k <= 16)
    kernel_row(row("one tile"), matmul_one_tile<16>, 16, dim3(16, 16));
  else
    program.skip(row("one tile"), "the matrices do not fit in one tile of 16 x 16");
  kernel_row(row("tiled"), matmul_tiled<16>, 16, dim3(16, 16));
  kernel_row(row("tiled 32"), matmul_tiled<32>, 32, dim3(32, 32));
  kernel_row(row("registers 4x4"), matmul_registers<float, 4>, 64, dim3(16, 16));
  kernel_row(row("registers 8x8"), matmul_registers<float, 8>, 128, dim3(16, 16));
  const bool wide = n % 4 == 0 && k % 4 == 0;  // rows of all three matrices are aligned to 16 bytes
  kernel_row(row("double buffer"),
             wide ? matmul_double_buffer<float, 128, 128, 8, true> : matmul_double_buffer<float, 128, 128, 8, false>,
             128, dim3(256));
  if (cublas.missing().empty())
    measure(row("cublas"), [&] { cublas.multiply(a.data(), b.data(), c.data(), m, n, k); });
  else
    program.skip(row("cublas"), cublas.missing());
  for (const int width : kWidths) {
    lab::Case what = row("tile width");
    what.parameters = {{"width", double(width)}};
    const int block = width == 1 ? 16 : width;
    kernel_row(what, tiled_kernel(width), block, dim3(block, block));
  }
}

void show_phases(lab::Program& program) {
  const lab::CommandLine& line = program.line();
  phases::Block block{};
  block.n = static_cast<int>(line.option_number("phases-size", 1, 16));
  block.width = static_cast<int>(line.option_number("phases-width", 1, block.n));
  char rest = 0;
  if (std::sscanf(line.option("block").c_str(), "%d,%d%c", &block.x, &block.y, &rest) != 2 || block.x < 0 ||
      block.y < 0 || block.x >= block.count() || block.y >= block.count())
    line.fail("--block must be X,Y with both from 0 to " + std::to_string(block.count() - 1) + ", not '" +
              line.option("block") + "'");
  char title[120];
  std::snprintf(title, sizeof title, "Work for block (%d,%d): %d x %d matrices, tiles of %d x %d, %d phases", block.x,
                block.y, block.n, block.n, block.width, block.width, block.count());
  program.note(title, phases::describe(block));
}

void show_accesses(lab::Program& program) {
  int device = 0, khz = 0, bits = 0, sms = 0;
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  CHECK_CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, device));
  CHECK_CUDA(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device));
  CHECK_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  const double gb_per_s = 2.0 * khz * 1e3 * bits / 8 / 1e9;
  const lab::Size& size = program.sizes().back();
  program.note("Global memory accesses by width of the tile, size " + size.text(),
               phases::accesses(size[0], size[1], size[2], kWidths, gb_per_s, properties.name));
  program.note("Blocks, size " + size.text(), phases::blocks_by_tile(size[0], size[1], sms));
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  show_phases(program);
  lab::Cublas cublas;
  for (const lab::Size& size : program.sizes()) run_size(program, size, cublas);
  show_accesses(program);
  return program.finish();
}
