// The run of the program in this process: its steps in order, and how far it is. Thread-safe. Lives as long as the
// session, which is made by the first step.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "checkers/checker.h"
#include "gpu/gpu_model.h"
#include "results/collect.h"
#include "session/activity.h"
#include "session/devices.h"
#include "session/findings.h"
#include "session/messages.h"
#include "session/options.h"
#include "session/order_trials.h"
#include "session/time_estimates.h"

namespace warpgrind::session {

class Run {
 public:
  // What the steps use; all of it outlives the run. take_name() changes `options`.
  struct Parts {
    RunOptions& options;
    const GpuModel& model;
    checkers::Checkers* checkers;  // null: a run without checks
    Messages& messages;
    Devices& devices;
    Findings& findings;
    OrderTrials& trials;
    const Activity& activity;
    const TimeEstimates& estimates;
    results::Collector& collector;
  };
  explicit Run(const Parts& parts) : parts_(parts) {}

  // ---- The steps, in order. runtime/entry.cpp calls the library at the beginning and at the end of the process.
  // 1. Session() reads the options, at the first use of any part.
  // 2. Programs::add(): the program registers its code, before main or when it loads a library. It may use CUDA from
  //    now on. Reports this once, on stderr (the banner) and to the CLI. Cheap after the first call.
  void announce() {
    if (!announced_.load(std::memory_order_acquire)) announce_once();
  }
  // 3. enter_call() of semantics: the first call of an API gives the process its number among those of the run. Cheap
  //    after the first call.
  void use() {
    if (!used_.load(std::memory_order_acquire)) use_once();
  }
  // 4. Work: Launches prepares, runs and records each launch; TimelineEntries places other work.
  // 5. The program ends, and its work is done: prints and writes the profile. Only the first call has an effect.
  //    at_once: the process is being ended early (_exit, abort), and output of the program that is still buffered stays
  //    unprinted.
  void finish(bool at_once = false);

  // ---- How far it is.
  bool used() const { return used_.load(std::memory_order_acquire); }
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // True in a forked child of a process that had used CUDA: the child can do nothing but end.
  bool broken_by_fork() const { return forked_.load(std::memory_order_relaxed); }
  void after_fork();  // in the child
  // The kernel that is being compiled now, for the message about a run that is too long; empty: none.
  void note_compilation(const std::string& kernel);
  // The program read the host's clock before and after launches that it waited for.
  void host_clock_read(const char* function) { host_clock_ = function; }

 private:
  void announce_once();
  void use_once();
  void take_name();
  void claim_number();
  bool begin_end();
  void print_last();
  results::Profile make_profile();
  void write(const results::Profile& profile);
  void stop_at_deadline();
  void stop_at_signal();

  const Parts parts_;
  std::mutex mutex_;
  std::string host_clock_;
  std::string compiling_;
  std::atomic<bool> announced_{false}, used_{false}, forked_{false}, ended_{false};
  std::atomic<bool> written_{false};  // finish() is done
  bool announcing_ = false, finished_ = false;
  unsigned number_ = 0;  // of this process among those of the run that use CUDA; 0: not used yet
};

}  // namespace warpgrind::session
