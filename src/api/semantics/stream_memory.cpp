// Execution of stream memory operations: writes, waits by polling, and barriers.
#include "semantics/stream_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/host_pages.h"
#include "semantics/polling.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

namespace {

using Step = MemoryOperation::Step;

bool reaches(const Step& step) {
  const Place place = place_of(step.address);
  const auto first = reinterpret_cast<std::uint64_t>(step.address);
  return (place.memory == Memory::device || place.memory == Memory::managed || place.memory == Memory::pinned) &&
         first >= place.low && place.high - first >= step.bytes;
}

std::uint64_t load(const Step& step) {
  if (step.bytes == sizeof(std::uint64_t))
    return __atomic_load_n(static_cast<const std::uint64_t*>(step.address), __ATOMIC_ACQUIRE);
  return __atomic_load_n(static_cast<const std::uint32_t*>(step.address), __ATOMIC_ACQUIRE);
}

void store(const Step& step) {
  if (step.bytes == sizeof(std::uint64_t))
    __atomic_store_n(static_cast<std::uint64_t*>(step.address), step.value, __ATOMIC_RELEASE);
  else
    __atomic_store_n(static_cast<std::uint32_t*>(step.address), static_cast<std::uint32_t>(step.value),
                     __ATOMIC_RELEASE);
}

// Comparison of CUstreamWaitValue_flags of the CUDA driver API.
bool holds(const Step& step, std::uint64_t now) {
  const std::uint64_t mask = step.bytes == sizeof(std::uint64_t) ? ~0ull : 0xffffffffull;
  const std::uint64_t sign = (mask >> 1) + 1;
  switch (step.compare) {
    case Step::Compare::greater_equal:  // as cyclic numbers
      return ((now - step.value) & sign) == 0;
    case Step::Compare::equal:
      return now == (step.value & mask);
    case Step::Compare::any_bit:
      return (now & step.value & mask) != 0;
    case Step::Compare::any_bit_of_neither:
      return (~(now | step.value) & mask) != 0;
  }
  return true;
}

void break_context(const Step& step, int device) {
  device::Fault fault;
  fault.kind = device::FaultKind::illegal_address;
  fault.address = reinterpret_cast<std::uint64_t>(step.address);
  fault.message = fmt::format("a stream memory operation accesses {} bytes at {}, which were already freed", step.bytes,
                              fmt::ptr(step.address));
  fault.advice = "free the memory after the stream has completed its work";
  session::findings().add(fault, results::Severity::error);
  cudaError_t none = cudaSuccess;
  context(device).fault.compare_exchange_strong(none, cudaErrorIllegalAddress);
}

// False: the stream cannot go on.
bool wait(const Step& step, int device) {
  auto pause = kFirstPause;
  while (!holds(step, load(step))) {
    if (Executor::instance().ends() || context(device).runs_nothing()) return false;
    // Observe host accesses during the pause.
    HostPages::instance().resume();
    std::this_thread::sleep_for(pause);
    HostPages::instance().pause();
    pause = std::min(2 * pause, kLongestPause);
    if (!reaches(step)) {
      break_context(step, device);
      return false;
    }
  }
  return true;
}

bool run(const Step& step, int device) {
  if (step.kind == Step::Kind::barrier) return true;  // all earlier writes are visible already
  if (!reaches(step)) {
    break_context(step, device);
    return false;
  }
  if (step.kind == Step::Kind::wait) return wait(step, device);
  store(step);
  session::devices()[device].define(reinterpret_cast<std::uint64_t>(step.address), step.bytes);
  return true;
}

}  // namespace

cudaError_t check(const MemoryOperation& operation) {
  for (const Step& step : operation.steps) {
    if (step.kind == Step::Kind::barrier) continue;
    const auto address = reinterpret_cast<std::uint64_t>(step.address);
    if (address % step.bytes)
      return refuse(cudaErrorInvalidValue,
                    fmt::format("the address {} is not a multiple of {} bytes", fmt::ptr(step.address), step.bytes));
    if (!reaches(step))
      return refuse(cudaErrorInvalidValue,
                    fmt::format("the device cannot access the memory at {}", fmt::ptr(step.address)));
  }
  return cudaSuccess;
}

cudaError_t make_work(const MemoryOperation& op, const Target& target, WorkPtr& out) {
  const auto is_wait = [](const Step& step) { return step.kind == Step::Kind::wait; };
  const bool waits = std::any_of(op.steps.begin(), op.steps.end(), is_wait);
  out = std::make_shared<Work>();
  out->kind = waits ? Work::Kind::wait : Work::Kind::memory;
  out->run = [steps = op.steps, device = target.device] {
    if (context(device).runs_nothing()) return;
    for (const Step& step : steps)
      if (!run(step, device)) return;
  };
  // Each step costs about as much as an event: the front end of the GPU handles a word in order.
  out->place = [target, count = static_cast<double>(op.steps.size())] {
    target.host.pay();
    session::timeline().work(target.stream, *target.host.clock, count * session::model().timing.event_pair_ns);
  };
  return cudaSuccess;
}

cudaError_t issue_memory_operation(MemoryOperation operation, cudaStream_t handle) {
  const StreamRef stream = resolve(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = check(operation)) return error;
  return submit(stream, std::move(operation), false);
}

}  // namespace warpgrind::semantics
