// MPI rank of this process. Under mpirun every rank runs the same command line. Each rank needs its own file names, and
// reports its number if the job ends early.
#pragma once

#include <optional>
#include <string>

namespace warpgrind::cli {

struct MpiRank {
  std::string rank, size;
};
// Set if an MPI launcher (OpenMPI, MPICH and its descendants) started this process as one of several ranks.
std::optional<MpiRank> mpi_rank();

// "out.json" becomes "out.rank1.json" for one rank of several; otherwise unchanged, as are "" and "-".
std::string of_this_rank(const std::string& path);

// Message about a rank whose program a signal ended: the rank, its host, and what to do. `profiles`: their paths, one
// per line.
struct LostRank {
  std::string message, detail;
};
LostRank lost_rank(const MpiRank& lost, int signal, const std::string& profiles);

}  // namespace warpgrind::cli
