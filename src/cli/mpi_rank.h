// Under mpirun one command line is run by every rank, so each rank needs file names of its own.
#pragma once

#include <string>

namespace warpgrind::cli {

// "out.json" becomes "out.rank1.json" where an MPI launcher (OpenMPI, MPICH and its descendants) started several ranks;
// unchanged otherwise, and for "" and "-".
std::string of_this_rank(const std::string& path);

}  // namespace warpgrind::cli
