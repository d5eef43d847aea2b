// Redirection of the program's standard output, to keep it apart from ours.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace warpgrind::cli {

// While it lives, standard output goes to standard error: the program's own output must not be mixed into ours.
class OutputAside {
 public:
  OutputAside() : kept_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    std::fflush(stdout);
    if (kept_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~OutputAside() {
    std::fflush(stdout);
    if (kept_ < 0) return;
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  int kept_;
};

}  // namespace warpgrind::cli
