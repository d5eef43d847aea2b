// Compiler options for the libraries whose headers a program includes, so that `warpgrind run dgemm.cu` links.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::toolchain {

// Options for all #include lines of the sources (paths of files), whether or not they are compiled. The table is
// WG_HEADER in hints.inc. The driver API is linked only if a source also calls a function of it, because many programs
// include cuda.h and need nothing. For mpi.h these are the -I, -L and -l options that `mpicxx -show` prints. `path`:
// the folders to find mpicxx in, as in PATH. Options in `given` are left out, and MPI's if `given` names a library of
// MPI.
std::vector<std::string> options_for_includes(const std::vector<std::string>& sources,
                                              const std::vector<std::string>& given, const std::string& path);

}  // namespace warpgrind::toolchain
