// Poisson's equation in two dimensions by Jacobi's method. A sweep does 5 operations for 3 numbers moved. Only memory
// matters, so each rung moves less than the one before. grid.h has the layout and the reference.
#include <omp.h>

#include <functional>

#include "converge.cuh"
#include "harness/strips.h"
#include "kernels.cuh"
#include "ring.cuh"
#include "stream.cuh"

namespace {

using namespace poisson;

constexpr double kMostPointsForOneThread = 256 * 256;  // the largest size that the document measured

const lab::Topic kTopic = {
    .name = "poisson",
    .title = "Poisson's equation, Jacobi sweeps in 2D: move less per sweep",
    .document = "002 (DTU)",
    .shows =
        "A sweep does 5 operations per 3 moved numbers, so memory is the limit. Several sweeps per pass over the "
        "memory, with the halo computed twice, exceed it.",
    .size_names = "ROWSxCOLUMNS",
    .quick_sizes = "48x40,512",
    .full_sizes = "256,700,1024,4096,8192,4099x3001",
    .types = "double,float",
    .rungs = {{"one_thread", "one GPU thread does everything"},
              {"naive", "one thread per point, one launch per sweep"},
              {"shared", "32 x 8 tile with halo in shared memory: 1.33 loads of u a point, not 4"},
              {"graph", "the naive sweeps as one CUDA graph: one launch in all"},
              {"grid_sync", "loop on the GPU: one cooperative launch, a grid barrier per sweep"},
              {"grid_resident", "the same, tiles kept in shared memory and registers; only their edges move"},
              {"temporal2", "2 sweeps per launch in shared memory, halo of 2 recomputed"},
              {"temporal4", "4 sweeps per launch, halo of 4"},
              {"temporal8", "8 sweeps per launch, halo of 8"},
              {"stream1", "warps stream down columns in registers, 16 bytes per load; one sweep"},
              {"stream4", "the same, 4 sweeps in registers per pass over memory"},
              {"stream8", "8 sweeps in registers"},
              {"ring4", "4 sweeps, rows prefetched to shared memory, no comparison inside the grid"},
              {"ring8", "8 sweeps"},
              {"cpu", "OpenMP on the host", lab::Role::host},
              {"converge_sine", "to a tolerance, norm on the GPU; against the analytic solution", lab::Role::sweep},
              {"converge_room", "heated room; against over-relaxation on the host", lab::Role::sweep}},
    .options = {{"sweeps", "8", "sweeps of each rung"},
                {"cpu-threads", "0", "OpenMP threads of the host's rung, 0: all"},
                {"converge", "0", "points a side for the convergence rows, 0: 24 on the virtual GPU, else 128"},
                {"tolerance", "1e-6", "convergence: largest change of a sweep, relative to the first sweep's"}},
};

dim3 blocks_of(const Grid& g) {
  return dim3(lab::blocks(g.columns, kBlockX), lab::blocks(g.rows, kBlockY));
}

// One size and type: its arrays, and the way a rung is run and verified.
template <class T>
class Ladder {
 public:
  Ladder(lab::Program& program, const lab::Size& size, int sweeps)
      : program_(program),
        size_(size),
        g_(size[0], size[1]),
        sweeps_(sweeps),
        problem_(g_),
        expected_(g_, problem_, sweeps),
        start_(g_, problem_.start),
        empty_(g_, problem_.empty),
        source_(g_, problem_.source),
        a_(g_),
        b_(g_) {}

  void run() {
    const dim3 block(kBlockX, kBlockY), grid = blocks_of(g_);
    if (g_.points() <= kMostPointsForOneThread)
      sweep_by(1, "one_thread", [&](const T* u, T* out) { jacobi_one_thread<<<1, 1>>>(u, source_.data(), out, g_); });
    else
      program_.skip(row("one_thread"), "one thread: only up to 65,536 points");
    sweep_by(1, "naive", [&](const T* u, T* out) { jacobi_naive<<<grid, block>>>(u, source_.data(), out, g_); });
    sweep_by(1, "shared", [&](const T* u, T* out) { jacobi_shared<<<grid, block>>>(u, source_.data(), out, g_); });
    graph();
    cooperative("grid_sync", jacobi_grid_sync<T>, grid, block, false);
    cooperative("grid_resident", jacobi_grid_resident<T>,
                dim3(lab::blocks(g_.columns, kKeptX), lab::blocks(g_.rows, kKeptY)), dim3(kKeptX, kKeptThreadsY), true);
    temporal<2>("temporal2");
    temporal<4>("temporal4");
    temporal<8>("temporal8");
    stream<1>("stream1");
    stream<4>("stream4");
    stream<8>("stream8");
    ring<4>("ring4");
    ring<8>("ring8");
    cpu();
  }

