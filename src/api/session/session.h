// State of one process under test: its virtual GPUs, the programs registered in it, virtual time, and results. The CUDA
// APIs (src/api/semantics, src/api/runtime) are a layer over it. Thread-safe. Lives until the process ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "checkers/checker.h"
#include "device/device.h"
#include "gpu/gpu_model.h"
#include "observers/profile_observer.h"
#include "results/collect.h"
#include "session/after_fault.h"
#include "session/api_errors.h"
#include "session/managed_memory.h"
#include "session/options.h"
#include "session/other_orders.h"
#include "session/program.h"
#include "session/time_estimates.h"
#include "timing/estimate.h"
#include "timing/library_estimate.h"
#include "timing/timeline.h"

namespace warpgrind::session {

struct LaunchRequest {
  Program* program = nullptr;
  const KernelEntry* kernel = nullptr;
  int device = 0;
  timing::StreamId stream = 0;
  device::LaunchConfig config;
  int carveout_percent = -1;  // preferred shared memory carveout of the kernel; -1: no preference
  device::PackedParameters parameters;
  std::string ranges;      // named ranges (NVTX) that were open when it was issued
  std::uint64_t work = 0;  // events::StreamWork::id
};

// Outcome of a grid: a result, which may hold a fault of the user's kernel, or an error of warpgrind (the grid did not
// run).
struct LaunchOutcome {
  std::optional<device::LaunchResult> result;
  std::optional<Error> error;
  TouchedMemory touched;
  std::vector<counters::LaunchShape> shapes;  // of the launch, then of the grids that it launched, with occupancy
};

class Session {
 public:
  // Created by the first use. An invalid option ends the process with exit code 2, as the run cannot go on as
  // requested.
  static Session& instance();
  static bool exists();

  const RunOptions& options() const { return options_; }
  const GpuModel& model() const { return *model_; }
  int device_count() const { return static_cast<int>(options_.devices); }
  device::Device& device(int ordinal);  // created at the first use
  bool device_in_use(int ordinal) const;
  timing::Timeline& timeline() { return *timeline_; }

  // Reports once that the process uses CUDA: on stderr (the banner) and to the CLI. Cheap after the first call.
  void announce() {
    if (!announced_.load(std::memory_order_acquire)) announce_once();
  }

  // ---- run.cpp: the steps of a run, in order.
  Result<Program*> add_program(const void* fatbin_wrapper);
  Result<Program*> add_program(std::vector<fatbin::FatbinEntry> entries, const std::string& name);
  Result<Program*> add_program(Program::Entries entries, const std::string& name);
  // A launch has three steps. prepare(), on the calling thread: compiles, checks, and returns the part of the GPU that
  // the grid fills. run(), on any thread, when the stream reaches the launch. record(), in the order of issue: adds
  // findings, counts and the place on the timeline.
  struct Refusal {
    enum class Step : std::uint8_t { load, architecture, compile, shape } step = Step::load;
    Error error;
  };
  std::variant<double, Refusal> prepare(const LaunchRequest& request);
  LaunchOutcome run(const LaunchRequest& request);
  timing::Span record(const LaunchRequest& request, const LaunchOutcome& outcome, timing::HostClock& host);
  // Writes the profile; only the first call has an effect. at_once: the process is being ended early (_exit, abort),
  // and output of the program that is still buffered stays unprinted.
  void finish(bool at_once = false);

  // A copy of `bytes`: counted and placed on the timeline.
  enum class HostPart : std::uint8_t {
    none,    // the call only issues the copy
    stages,  // it also stages the bytes of pageable memory
    waits    // it returns when the copy is done
  };
  timing::Span copy(int device, timing::StreamId stream, timing::HostClock& host, timing::CopyPath path,
                    timing::HostMemory memory, std::uint64_t bytes, HostPart part);
  timing::Span fill(timing::StreamId stream, const timing::HostClock& host, std::uint64_t address, std::uint64_t bytes);
  // Later work finds none of its data in the L2 cache of this GPU.
  void flush_l2(int device) { estimates_->flush_l2(device); }

  // Prefetches `bytes` bytes of the managed allocation that begins at `low`.
  timing::Span prefetch(int device, timing::StreamId stream, const timing::HostClock& host, std::uint64_t low,
                        std::uint64_t bytes, bool to_device);
  ManagedMemory& managed_memory() { return managed_memory_; }

  // Timeline entries of the calling thread belong to this work (events::StreamWork::id) from now on; 0: to none.
  static void placing(std::uint64_t work);

  // Adds a call into a library that ran on the host: to the profile, and to the timeline.
  struct LibraryCallName {
    std::string function, arguments, by;
  };
  timing::Span library_call(int device, timing::StreamId stream, timing::HostClock& host, const LibraryCallName& name,
                            const timing::LibraryWork& work);

  // Adds a row to the host's timeline: a call or a range of a thread.
  void host_row(unsigned thread, const char* kind, const std::string& name, double begin_ns, double end_ns);
  void host_row_left_out();
  // The program read the host's clock before and after launches that it waited for.
  void host_clock_read(const char* function) { host_clock_ = function; }

