// Poisson's equation over MPI: one rank a GPU, a slab of rows a rank. Edge rows go to the neighbours as GPU pointers if
// MPI accepts them, otherwise through pinned host memory (halo.h). Ranks of one computer share its GPUs in turn.
//
//   poisson_mpi                                            one rank
//   mpirun -np 4 poisson_mpi 8192                          four ranks, four GPUs, or fewer GPUs shared
//   mpirun -np 4 warpgrind run --quiet poisson_mpi 512     the same on virtual GPUs: each rank has its own
//   mpirun -np 4 -H host1:2,host2:2 poisson_mpi 8192       two ranks on each of two hosts; the program and warpgrind
//                                                          must have the same path on both
// As root in a container, mpirun also needs --allow-run-as-root, and --oversubscribe for more ranks than cores. For the
// needs of several hosts, and the loss of one, see README.md.
#include <mpi.h>

#include <memory>

#include "poisson/slab.cuh"
#include "poisson_mpi/halo.h"
#include "poisson_mpi/watch.h"

namespace {

using namespace poisson;

const lab::Topic kTopic = {
    .name = "poisson_mpi",
    .title = "Poisson's equation over MPI, one rank a GPU",
    .document = "002 (DTU)",
    .shows =
        "Each rank sends its edge rows to its neighbours. If it computes the edges first, the interior hides their "
        "transfer. Start it with "
        "mpirun.",
    .size_names = "ROWSxCOLUMNS",
    .quick_sizes = "512",
    .full_sizes = "1024,8192",
    .types = "double",
    .rungs = {{"exchange", "a sweep of the slab, then the halo exchange, without overlap"},
              {"overlap", "edges first; their rows are sent while the interior is computed"}},
    .options = {{"sweeps", "8", "sweeps of each rung"},
                {"halo", "auto", "rows as pointers of the GPU or by way of the host: device, staged; auto: as MPI can"},
                {"patience", "600", "seconds after which rows that do not come end the job; 0: never"}},
};

// Open MPI ends all ranks by default when a call fails.
int rank_of() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int ranks() {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

struct Place {
  int device, device_count, local_rank;
};
// The ranks of one computer use its GPUs in turn.
Place choose_device() {
  Place p{0, 0, 0};
  MPI_Comm here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_rank(here, &p.local_rank);
  MPI_Comm_free(&here);
  CHECK_CUDA(cudaGetDeviceCount(&p.device_count));
  p.device = p.local_rank % p.device_count;
  CHECK_CUDA(cudaSetDevice(p.device));
  return p;
}

// This rank's slab of the domain.
class RankSlab {
 public:
  RankSlab(const Grid& whole, const RandomProblem<double>& problem, HaloPath path, Watch& watch)
      : part_(part_of(whole.rows, ranks(), rank_of())),
        g_(part_.rows, whole.columns),
        start_(g_, piece(whole, problem.start, part_)),
        empty_(g_, piece(whole, problem.empty, part_)),
        source_(g_, piece(whole, problem.source, part_)),
        a_(g_),
        b_(g_),
        halo_(path, g_.columns, watch) {
    for (cudaStream_t* stream : {&edges_, &inner_})
      CHECK_CUDA(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  }
  ~RankSlab() {
    cudaStreamDestroy(edges_);
    cudaStreamDestroy(inner_);
  }
  RankSlab(const RankSlab&) = delete;
  RankSlab& operator=(const RankSlab&) = delete;

  void reset() {
    a_.copy_from(start_);
    b_.copy_from(empty_);
    CHECK_CUDA(cudaDeviceSynchronize());
  }
  // Does `sweeps` sweeps. The result is in field(sweeps).
  void run(int sweeps, bool overlap) {
    for (int k = 0; k < sweeps; ++k) {
      const double* u = field(k).data();
      double* out = field(k + 1).data();
      if (overlap) {
        sweep_edges<double>(u, source_.data(), out, g_, edges_);
        sweep_rows<double>(u, source_.data(), out, g_, 1, g_.rows - 1, inner_);
      } else {
        sweep_rows<double>(u, source_.data(), out, g_, 0, g_.rows, edges_);
      }
      halo_.run({out + g_.at(-1, 0), out + g_.at(0, 0), out + g_.at(g_.rows - 1, 0), out + g_.at(g_.rows, 0)}, edges_);
      // The next sweep's edges need this interior, and its interior needs these edges.
      CHECK_CUDA(cudaStreamSynchronize(edges_));
      CHECK_CUDA(cudaStreamSynchronize(inner_));
    }
    CHECK_KERNEL();
  }
  // Gathers all rows of the domain on rank 0.
  std::vector<double> gather(const Grid& whole, int sweeps) {
    const std::vector<double> mine = interior(g_, field(sweeps).host());
    std::vector<double> all;
    MPI_Datatype row;
    MPI_Type_contiguous(whole.columns, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    std::vector<int> counts, places;
    for (int r = 0; r < ranks(); ++r) {
      counts.push_back(part_of(whole.rows, ranks(), r).rows);
      places.push_back(part_of(whole.rows, ranks(), r).first);
    }
    if (rank_of() == 0) all.resize(static_cast<size_t>(whole.points()));
    MPI_Gatherv(mine.data(), part_.rows, row, all.data(), counts.data(), places.data(), row, 0, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    return all;
  }

 private:
  Field<double>& field(int index) { return index % 2 ? b_ : a_; }

  Part part_;
  Grid g_;
  Field<double> start_, empty_, source_, a_, b_;
  HaloExchange halo_;
  cudaStream_t edges_ = nullptr, inner_ = nullptr;
};

double slowest(double us) {
  double most = 0;
  MPI_Allreduce(&us, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

// Time from all ranks ready to all ranks done. Real GPUs: several times. Virtual GPUs: once, in the time of each rank's
// own virtual host, which includes neither the others' time nor the network.
lab::Timing time_sweeps(RankSlab& slab, int sweeps, bool overlap) {
  std::vector<double> samples;
  const int repetitions = lab::on_virtual_gpu() ? 1 : 11;
  for (int i = 0; i < repetitions; ++i) {
    slab.reset();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = lab::host_us();
    slab.run(sweeps, overlap);
    samples.push_back(slowest(lab::host_us() - begin));
  }
  return lab::Timing::of(samples);
}

// program: set on rank 0 only.
void run_size(lab::Program* program, const lab::CommandLine& line, const lab::Size& size, HaloPath path, Watch& watch) {
  const int sweeps = static_cast<int>(line.option_number("sweeps", 1, 100000));
  const auto row = [&](const char* rung, const lab::Work& work) {
    return lab::Case{rung, size, "double", work, {{"ranks", double(ranks())}}};
  };
  if (size[0] > (1L << 24) || size[1] > (1L << 24) || size[0] < ranks()) {
    if (program) program->skip(row("", {}), size[0] < ranks() ? "fewer rows than ranks" : "a side above 2^24");
    return;
  }
  const Grid g(size[0], size[1]);
  int fits = !program || program->fits(size, 40.0 * g.elements() / ranks(), 24.0 * g.elements() * (ranks() + 2));
  MPI_Bcast(&fits, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!fits) return;
  const RandomProblem<double> problem(g);
  RankSlab slab(g, problem, path, watch);
  std::vector<Expected<double>> expected;  // on rank 0, once it is needed
  for (const char* rung : {"exchange", "overlap"}) {
    if (!line.chosen(rung)) continue;
    const lab::Case c = row(rung, work<double>(g, sweeps));
    lab::Timing timing;
    {
      const lab::Range range(program ? program->range_of(c) : std::string(rung));
      timing = time_sweeps(slab, sweeps, rung == std::string("overlap"));
    }
    const std::vector<double> all = slab.gather(g, sweeps);
    if (program && expected.empty()) expected.emplace_back(g, problem, sweeps);
    if (program) program->row(c, timing, timing, expected.front().verdict(all));
  }
}

// Host of each rank. Rank 0 prints the list.
std::vector<std::string> hosts_of_ranks(lab::Program* program, const Place& place) {
  struct One {
    char host[64];
    int device, device_count;
  };
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(host, &length);
  One mine{"", place.device, place.device_count};
  std::snprintf(mine.host, sizeof mine.host, "%.63s", host);
  std::vector<One> all(ranks());
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  std::vector<std::string> hosts;
  std::string text;
  for (const One& one : all) {
    text += "rank " + std::to_string(hosts.size()) + ": " + one.host + ", GPU " + std::to_string(one.device) + " of " +
            std::to_string(one.device_count) + "\n";
    hosts.emplace_back(one.host);
  }
  if (program) program->note("ranks", text);
  return hosts;
}

}  // namespace

int main(int argc, char** argv) {
  const lab::CommandLine line(argc, argv, kTopic);  // --help and --describe end here, without MPI
  require_halo(line);
  const auto patience = static_cast<unsigned>(line.option_number("patience", 0, 1000000));
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    std::unique_ptr<lab::Program> program;
    if (rank_of() == 0) program = std::make_unique<lab::Program>(argc, argv, kTopic);
    const Place place = choose_device();
    const std::vector<std::string> hosts = hosts_of_ranks(program.get(), place);
    const HaloChoice halo = choose_halo(line.option("halo"));
    if (program) program->note("halo", halo.text);
    Watch watch(hosts, rank_of(), patience);
    for (const lab::Size& size : line.sizes()) run_size(program.get(), line, size, halo.path, watch);
    if (program) code = program->finish();
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return code;
}
