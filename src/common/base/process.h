// Child processes: the start of a program, its end, and the capture of its output. No shell takes part.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpgrind {

// One of the child's three standard streams.
struct Stream {
  enum class Kind : std::uint8_t { inherited, nothing, file, descriptor };
  Kind kind = Kind::inherited;
  std::string path{};   // file: it is emptied, or made with mode 0600
  int descriptor = -1;  // it stays open here

  static Stream nothing() { return {Kind::nothing}; }  // /dev/null
  static Stream file(std::string path) { return {Kind::file, std::move(path)}; }
  static Stream open_file(int descriptor) { return {Kind::descriptor, "", descriptor}; }
};

struct ProcessCommand {
  std::vector<std::string> words{};  // the program (a path, or a name on the PATH of this process) and its arguments
  std::string folder{};              // working directory; empty: that of this process
  // The child's environment is that of this process with these changes, in this order.
  bool no_environment = false;       // true: starts with an empty one
  std::vector<std::string> unset{};  // NAME
  std::vector<std::string> set{};    // NAME=VALUE
  Stream input{}, output{}, errors{};
  // False: the child gets no other descriptor than `kept`. True: it also gets those without O_CLOEXEC, as a program
  // that a shell starts with `3<file` or `<(...)`.
  bool inherits_files = false;
  std::vector<int> kept{};  // descriptors that the child has under the same numbers
  // True: the child leads a new session and process group. Process::send() then reaches all processes of the group, but
  // a terminal's Ctrl-C reaches none.
  bool own_session = false;
  int death_signal = 0;  // the kernel sends it to the child when the thread that started the child ends; 0: none
  // Signals with a handler here have their default action in the child. Ignored ones (nohup) stay ignored, or with
  // `resets_ignored` have their default action too.
  bool resets_ignored = false;
  const sigset_t* blocked = nullptr;  // signals that the child starts with blocked; null: none
  // Called in the child before the program starts: only functions that are safe in a signal handler. The child is then
  // made by fork(), because a change of user must not happen in memory that both processes share.
  std::function<void()> in_child{};
};

struct ProcessEnd {
  int status = 0;     // of waitpid()
  bool lost = false;  // there is no status: this process ignores SIGCHLD, or another thread waits for all children

  bool good() const { return !lost && status == 0; }
  int signal() const;        // that ended it; 0: it exited
  int shell_code() const;    // exit code, or 128 + signal as in shells; -1: lost
  std::string text() const;  // "exit code 3", "killed by signal 11 (Segmentation fault)"
};

// A started program. The owner must call wait() or ended() until it has the end; the destructor does nothing.
class Process {
 public:
  Process(pid_t id, bool leads_group) : id_(id), leads_group_(leads_group) {}
  pid_t id() const { return id_; }
  void send(int signal) const;  // to its process group if it leads one
  // Called when the program has ended and this process has not yet released its id. The id may belong to another
  // process as soon as it is released, so the callback clears every record of it that could still be used for a signal.
  using AtEnd = std::function<void()>;
  std::optional<ProcessEnd> ended(const AtEnd& at_end = {}) const;  // does not wait
  ProcessEnd wait(const AtEnd& at_end = {}) const;

 private:
  ProcessEnd release(const AtEnd& at_end) const;

  pid_t id_;
  bool leads_group_;
};

// Starts the program. The signal handlers, threads and other children of this process are not touched. An error names
// what could not be started, and why: a missing program is one, too.
Result<Process> start_process(const ProcessCommand& command);

struct CaptureSettings {
  double seconds = 0;                                               // time limit; 0: none
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  // limit of the whole output
  bool joined = false;                                              // errors become part of the output, in order
  std::chrono::milliseconds tick{200};  // longest time between two calls of on_tick and cancelled
  std::function<void()> on_tick{};
  std::function<void(std::string_view)> on_output{};  // called with each part of both streams
  std::function<bool()> cancelled{};
};

struct Captured {
  enum class Stop : std::uint8_t { none, time, bytes, cancelled };
  ProcessEnd end;
  std::string output, errors;
  Stop stop = Stop::none;  // why the child was killed; none: it ended by itself
  double seconds = 0;
};

// Runs the program, with nothing as input, until it has ended and its output is closed. A limit kills it (SIGKILL). If
// it leads a session, the processes that it leaves behind are killed, too. The first interrupt (below) is passed on to
// it as SIGINT.
Result<Captured> run_captured(ProcessCommand command, const CaptureSettings& settings = {});

// After the first call, SIGINT and SIGTERM set a flag instead of ending this process.
void catch_interrupts();
bool interrupted();

}  // namespace warpgrind
