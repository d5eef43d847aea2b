// gdb as a child process that speaks gdb/MI over two pipes.
#pragma once

#include <poll.h>

#include <deque>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/process.h"
#include "base/result.h"
#include "hostdebug/mi_reader.h"

namespace warpgrind::hostdebug {

class GdbProcess {
 public:
  GdbProcess() = default;
  ~GdbProcess() { stop(); }
  GdbProcess(const GdbProcess&) = delete;
  GdbProcess& operator=(const GdbProcess&) = delete;

  Status start();
  void stop();  // ends gdb; a program that it is attached to runs on
  bool alive() const { return process_.has_value(); }

  // Runs a command ("-exec-next --thread 1") and returns the members of its result. Events that come meanwhile are
  // kept for next_event(). Error: gdb's message; gdb has ended; or no answer came within the limit.
  Result<Json> call(const std::string& command);
  // What gdb's command line prints for a command. `context`: options of MI such as "--thread 1 --frame 0".
  Result<std::string> console(const std::string& command, const std::string& context = "");

  pollfd reading() const { return {out_.get(), POLLIN, 0}; }
  void read();  // call it if poll() reports reading()
  std::optional<MiRecord> next_event();
  bool has_event() const { return !events_.empty(); }

 private:
  void take_line(std::string_view line);
  bool write(std::string_view text);

  std::optional<Process> process_;
  Descriptor in_, out_;  // gdb's input and output
  std::string bytes_;    // of a line whose end has not come
  std::int64_t token_ = 0;
  std::optional<MiRecord> answer_;
  std::string printed_;
  std::deque<MiRecord> events_;
};

}  // namespace warpgrind::hostdebug