  // Prints a text on stderr, once per text and even with --quiet, for example about a missing feature.
  void say_once(const std::string& text);
  // Reports an error of warpgrind or of the environment; the CLI then ends with a non-zero code.
  void problem(const Error& error);
  void finding(const device::Fault& fault, results::Severity severity);
  ApiErrors& api_errors() { return api_errors_; }
  // A call has returned the error of a kernel that failed before it.
  void returned_sticky_error(const char* error) {
    if (checkers_) after_fault_.returned(error);
  }
  // The program launches a kernel although it has seen the error: it goes on as if nothing had happened.
  void launched_after_fault() {
    if (checkers_) checkers_->note_gone_on();
  }
  // Handles that `warpgrind check` tracks: streams, events, graphs ("graph": executable ones too) and texture objects
  // ("texture"). Call on the thread that creates or destroys them.
  void handle_made(std::string_view kind, std::uint64_t handle) {
    if (checkers_) checkers_->handles().made(kind, handle);
  }
  void handle_destroyed(std::uint64_t handle) {
    if (checkers_) checkers_->handles().destroyed(handle);
  }
  void all_handles_destroyed() {
    if (checkers_) checkers_->handles().destroyed_all();
  }
  // Decides for each launch, in the order of issue, whether it is counted.
  LaunchChoice& launch_choice() { return *launch_choice_; }
  void after_fork();
  // True in a forked child of a process that had used CUDA: the child can do nothing but end.
  bool broken_by_fork() const { return forked_.load(std::memory_order_relaxed); }
  void use() {
    if (!used_.load(std::memory_order_acquire)) use_once();
  }
  bool used() const { return used_.load(std::memory_order_acquire); }
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  void unload_programs(int device);  // cudaDeviceReset: variables get their initial values again

 private:
  Session();
  // First address and size in bytes of the allocation that holds an address.
  static std::optional<std::pair<std::uint64_t, std::uint64_t>> find_allocation(std::uint64_t address);
  void announce_once();
  void say_nvidias_libraries();
  void use_once();
  void take_name();
  void say(results::Finding finding);                   // keeps it and prints it (a check: at its end)
  void print_finding(const results::Finding& finding);  // once per text
  // The fault as a finding of `warpgrind check`; nullopt: a checker reports it.
  std::optional<results::Finding> check_finding(const device::Fault& fault, results::Severity severity) const;
  // ---- try_orders.cpp
  std::unique_ptr<Snapshot> snapshot_before(device::Device& gpu, const LaunchRequest& request,
                                            device::LoadedModule* module);
  std::vector<results::Finding> run_in(device::Device& gpu, const device::Schedule& schedule,
                                       const LaunchRequest& request, device::LoadedModule* module);
  void try_other_orders(Snapshot& snapshot, const LaunchRequest& request, const device::LaunchResult& own);
  void went_on(const device::Fault& fault);
  void note_blocks(const device::LaunchResult& result);
  void sum_up_what_went_on();
  void stop_at_deadline();
  void stop_at_signal();
  void leave_status(const char* kind, const std::string& text);

  RunOptions options_;
  const GpuModel* model_ = nullptr;
  std::unique_ptr<timing::Timeline> timeline_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<device::Device>> devices_;
  std::vector<std::unique_ptr<observers::ProfileObserver>> observers_;  // of all devices
  std::unique_ptr<checkers::Checkers> checkers_;                        // of `warpgrind check`
  std::vector<std::unique_ptr<Program>> programs_;
  std::unique_ptr<results::Collector> collector_;
  std::unique_ptr<TimeEstimates> estimates_;
  std::unique_ptr<LaunchChoice> launch_choice_;
  ManagedMemory managed_memory_;
  std::map<std::string, double> ns_a_block_;  // of each kernel's last counted launch, for launches that are not counted
  std::set<std::string> said_;
  std::set<std::string> nvidias_libraries_;  // already reported
  std::set<std::string> blocks_noted_;       // kernels that note_blocks() has reported; "": those that ran in part
  struct WentOn {
    results::Finding finding;  // of the first access
    std::uint64_t accesses = 0, launches = 0;
  };
  std::map<std::string, WentOn> went_on_;                            // by kernel, function and PTX line
  std::map<std::uint64_t, std::vector<OrderOutcome>> other_orders_;  // by LaunchRequest::work
  ApiErrors api_errors_;
  AfterFault after_fault_;
  std::string host_clock_;
  std::string compiling_;  // the kernel that is being compiled now
  std::atomic<bool> announced_{false};
  std::atomic<bool> used_{false}, forked_{false}, ended_{false}, told_{false};
  bool announcing_ = false, finished_ = false;
  unsigned number_ = 0;  // of this process among those of the run that use CUDA; 0: not used yet
  std::atomic<std::uint64_t> next_launch_{0};
};

}  // namespace warpgrind::session
