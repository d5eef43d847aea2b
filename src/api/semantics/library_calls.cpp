// Execution of library calls in streams, with checks of their operands.
#include "semantics/library_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/host_pages.h"
#include "device/memory/address_space.h"
#include "jit/calls/tensor_core_sums.h"
#include "semantics/operation.h"
#include "semantics/polling.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

namespace {

const char* memory_word(Memory memory) {
  switch (memory) {
    case Memory::pageable:
      return "pageable host memory";
    case Memory::pinned:
      return "pinned host memory";
    case Memory::device:
      return "device memory";
    case Memory::managed:
      return "managed memory";
    case Memory::invalid:
      return "no memory";
  }
  return "no memory";
}

bool reachable(Memory memory) {
  return memory == Memory::device || memory == Memory::managed || memory == Memory::pinned;
}

// One execution of a call.
class Run final : public LibraryRun {
 public:
  Run(const LibraryCall& call, int device) : call_(call), device_(device) {}

  bool reads(const char* name, const void* at, std::size_t bytes) override { return passes("reads", name, at, bytes); }
  bool writes(const char* name, void* at, std::size_t bytes) override {
    if (!passes("writes", name, at, bytes)) return false;
    session::devices()[device_].define(reinterpret_cast<std::uint64_t>(at), bytes);
    return true;
  }
  void fail(const std::string& why) override {
    session::messages().problem(Error{ErrorKind::environment, fmt::format("{}: {}", call_.function, why), ""});
    break_context(cudaErrorUnknown);
  }
  bool add_on_tensor_cores(float* sums, const float* a, const float* b, TensorCoreFactors factors, std::uint32_t rows,
                           std::uint32_t columns, std::uint32_t depth) override {
    using ptx::ScalarType;
    const GpuModel& model = session::devices()[device_].model();
    const auto capability = static_cast<unsigned>(model.cc_major * 10 + model.cc_minor);
    const bool is_half = factors == TensorCoreFactors::f16;
    if (capability < (is_half ? 70u : 80u)) return false;
    const ScalarType type = is_half                              ? ScalarType::f16
                            : factors == TensorCoreFactors::bf16 ? ScalarType::bf16
                                                                 : ScalarType::tf32;
    // The depth of an instruction matters for 8-bit factors alone, and so does whether it is asynchronous.
    const jit::TensorCoreSum sum = jit::tensor_core_sum(type, depth, capability, false);
    jit::add_on_tensor_core(sums, a, b, {rows, columns, depth, type, type, ScalarType::f32, sum});
    return true;
  }

  bool broken() const override { return context(device_).runs_nothing(); }
  bool wait(const std::function<bool()>& done) override {
    auto pause = kFirstPause;
    while (!done()) {
      if (Executor::instance().ends() || broken()) return false;
      HostPages::instance().resume();  // observe host accesses during the pause
      std::this_thread::sleep_for(pause);
      HostPages::instance().pause();
      pause = std::min(2 * pause, kLongestPause);
    }
    return true;
  }
  void misused(const std::string& what, const std::string& advice) override {
    device::Fault fault;
    fault.kind = device::FaultKind::deadlock;  // what a GPU would do, or worse
    fault.message = what;
    fault.advice = advice;
    session::findings().add(fault, results::Severity::error);
    break_context(cudaErrorLaunchFailure);
  }

 private:
  bool passes(const char* verb, const char* name, const void* at, std::size_t bytes) {
    if (bytes == 0) return true;
    const auto first = reinterpret_cast<std::uint64_t>(at);
    const Place place = place_of(at);
    const bool inside = reachable(place.memory) && first >= place.low && bytes <= place.high - first;
    if (inside) return true;
    device::Fault fault;
    fault.kind = device::FaultKind::illegal_address;
    fault.address = first;
    fault.message =
        fmt::format("{} {} {} bytes of its argument {} at {}: ", call_.function, verb, bytes, name, fmt::ptr(at));
    if (!reachable(place.memory))
      fault.message += fmt::format("that is {}", memory_word(place.memory));
    else
      fault.message +=
          fmt::format("{} bytes beyond the end of {}", bytes - (place.high - first), memory_word(place.memory));
    fault.advice = reachable(place.memory)
                       ? "compare the sizes and leading dimensions with the size of the allocation"
                       : "a kernel cannot access it: use memory from cudaMalloc, cudaMallocManaged or cudaMallocHost";
    session::findings().add(fault, results::Severity::error);
    break_context(cudaErrorIllegalAddress);
    return false;
  }
  void break_context(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    context(device_).fault.compare_exchange_strong(none, error);
  }

  const LibraryCall& call_;
  int device_;
};

// Delays the stream until all streams of the common starts are ready, as far as their work has its place yet.
void start_together(const std::vector<std::shared_ptr<CommonStart>>& starts, const Target& target) {
  double begin = 0;
  for (const std::shared_ptr<CommonStart>& start : starts) {
    const std::lock_guard lock(start->mutex);
    const bool first = start->begin_ns == 0;  // later, some of the streams have the call behind them
    for (const timing::StreamId stream : first ? start->streams : std::vector{target.stream})
      start->begin_ns = std::max(start->begin_ns, session::timeline().ready_time(stream));
    start->begin_ns = std::max(start->begin_ns, session::timeline().now(*target.host.clock));
    begin = std::max(begin, start->begin_ns);
  }
  if (!starts.empty()) session::timeline().wait(target.stream, begin);
}

}  // namespace

cudaError_t make_work(const LibraryOperation& op, const Target& target, bool host_blocks, WorkPtr& out) {
  out = std::make_shared<Work>();
  LibraryExecution execution;
  if (op.call->prepare) execution = op.call->prepare();
  for (const std::shared_ptr<CommonStart>& start : execution.starts) {
    const std::lock_guard lock(start->mutex);
    start->streams.push_back(target.stream);
  }
  // Work of kind `wait` may be stopped at the end of the program.
  out->kind = op.call->prepare ? Work::Kind::wait : Work::Kind::memory;
  out->run = [call = op.call, run = std::move(execution.run), device = target.device] {
    if (!run && context(device).runs_nothing()) return;
    Run of_call(*call, device);
    (run ? run : call->run)(of_call);
  };
  out->place = [call = op.call, target, host_blocks, starts = std::move(execution.starts)] {
    target.host.pay();
    start_together(starts, target);
    const timing::Span span = session::timeline_entries().library_call(
        target.device, target.stream, *target.host.clock, {call->function, call->arguments, call->by}, call->work);
    if (host_blocks) session::timeline().synchronize_time(*target.host.clock, span.end);
  };
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
