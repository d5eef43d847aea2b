// MPI rank of this process, from the launcher's environment variables.
#include "cli/mpi_rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "session/processes.h"

namespace warpgrind::cli {

namespace {

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

std::string why_lost(int signal) {
  const std::string without = "\n  if a host is down, start the job again without it (mpirun -H)";
  switch (signal) {
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      return "mpirun ends all ranks if a rank fails, a host is down, or mpirun itself is interrupted: see its messages "
             "and those of the other ranks" +
             without;
    case SIGPIPE:
      return "the reader of its output is gone (another rank, its host, or mpirun): see their messages" + without;
    default:
      return "mpirun ends the other ranks now";
  }
}

}  // namespace

std::optional<MpiRank> mpi_rank() {
  struct Names {
    const char *size, *rank;
  };
  constexpr Names kLaunchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}};
  for (const Names& names : kLaunchers) {
    const char *size = std::getenv(names.size), *rank = std::getenv(names.rank);
    if (size && rank && std::atoi(size) > 1) return MpiRank{rank, size};
  }
  return std::nullopt;
}

std::string of_this_rank(const std::string& path) {
  const std::optional<MpiRank> rank = mpi_rank();
  return rank ? session::labelled(path, "rank" + rank->rank) : path;
}

LostRank lost_rank(const MpiRank& lost, int signal, const std::string& profiles) {
  return {fmt::format("rank {} of {} on {} was ended by a signal ({}) before its program was done", lost.rank,
                      lost.size, host_name(), strsignal(signal)),
          why_lost(signal) + (profiles.empty() ? "" : "\n  " + profiles)};
}

}  // namespace warpgrind::cli
