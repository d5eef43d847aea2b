// The program's own output out of the way of ours.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace warpgrind::cli {

// While it lives, what is written to standard output goes to standard error: the program's own output must not stand
// in what we print.
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