 private:
  lab::Case row(const char* rung) const { return {rung, size_, type_name<T>(), work<T>(g_, sweeps_)}; }
  void reset() {
    a_.copy_from(start_);
    b_.copy_from(empty_);
  }
  // The array that holds the result of sweeps that start in a_ and change arrays `times` times.
  Field<T>& result(int times) { return times % 2 ? b_ : a_; }
  lab::Verdict verdict(const Field<T>& field) const { return expected_.verdict(interior(g_, field.host())); }

  // Does launches of `deep` sweeps each, and launches of one sweep for the remainder.
  using Sweep = std::function<void(const T*, T*)>;
  void sweep_by(int depth, const char* rung, const Sweep& deep, const Sweep& single = {}) {
    const int launches = sweeps_ / depth + sweeps_ % depth;
    program_.run(
        row(rung), [&] { reset(); },
        [&] {
          for (int i = 0; i < launches; ++i)
            (i < sweeps_ / depth ? deep : single)(result(i).data(), result(i + 1).data());
        },
        [&] { return verdict(result(launches)); });
  }

  template <int kDepth>
  void temporal(const char* rung) {
    const dim3 grid(lab::blocks(g_.columns, kTile), lab::blocks(g_.rows, kTile));
    sweep_by(
        kDepth, rung,
        [&](const T* u, T* out) { jacobi_temporal<T, kDepth><<<grid, kTemporalThreads>>>(u, source_.data(), out, g_); },
        [&](const T* u, T* out) { jacobi_temporal<T, 1><<<grid, kTemporalThreads>>>(u, source_.data(), out, g_); });
  }

  // Rows a warp: many, so that few are recomputed, but enough warps must remain for every multiprocessor.
  template <int kDepth>
  void launch_stream(const T* u, T* out) {
    int device = 0, processors = 0;
    CHECK_CUDA(cudaGetDevice(&device));
    CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int strips = lab::blocks(g_.columns, kStripWidth<T, kDepth>);
    int chunk = 128;
    while (chunk > 4 * kDepth && static_cast<long>(strips) * lab::blocks(g_.rows, chunk) < 16L * processors) chunk /= 2;
    const dim3 grid(strips, lab::blocks(g_.rows, chunk * kStreamWarps));
    jacobi_stream<T, kDepth><<<grid, dim3(32, kStreamWarps)>>>(u, source_.data(), out, g_, chunk);
  }
  template <int kDepth>
  void stream(const char* rung) {
    sweep_by(
        kDepth, rung, [&](const T* u, T* out) { launch_stream<kDepth>(u, out); },
        [&](const T* u, T* out) { launch_stream<1>(u, out); });
  }

