// One run of clang, with cancellation.
#include "toolchain/clang_run.h"

#include <signal.h>
#include <unistd.h>

#include "base/process.h"

namespace warpgrind::toolchain {

namespace {

constexpr useconds_t kBetweenQuestions = 10'000;  // microseconds

}  // namespace

Result<ClangEnd> run_clang(const std::vector<std::string>& command, const std::string& messages,
                           const std::function<bool()>& cancelled) {
  ProcessCommand start{.words = command};
  // The loader's variables, and those by which compilers find headers: NVRTC ignores them.
  start.unset = {"LD_PRELOAD", "LD_LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};
  start.input = start.output = Stream::nothing();
  start.errors = Stream::file(messages);
  start.resets_ignored = true;
  const auto clang = start_process(start);
  if (!clang) return clang.error();
  std::optional<ProcessEnd> end = cancelled ? clang->ended() : clang->wait();
  for (; !end; end = clang->ended()) {
    if (cancelled()) {
      clang->send(SIGKILL);
      clang->wait();
      return ClangEnd::cancelled;
    }
    usleep(kBetweenQuestions);
  }
  // The program ignores SIGCHLD, or waits for all children itself. The files that clang wrote then show whether it
  // succeeded.
  return end->lost || end->good() ? ClangEnd::good : ClangEnd::failed;
}

}  // namespace warpgrind::toolchain
