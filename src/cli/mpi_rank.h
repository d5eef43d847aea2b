// Under mpirun one command line is run by every rank: each needs file names of its own, and says who it was when the
// job ends early.
#pragma once

#include <optional>
#include <string>

namespace warpgrind::cli {

struct MpiRank {
  std::string rank, size;
};
// Where an MPI launcher (OpenMPI, MPICH and its descendants) started this process as one of several ranks.
std::optional<MpiRank> mpi_rank();

// "out.json" becomes "out.rank1.json" for a rank of several; unchanged otherwise, and for "" and "-".
std::string of_this_rank(const std::string& path);

// What to say of a rank whose program a signal ended: which, where, and what to do. profiles: where they are, one a
// line.
struct LostRank {
  std::string message, detail;
};
LostRank lost_rank(const MpiRank& who, int signal, const std::string& profiles);

}  // namespace warpgrind::cli
