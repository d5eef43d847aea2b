// Messages to the user on stderr, besides the profile.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "base/result.h"
#include "device/device.h"
#include "results/profile.h"
#include "session/options.h"

namespace warpgrind::session {

void print(const std::string& text);       // on stderr, in one write
void print_line(const std::string& text);  // "warpgrind: TEXT", in one write
std::string banner(const GpuModel& model, const RunOptions& options);
std::string describe(const Error& error);
std::string shown_name(const std::string& mangled);  // demangled, and kept: demangling takes a microsecond
results::Finding to_finding(const device::Fault& fault);

// The messages of the run on stderr, each text once, and the notes for the CLI that go with some of them.
// Thread-safe. Lives as long as the session.
class Messages {
 public:
  explicit Messages(const RunOptions& options);  // they outlive the messages

  // Prints a text even with --quiet, for example about a missing feature.
  void say_once(const std::string& text);
  // Reports an error of warpgrind or of the environment; the CLI then ends with a non-zero code.
  void problem(const Error& error);
  void print_once(const results::Finding& finding);
  // Names NVIDIA's libraries that were loaded since the last call (nvidia_libraries.h), unless the run is quiet.
  void name_new_libraries();
  // A note for the CLI: "cuda" (the process uses CUDA) or "problem" (the run is not complete because of warpgrind).
  void leave_status(const char* kind, const std::string& text) const;

 private:
  bool is_new(const std::string& text);

  const RunOptions& options_;
  std::mutex mutex_;
  std::set<std::string> said_;
  std::set<std::string> nvidias_libraries_;  // already named
};

}  // namespace warpgrind::session