  template <int kDepth>
  void ring(const char* rung) {
    using Shape = Ring<T, kDepth, kPerLane<T>, kDepth>;
    constexpr int kWaves = 4;  // ring8 of floats on an H200 at 16384^2: 124 us a sweep, with 2 waves 141
    int major = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major < 8) return program_.skip(row(rung), "this GPU has no asynchronous copies: compute capability 8.0 up");
    CHECK_CUDA(cudaFuncSetAttribute(jacobi_ring<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kShared));
    int each = 0;
    CHECK_CUDA(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, jacobi_ring<Shape>, 32 * Shape::kWarps, Shape::kShared));
    const lab::Strips cut = lab::cut_strips(g_.rows, g_.columns, Shape::kWidth, Shape::kWarps, each, kWaves);
    sweep_by(
        kDepth, rung,
        [&](const T* u, T* out) {
          jacobi_ring<Shape><<<cut.grid, 32 * Shape::kWarps, Shape::kShared>>>(u, source_.data(), out, g_, cut.chunk);
        },
        [&](const T* u, T* out) { launch_stream<1>(u, out); });
  }

  void graph() {
    if (!program_.chosen("graph")) return;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK_CUDA(cudaStreamCreate(&stream));
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < sweeps_; ++i)
      jacobi_naive<<<blocks_of(g_), dim3(kBlockX, kBlockY), 0, stream>>>(result(i).data(), source_.data(),
                                                                         result(i + 1).data(), g_);
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&ready, graph, 0));
    program_.run(
        row("graph"), [&] { reset(); }, [&] { CHECK_CUDA(cudaGraphLaunch(ready, nullptr)); },
        [&] { return verdict(result(sweeps_)); });
    CHECK_CUDA(cudaGraphExecDestroy(ready));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaStreamDestroy(stream));
  }

  // One launch whose blocks wait for each other, so all must be on the GPU at once. `tiles`: number of blocks that
  // would be useful, or (all_of_them) that are required.
  using Cooperative = void (*)(T*, const T*, T*, Grid, int);
  void cooperative(const char* rung, Cooperative kernel, dim3 tiles, dim3 block, bool all_of_them) {
    int device = 0, processors = 0, each = 0, possible = 0;
    CHECK_CUDA(cudaGetDevice(&device));
    CHECK_CUDA(cudaDeviceGetAttribute(&possible, cudaDevAttrCooperativeLaunch, device));
    if (!possible) return program_.skip(row(rung), "this GPU has no cooperative launches");
    CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, static_cast<int>(block.x * block.y), 0));
    const long useful = static_cast<long>(tiles.x) * tiles.y, resident = static_cast<long>(processors) * each;
    if (all_of_them && useful > resident)
      return program_.skip(row(rung),
                           std::to_string(useful) + " tiles, " + std::to_string(resident) + " fit on the GPU");
    if (!all_of_them) tiles = dim3(static_cast<unsigned>(std::min(useful, resident)));
    T* u = a_.data();
    T* out = b_.data();
    const T* source = source_.data();
    void* arguments[] = {&u, &source, &out, &g_, &sweeps_};
    program_.run(
        row(rung), [&] { reset(); },
        [&] {
          CHECK_CUDA(
              cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), tiles, block, arguments, 0, nullptr));
        },
        [&] { return verdict(result(sweeps_)); });
  }

  void cpu() {
    std::vector<T> u = problem_.empty, out = problem_.empty;
    const long origin = g_.origin();
    program_.run_on_host(
        row("cpu"),
        [&] {
          host_sweep(g_, problem_.start.data() + origin, problem_.source.data() + origin, u.data() + origin);
          for (int i = 1; i < sweeps_; ++i) {
            host_sweep(g_, u.data() + origin, problem_.source.data() + origin, out.data() + origin);
            std::swap(u, out);
          }
        },
        [&] { return expected_.verdict(interior(g_, u)); });
  }

  lab::Program& program_;
  lab::Size size_;
  Grid g_;
  int sweeps_;
  RandomProblem<T> problem_;
  Expected<T> expected_;
  Field<T> start_, empty_, source_, a_, b_;
};

template <class T>
void run_size(lab::Program& program, const lab::Size& size, int sweeps) {
  constexpr long kMost = 1 << 30;
  if (size[0] > kMost || size[1] > kMost) return program.skip({"", size, type_name<T>(), {}}, "a side above 2^30");
  const double elements = static_cast<double>(size[1] + 64) * (size[0] + 2);
  // Host memory: three arrays and two results in T, the same again in double.
  if (!program.fits(size, 5 * sizeof(T) * elements, (8 * sizeof(T) + 4 * sizeof(double)) * elements)) return;
  Ladder<T>(program, size, sweeps).run();
}

double tolerance_of(const lab::Program& program) {
  const std::string text = program.line().option("tolerance");
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end || !(value >= 1e-12 && value < 1))
    program.line().fail("--tolerance must be a number from 1e-12 to 1, not '" + text + "'");
  return value;
}

