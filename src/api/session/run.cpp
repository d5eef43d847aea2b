// The steps of a run, from the banner to the written profile (run.h), and its early ends.
#include "session/run.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "advice/advise.h"
#include "base/assert.h"
#include "base/demangle.h"
#include "base/file.h"
#include "report/activity_text.h"
#include "results/sampled.h"
#include "results/sources.h"
#include "session/deadline.h"
#include "session/interrupts.h"
#include "session/processes.h"
#include "session/write_results.h"

namespace warpgrind::session {

// ---- 2. The process uses CUDA.
void Run::announce_once() {
  {
    const std::lock_guard lock(mutex_);
    if (announcing_) return;
    announcing_ = true;
  }
  const RunOptions& options = parts_.options;
  Messages& messages = parts_.messages;
  messages.leave_status("cuda", options.program);
  if (!options.quiet) print_line(banner(parts_.model, options));
  messages.name_new_libraries();
  if (options.timeout_seconds > 0 && !start_deadline(options.timeout_seconds, [this] { stop_at_deadline(); }))
    messages.say_once("warning: the host allows no more threads (ulimit -u): the run has no overall time limit");
  // A debugger ends its program by SIGTERM, and reports itself.
  if (options.debug_socket.empty() && !report_before_signals([this] { stop_at_signal(); }))
    messages.say_once(
        "warning: the host allows no more threads (ulimit -u): results are lost if a signal ends the run");
  announced_.store(true, std::memory_order_release);
}

// ---- 3. The first call. The first process that uses CUDA gets the plain names of the output files; others get a
// number. Registering kernels is no use: a program that only starts others does that too.
void Run::use_once() {
  const std::lock_guard lock(mutex_);
  if (used_) return;
  if (number_ == 0) claim_number();  // begin_end() has claimed one if the first call comes after the end of the run
  leave_note(parts_.options.status_directory, {number_, ::getpid(), false, parts_.options.command, "", "", ""});
  used_.store(true, std::memory_order_release);
}

// ---- 5. The program ends: one profile, on stderr and in the requested files.
void Run::finish(bool at_once) {
  if (forked_) return;  // before the lock: a thread that the fork did not copy may have held it
  if (!begin_end()) return;
  if (number_ != 0) {
    if (!at_once) {
      parts_.devices.flush_output();
      std::fflush(stdout);
    }
    print_last();
    write(make_profile());
  }
  written_ = true;
}

// False: the run has ended before, or has not begun. Afterwards number_ is 0 if there is nothing to report: the process
// has only started others that use CUDA.
bool Run::begin_end() {
  const std::lock_guard lock(mutex_);
  if (finished_ || !announced_) return false;
  finished_ = true;
  ended_ = true;
  if (number_ == 0 && !any_process(parts_.options.status_directory)) claim_number();
  return true;
}

void Run::print_last() {
  parts_.findings.sum_up_what_went_on();
  parts_.findings.sum_up_sampled();
  parts_.messages.name_new_libraries();  // libraries that were loaded late
  parts_.findings.add_unchecked_errors();
}

results::Profile Run::make_profile() {
  const RunOptions& options = parts_.options;
  results::Profile profile = parts_.collector.profile();
  profile.program = options.program;
  profile.command = options.command;
  profile.gpu = parts_.model.name;
  profile.detail = options.detail;
  profile.chosen_launches = as_options(options.launches);
  for (const auto& [group, member] : checkers::kGroups)
    if (options.checks.*member) profile.checks.emplace_back(group);
  parts_.devices.contribute(profile);
  parts_.findings.contribute(profile, parts_.trials.take_outcomes());
  profile.activity = parts_.activity.of_run();
  if (options.detail || parts_.checkers) results::read_sources(profile);
  advice::advise(profile, &parts_.model);
  results::mark_sampled(profile);
  return profile;
}

void Run::write(const results::Profile& profile) {
  const RunOptions& options = parts_.options;
  Messages& messages = parts_.messages;
  WG_ASSERT(number_ != 0);
  if (!options.work_path.empty())
    if (Status s = write_whole(of_process(options.work_path, number_), parts_.estimates.rows()); !s)
      messages.problem(s.error());
  const OutputFiles files{of_process(options.json_path, number_), of_process(options.csv_path, number_), options.quiet,
                          options.each_launch, !options.status_directory.empty()};
  if (Status written = write_results(profile, files); !written) return messages.problem(written.error());
  if (!host_clock_.empty() && !options.quiet && !parts_.checkers)
    messages.say_once(
        fmt::format("the program reads the host's clock around launches ({}), so it measured the simulation. The table "
                    "shows the time on the modelled GPU; in the program, use cudaEventElapsedTime",
                    host_clock_));
  leave_note(options.status_directory,
             {number_, ::getpid(), true, options.command, files.json, files.csv, report::no_kernel_line(profile)});
}

// ---- Names and numbers of the process. Call them under the lock.

// A program that a script of the user has started is reported under its own name.
void Run::take_name() {
  RunOptions& options = parts_.options;
  std::error_code none;
  const std::string executable = std::filesystem::read_symlink("/proc/self/exe", none).string();
  if (options.executable.empty() || none || executable == options.executable) return;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string word;
  std::vector<std::string> words;
  while (std::getline(file, word, '\0')) words.push_back(word);
  options.program = words.empty() || words[0].empty() ? executable : words[0];
  options.command = words.empty() ? executable : fmt::format("{}", fmt::join(words, " "));
}

void Run::claim_number() {
  WG_ASSERT(number_ == 0);  // a second number would name a second set of output files
  take_name();
  number_ = claim_process_number(parts_.options.status_directory);
}

// ---- Early ends, and forks.

void Run::note_compilation(const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  compiling_ = kernel;
}

// Running kernels are stopped and report where they are. Then the program has 3 s to end by itself.
void Run::stop_at_deadline() {
  std::string what;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    what = compiling_.empty() ? "" : ": it was compiling the kernel " + demangle(compiling_);
  }
  parts_.messages.leave_status("problem", "stopped by --timeout");
  const bool running = device::request_timeout();
  constexpr auto kGrace = std::chrono::seconds(3);
  std::this_thread::sleep_for(kGrace);
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
  }
  if (what.empty()) what = running ? ", and continued after its kernels were stopped" : ": no kernel was running";
  parts_.messages.say_once(fmt::format("the run did not end within {} s{}", parts_.options.timeout_seconds, what));
  finish();
  _exit(2);
}

void Run::stop_at_signal() {
  bool others_finish = false;
  {
    const std::lock_guard lock(mutex_);
    others_finish = finished_;
  }
  if (!others_finish) {
    if (parts_.checkers)
      parts_.checkers->note_fault();  // no leaks are reported: the program might have freed the memory later
    parts_.messages.say_once(
        fmt::format("a signal ended the run: the {} until then follow", parts_.checkers ? "findings" : "counts"));
    return finish();
  }
  constexpr std::chrono::milliseconds kMost(60000), kStep(10);
  for (auto waited = kStep; !written_.load() && waited < kMost; waited += kStep) std::this_thread::sleep_for(kStep);
}

// The child has none of the parent's worker threads, and the locks in their state at the fork. If the parent had only
// registered code and not used CUDA otherwise, the child begins afresh.
void Run::after_fork() {
  if (used_) {
    forked_ = true;
    return;
  }
  announcing_ = false;
  announced_ = false;
}

}  // namespace warpgrind::session
