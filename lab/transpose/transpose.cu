// Transpose of a matrix. There is no arithmetic, so a copy of the same matrix is the bound.
#include "harness/harness.h"
#include "transpose/cublas.h"
#include "transpose/kernels.cuh"
#include "transpose/squares.cuh"

namespace {

const lab::Topic kTopic = {
    .name = "transpose",
    .title = "matrix transpose: coalescing on both sides, then banks",
    .document = "001 (Advanced CUDA)",
    .shows =
        "A transpose reads rows and writes columns. With a tile in shared memory, both global sides are rows; one "
        "unused word per row, or a swizzle, removes the bank conflicts; wide accesses do the rest.",
    .size_names = "ROWSxCOLUMNS",
    .quick_sizes = "1024",
    .full_sizes = "1024,4096,8192,1000x1537",
    .large_sizes = "8192",
    .types = "float,double",
    .rungs = {{"copy", "rows in, rows out: what transposes are compared with", lab::Role::bound},
              {"naive", "rows in, columns out: 32 sectors per store request"},
              {"shared", "through a tile: rows on both sides, a tile column in one bank"},
              {"padded", "tile with one extra word per row: no conflicts; 4 elements per thread"},
              {"one element", "padded, but one thread per element: for comparison", lab::Role::sweep},
              {"swizzled", "element x of row y at x ^ y: no conflicts, no waste"},
              {"vector", "16 bytes per lane from and to global memory; 2 lanes per bank in the tile"},
              {"registers", "squares of 16-byte vectors transposed in registers: the tile holds vectors"},
              {"long pieces",
               "tiles of 512 bytes, in column order: writes stay for a longer time in one page of memory"},
              {"cublasGeam", "cuBLAS", lab::Role::library}},
    .options = {{"tile", "32", "width of the tile, 16 or 32 (the last two rungs have their own)"}},
};

template <class T>
class Transposes {
 public:
  Transposes(lab::Program& program, const lab::Size& size, const char* type)
      : program_(program),
        size_(size),
        type_(type),
        rows_(static_cast<int>(size[0])),
        columns_(static_cast<int>(size[1])),
        host_(lab::Random(3).values<T>(lab::runs_in_part() ? 0 : size_t(rows_) * columns_)),
        turned_(host_.size()),
        in_(host_, size_t(rows_) * columns_),
        out_(in_.count()) {
    if (host_.empty()) return;
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x) turned_[size_t(x) * rows_ + y] = host_[size_t(y) * columns_ + x];
  }

  template <int kTile>
  void tiled() {
    const dim3 block(kTile, kTile / 4);
    constexpr unsigned kPlain = kTile * kTile * sizeof(T), kPadded = kTile * (kTile + 1) * sizeof(T);
    run("copy", copy<T, kTile>, kTile, block, 0, host_);
    run("naive", transpose_naive<T, kTile>, kTile, block, 0, turned_);
    run("shared", transpose_shared<T, kTile>, kTile, block, kPlain, turned_);
    run("padded", transpose_padded<T, kTile>, kTile, block, kPadded, turned_);
    run("one element", transpose_one_element<T, kTile>, kTile, dim3(kTile, kTile), kPadded, turned_);
    run("swizzled", transpose_swizzled<T, kTile>, kTile, block, kPlain, turned_);
  }
  template <bool kWhole>
  void vectors() {
    constexpr int kSide = kVectorsPerRow * Vector<T>::kCount;
    const dim3 block(kVectorsPerRow, kVectorsPerRow);
    run("vector", transpose_vector<T, kWhole>, kSide, block, kSide * (kSide + 1) * sizeof(T), turned_);
    run("registers", transpose_registers<T, kWhole>, kSide, block, kSide * kSide * sizeof(T), turned_);
  }
  template <bool kWhole>
  void pieces() {
    constexpr int kWide = 16, kHigh = 32, kCount = Vector<T>::kCount;
    constexpr unsigned kThreads = kWide * kHigh, kShared = kThreads * kCount * sizeof(Vector<T>);
    if (kThreads > most_threads_) return skip("long pieces", "threads", kThreads, most_threads_);
    if (kShared > most_shared_) return skip("long pieces", "bytes of shared memory", kShared, most_shared_);
    const int grid = lab::blocks(columns_, kWide * kCount) * lab::blocks(rows_, kHigh * kCount);
    program_.run(
        row("long pieces"), [&] { out_.poison(); },
        [&] {
          transpose_squares<T, kWide, kHigh, Order::columns, kWhole>
              <<<grid, kThreads, kShared>>>(in_.data(), out_.data(), rows_, columns_);
        },
        [&] { return lab::compare(out_.host(), turned_); });
  }
  void library() {
    if (!program_.chosen("cublasGeam")) return;
    const Geam geam;
    if (!geam.missing().empty()) return program_.skip(row("cublasGeam"), geam.missing());
    int status = 0;
    program_.run(
        row("cublasGeam"), [&] { out_.poison(); },
        [&] {
          if (const int s = geam.transpose(in_.data(), out_.data(), rows_, columns_)) status = s;
        },
        [&] {
          if (status) std::fprintf(stderr, "cublasGeam: status %d\n", status);
          return lab::compare(out_.host(), turned_);
        });
  }