// Largest error against the analytic solution: h^2 of discretisation (|u_xxxx| + |u_yyyy|) / 12 <= 2 pi^4 / 12, times
// 1/8 as for the residual, plus the error left by the iteration.
void converge_sine(lab::Program& program, int n, double tolerance, std::string& table) {
  const Boundary p = sine_problem(n);
  Convergence solver(p, tolerance);
  std::vector<double> exact;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) exact.push_back(sine((y + 1) * p.h(), (x + 1) * p.h()));
  program.run(
      {"converge_sine", {{n, n}}, "double", {}}, [&] { solver.restart(); }, [&] { solver.solve(); },
      [&] {
        const double bound = p.h() * p.h() * std::pow(M_PI, 4) / 48 + solver.distance(1);
        lab::Verdict verdict = lab::compare(solver.solution(), exact, bound);
        verdict.wrong += !solver.converged();
        char line[128];
        std::snprintf(line, sizeof line, "%8d %9d %14.2e %12.2e %12.3e %12.3e\n", n, solver.sweeps(),
                      solver.relative_change(), solver.residual(), verdict.max_error, bound);
        table += line;
        return verdict;
      });
}

void draw_room(lab::Program& program, int n, const std::vector<double>& u, int sweeps) {
  constexpr int kDown = 12, kAcross = 24;
  std::string text;
  for (int row = 0; row < kDown; ++row) {
    for (int column = 0; column < kAcross; ++column) {
      char cell[8];
      std::snprintf(cell, sizeof cell, "%4.0f", u[size_t(row * n / kDown) * n + column * n / kAcross]);
      text += cell;
    }
    text += '\n';
  }
  text += "Degrees after " + std::to_string(sweeps) +
          " sweeps. Walls: 20 left, right and above, 0 below; a heater near the cold wall.\n";
  program.note("heated room, " + std::to_string(n) + " x " + std::to_string(n), text);
}

void converge_room(lab::Program& program, int n, double tolerance) {
  const Boundary p = room_problem(n);
  Convergence solver(p, tolerance);
  const std::vector<double> exact = interior(p.grid(), host_solution(p));
  program.run(
      {"converge_room", {{n, n}}, "double", {}}, [&] { solver.restart(); }, [&] { solver.solve(); },
      [&] {
        lab::Verdict verdict = lab::compare(solver.solution(), exact, solver.distance(200) + 1e-9);
        verdict.wrong += !solver.converged();
        return verdict;
      });
  if (program.chosen("converge_room")) draw_room(program, n, solver.solution(), solver.sweeps());
}

void converge(lab::Program& program) {
  const double tolerance = tolerance_of(program);
  int n = static_cast<int>(program.line().option_number("converge", 0, 1024));
  if (n == 0) n = lab::on_virtual_gpu() ? 24 : 128;
  if (program.chosen("converge_sine")) {
    std::string table = "  points    sweeps  change/first     residual        error        bound\n";
    for (const int side : {n / 4, n / 2, n})
      if (side > 0) converge_sine(program, side, tolerance, table);
    table +=
        "error: against sin(pi x) sin(pi y), at its largest. Half the cell, a quarter of the error, four times the "
        "sweeps.\n";
    program.note("convergence to " + program.line().option("tolerance"), table);
  }
  if (program.chosen("converge_room")) converge_room(program, n, tolerance);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const int sweeps = static_cast<int>(program.line().option_number("sweeps", 1, 100000));
  const int threads = static_cast<int>(program.line().option_number("cpu-threads", 0, 4096));
  if (threads > 0) omp_set_num_threads(threads);
  for (const std::string& type : program.types())
    for (const lab::Size& size : program.sizes())
      type == "float" ? run_size<float>(program, size, sweeps) : run_size<double>(program, size, sweeps);
  const std::vector<std::string> types = program.types();
  if (std::find(types.begin(), types.end(), "double") != types.end())
    converge(program);
  else
    for (const char* rung : {"converge_sine", "converge_room"})
      program.skip({rung, {{0, 0}}, "float", {}}, "convergence is shown in double");
  return program.finish();
}
