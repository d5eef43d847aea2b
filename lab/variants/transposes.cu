// Variants of the transpose: sides of the tile, order of the tiles.
#include "transpose/cublas.h"
#include "transpose/squares.cuh"
#include "variants/bench.h"

namespace {

using variants::Bench;

template <class Kernel>
void allow_shared(Kernel kernel, unsigned bytes) {
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}
__global__ void transpose_plain(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < columns && y < rows) out[static_cast<long>(x) * rows + y] = in[static_cast<long>(y) * columns + x];
}

class Turns {
 public:
  Turns(Bench& bench, int rows, int columns)
      : bench_(bench),
        rows_(rows),
        columns_(columns),
        in_(size_t(rows) * columns),
        out_(in_.count()),
        expected_(in_.count()) {
    variants::fill_values<<<variants::kFillBlocks, variants::kFillThreads>>>(in_.data(), in_.count(), 9);
    transpose_plain<<<dim3(lab::blocks(columns, 32), lab::blocks(rows, 8)), dim3(32, 8)>>>(in_.data(), expected_.data(),
                                                                                           rows, columns);
    CHECK_KERNEL();
  }
  void all() {
    squares<16, 16, Order::rows>("64x64 rows");
    squares<16, 16, Order::columns>("64x64 columns");
    squares<16, 16, Order::squares>("64x64 squares");
    squares<32, 8, Order::rows>("128x32 rows");
    squares<8, 32, Order::rows>("32x128 rows");
    squares<8, 32, Order::columns>("32x128 columns");
    squares<32, 16, Order::rows>("128x64 rows");
    squares<16, 32, Order::rows>("64x128 rows");
    squares<16, 32, Order::columns>("64x128 columns");
    squares<32, 32, Order::rows>("128x128 rows");
    squares<32, 32, Order::squares>("128x128 squares");
    const Geam geam;
    if (geam.missing().empty()) run("cublasSgeam", [&] { geam.transpose(in_.data(), out_.data(), rows_, columns_); });
  }

 private:
  void run(const char* name, const std::function<void()>& launch) {
    out_.poison();
    bench_.run("transpose", name, std::to_string(rows_) + "x" + std::to_string(columns_), 2.0 * in_.bytes(), "GB/s",
               launch, [&] { return variants::different(expected_.data(), out_.data(), in_.count()) == 0; });
  }
  template <int kWide, int kHigh, Order kOrder>
  void squares(const char* name) {
    const auto kernel = transpose_squares<float, kWide, kHigh, kOrder, true>;
    constexpr unsigned kShared = 4 * kWide * kHigh * 16;
    allow_shared(kernel, kShared);
    const int grid = lab::blocks(columns_, 4 * kWide) * lab::blocks(rows_, 4 * kHigh);
    run(name, [=, this] { kernel<<<grid, kWide * kHigh, kShared>>>(in_.data(), out_.data(), rows_, columns_); });
  }

  Bench& bench_;
  int rows_, columns_;
  lab::DeviceArray<float> in_, out_, expected_;
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv);
  if (bench.small()) Turns(bench, 500, 332).all();
  bench.small() ? Turns(bench, 1152, 1024).all() : Turns(bench, 16384, 16384).all();
  return bench.finish();
}
