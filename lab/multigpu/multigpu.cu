// Several GPUs: the Poisson domain split by rows, halo rows exchanged in three ways; a matrix multiplication split by
// rows. One host thread drives all GPUs.
#include <omp.h>

#include "harness/several_gpus.h"
#include "split.cuh"

namespace {

using namespace poisson;

const lab::Topic kTopic = {
    .name = "multigpu",
    .title = "several GPUs: a split Poisson domain, a split matrix multiplication",
    .document = "002 (DTU)",
    .shows =
        "Each GPU has a slab of rows and needs one row of each neighbour per sweep. Exchanged during the interior's "
        "work, or read remotely, it costs nothing if the slab is "
        "large.",
    .size_names = "ROWSxCOLUMNS",
    .quick_sizes = "1024",
    .full_sizes = "1024,8192",
    .types = "double",
    .rungs = {{"one_gpu", "the whole domain on one GPU"},
              {"peer_copy", "one slab per GPU; edge rows are copied after the sweep, without overlap"},
              {"overlap", "edges first; they are copied while the interior is computed"},
              {"overlap_graph", "'overlap' as one CUDA graph over all GPUs: the host issues once"},
              {"peer_load", "no copies: kernels read the edge rows in the neighbour's memory"},
              {"weak", "ROWS rows on each GPU, as 'overlap_graph': the time should not change", lab::Role::sweep},
              {"matmul", "C = A B: rows of A and C are split, the first GPU sends B to all", lab::Role::sweep}},
    .options = {{"devices", "4", "GPUs to use: rows for 1, 2, 4, ... and this number; if not given, fewer will do"},
                {"sweeps", "8", "sweeps of each rung"},
                {"matmul", "0", "order of the matrices, 0: 128 on the virtual GPU, else 2048"}},
};

lab::Case row(const char* rung, const lab::Size& size, const Grid& g, int sweeps, int devices) {
  // Not flushed, because the flush reaches only the first GPU.
  return {rung, size, "double", work<double>(g, sweeps), {{"devices", double(devices)}}, /*cold=*/false};
}

constexpr const char* kOneGpu = "one GPU here; `warpgrind run --devices 4` gives more";

void strong(lab::Program& program, const lab::Size& size, int sweeps, const std::vector<int>& counts, bool peers) {
  const Grid g(size[0], size[1]);
  const RandomProblem<double> problem(g);
  const Expected<double> expected(g, problem, sweeps);
  for (const int devices : counts) {
    if (devices > g.rows) {
      program.skip(row("peer_copy", size, g, sweeps, devices), "fewer rows than GPUs");
      continue;
    }
    Domain<double> domain(g, devices, problem);
    const auto run = [&](const char* rung, auto sweep) {
      program.run(
          row(rung, size, g, sweeps, devices), [&] { domain.reset(); }, [&] { sweep(); },
          [&] { return expected.verdict(domain.result(sweeps)); });
    };
    if (devices == 1) {
      run("one_gpu", [&] { domain.peer_copy(sweeps); });
      continue;
    }
    run("peer_copy", [&] { domain.peer_copy(sweeps); });
    run("overlap", [&] { domain.overlap(sweeps); });
    if (program.chosen("overlap_graph")) {
      const cudaGraphExec_t graph = domain.overlap_graph(sweeps);
      run("overlap_graph", [&] { CHECK_CUDA(cudaGraphLaunch(graph, nullptr)); });
      CHECK_CUDA(cudaGraphExecDestroy(graph));
    }
    if (peers)
      run("peer_load", [&] { domain.peer_load(sweeps); });
    else
      program.skip(row("peer_load", size, g, sweeps, devices), "these GPUs do not reach each other's memory");
  }
  if (counts.back() == 1)
    for (const char* rung : {"peer_copy", "overlap", "overlap_graph", "peer_load"})
      program.skip(row(rung, size, g, sweeps, 2), kOneGpu);
}

void weak(lab::Program& program, const lab::Size& size, int sweeps, const std::vector<int>& counts) {
  if (!program.chosen("weak")) return;
  for (const int devices : counts) {
    const lab::Size all{{size[0] * devices, size[1]}};
    const Grid g(all[0], all[1]);
    if (!program.fits(all, 40.0 * g.elements() / devices, 100.0 * g.elements())) return;
    const RandomProblem<double> problem(g);
    const Expected<double> expected(g, problem, sweeps);
    Domain<double> domain(g, devices, problem);
    const cudaGraphExec_t graph = domain.overlap_graph(sweeps);
    program.run(
        row("weak", all, g, sweeps, devices), [&] { domain.reset(); },
        [&] { CHECK_CUDA(cudaGraphLaunch(graph, nullptr)); }, [&] { return expected.verdict(domain.result(sweeps)); });
    CHECK_CUDA(cudaGraphExecDestroy(graph));
  }
}

constexpr int kTile = 16;

// Claim: a GPU with some rows of A and all of B computes those rows of C alone: no exchange once B has arrived.
__global__ void matmul_rows(const double* a, const double* b, double* c, int rows, int n) {
  __shared__ double ta[kTile][kTile + 1], tb[kTile][kTile];  // + 1: the two rows of a warp are in different banks
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  double sum = 0;
  for (int k = 0; k < n; k += kTile) {
    const int ka = k + threadIdx.x, kb = k + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = y < rows && ka < n ? a[static_cast<long>(y) * n + ka] : 0;
    tb[threadIdx.y][threadIdx.x] = kb < n && x < n ? b[static_cast<long>(kb) * n + x] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (y < rows && x < n) c[static_cast<long>(y) * n + x] = sum;
}

std::vector<double> host_product(const std::vector<double>& a, const std::vector<double>& b, int n) {
  std::vector<double> c(a.size(), 0);
#pragma omp parallel for
  for (int y = 0; y < n; ++y)
    for (int k = 0; k < n; ++k)
      for (int x = 0; x < n; ++x) c[size_t(y) * n + x] += a[size_t(y) * n + k] * b[size_t(k) * n + x];
  return c;
}

// One GPU's rows of A and C, and its copy of B.
struct Share {
  Share(int device, int n, const Part& part, const std::vector<double>& a)
      : device(device),
        rows(part.rows),
        first_use((CHECK_CUDA(cudaSetDevice(device)), true)),
        b(size_t(n) * n),
        a({a.begin() + size_t(part.first) * n, a.begin() + size_t(part.first + part.rows) * n}),
        c(size_t(rows) * n) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  }
  ~Share() {
    cudaStreamDestroy(stream);
    cudaEventDestroy(done);
  }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  int device, rows;
  bool first_use;  // selects this device before the arrays below are allocated
  lab::DeviceArray<double> b, a, c;
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
};

void matmul(lab::Program& program, const std::vector<int>& counts) {
  if (!program.chosen("matmul")) return;
  int n = static_cast<int>(program.line().option_number("matmul", 0, 16384));
  if (n == 0) n = lab::on_virtual_gpu() ? 128 : 2048;
  const lab::Size size{{n, n}};
  const double elements = double(n) * n;
  if (!program.fits(size, 24 * elements, 40 * elements)) return;
  lab::Random random(14);
  const std::vector<double> a = random.values<double>(size_t(n) * n), b = random.values<double>(size_t(n) * n);
  const std::vector<double> expected = host_product(a, b, n);
  const double tolerance = 2 * lab::sum_tolerance(n, lab::kUnitDouble);  // both results are rounded
  for (const int devices : counts) {
    const lab::Case c{"matmul", size, "double", {24 * elements, 2 * elements * n}, {{"devices", double(devices)}},
                      false};
    if (devices > n) {
      program.skip(c, "fewer rows than GPUs");
      continue;
    }
    std::vector<std::unique_ptr<Share>> shares;
    for (int d = 0; d < devices; ++d) shares.push_back(std::make_unique<Share>(d, n, part_of(n, devices, d), a));
    shares[0]->b.upload(b);
    CHECK_CUDA(cudaSetDevice(0));
    lab::Event begin;
    const auto poison = [&] {
      for (auto& s : shares) {
        CHECK_CUDA(cudaSetDevice(s->device));
        s->c.poison();
        if (s->device > 0) s->b.poison();
        CHECK_CUDA(cudaDeviceSynchronize());
      }
      CHECK_CUDA(cudaSetDevice(0));
    };
    const auto multiply = [&] {
      begin.record();
      for (auto& s : shares) {
        CHECK_CUDA(cudaSetDevice(s->device));
        CHECK_CUDA(cudaStreamWaitEvent(s->stream, begin.get(), 0));
        if (s->device > 0)
          CHECK_CUDA(cudaMemcpyPeerAsync(s->b.data(), s->device, shares[0]->b.data(), 0, s->b.bytes(), s->stream));
        const dim3 grid(lab::blocks(n, kTile), lab::blocks(s->rows, kTile));
        matmul_rows<<<grid, dim3(kTile, kTile), 0, s->stream>>>(s->a.data(), s->b.data(), s->c.data(), s->rows, n);
        CHECK_CUDA(cudaEventRecord(s->done, s->stream));
      }
      CHECK_CUDA(cudaSetDevice(0));
      for (auto& s : shares) CHECK_CUDA(cudaStreamWaitEvent(nullptr, s->done, 0));
    };
    program.run(c, poison, multiply, [&] {
      std::vector<double> got;
      for (auto& s : shares) {
        const std::vector<double> rows = s->c.host();
        got.insert(got.end(), rows.begin(), rows.end());
      }
      return lab::compare(got, expected, tolerance);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const int most = lab::device_count(program, argc, argv, 64);
  const int sweeps = static_cast<int>(program.line().option_number("sweeps", 1, 100000));
  const std::vector<int> counts = lab::device_counts(most);
  const bool peers = lab::enable_peers(most);
  if (!peers) program.note("peers", "These GPUs do not reach each other's memory: peer copies go through the host.");
  for (const lab::Size& size : program.sizes()) {
    if (size[0] > (1L << 24) || size[1] > (1L << 24)) {
      program.skip({"", size, "double", {}}, "a side above 2^24");
      continue;
    }
    const double elements = double(size[0] + 2) * (size[1] + 64);
    if (!program.fits(size, 40 * elements, 100 * elements)) continue;
    strong(program, size, sweeps, counts, peers);
    weak(program, size, sweeps, counts);
  }
  matmul(program, counts);
  return program.finish();
}
