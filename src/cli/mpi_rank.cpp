#include "cli/mpi_rank.h"

#include <cstdlib>

#include "session/processes.h"

namespace warpgrind::cli {

std::string of_this_rank(const std::string& path) {
  struct Names {
    const char *size, *rank;
  };
  constexpr Names kLaunchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}};
  if (path.empty() || path == "-") return path;
  for (const Names& names : kLaunchers) {
    const char *size = std::getenv(names.size), *rank = std::getenv(names.rank);
    if (!size || !rank || std::atoi(size) < 2) continue;
    return session::labelled(path, std::string("rank") + rank);
  }
  return path;
}

}  // namespace warpgrind::cli