 private:
  lab::Case row(const char* rung) const { return {rung, size_, type_, {2.0 * in_.bytes(), 0}}; }

  void skip(const char* rung, const char* what, unsigned needs, unsigned most) {
    program_.skip(row(rung), "a block would have " + std::to_string(needs) + " " + what + ", this GPU takes " +
                                 std::to_string(most));
  }
  static unsigned attribute(cudaDeviceAttr which) {
    int value = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return static_cast<unsigned>(value);
  }

  template <class Kernel>
  void run(const char* rung, Kernel kernel, int side, dim3 block, unsigned shared, const std::vector<T>& expected) {
    const unsigned threads = block.x * block.y;
    if (threads > most_threads_) return skip(rung, "threads", threads, most_threads_);
    if (shared > most_shared_) return skip(rung, "bytes of shared memory", shared, most_shared_);
    const dim3 grid(lab::blocks(columns_, side), lab::blocks(rows_, side));
    if (grid.y > 65535) return program_.skip(row(rung), "more than 65535 blocks in y");
    program_.run(
        row(rung), [&] { out_.poison(); }, [&] { kernel<<<grid, block>>>(in_.data(), out_.data(), rows_, columns_); },
        [&] { return lab::compare(out_.host(), expected); });
  }

  lab::Program& program_;
  const lab::Size& size_;
  const char* type_;
  int rows_, columns_;
  std::vector<T> host_, turned_;
  lab::DeviceArray<T> in_, out_;
  const unsigned most_threads_ = attribute(cudaDevAttrMaxThreadsPerBlock);
  const unsigned most_shared_ = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
};

template <class T>
void run_size(lab::Program& program, const lab::Size& size, const char* type, long tile) {
  const double bytes = 2.0 * sizeof(T) * size[0] * size[1];
  if (!program.fits(size, bytes, 2 * bytes)) return;
  Transposes<T> transposes(program, size, type);
  if (tile == 16)
    transposes.template tiled<16>();
  else
    transposes.template tiled<32>();
  constexpr int kCount = Vector<T>::kCount;
  if (size[0] % kCount == 0 && size[1] % kCount == 0) {
    transposes.template vectors<true>();
    transposes.template pieces<true>();
  } else {
    transposes.template vectors<false>();
    transposes.template pieces<false>();
  }
  transposes.library();
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const long tile = program.line().option_number("tile", 16, 32);
  if (tile != 16 && tile != 32) program.line().fail("--tile must be 16 or 32, not " + std::to_string(tile));
  for (const lab::Size& size : program.sizes()) {
    for (const long n : {size[0], size[1]})
      if (n > 0x7fffffff - 64) program.line().fail("a matrix has at most 2147483583 rows or columns");
    for (const std::string& type : program.types())
      if (type == "double")
        run_size<double>(program, size, "double", tile);
      else
        run_size<float>(program, size, "float", tile);
  }
  return program.finish();
}
