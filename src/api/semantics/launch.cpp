// The steps of a launch, in order: launch_kernel() has 1 to 5, which the call makes in its own thread before it
// returns. The executor makes step 6 in any thread, when the stream comes to the launch. The ledger makes step 7 in the
// order of issue. A kernel node of a graph is made by step 1; each launch of the graph makes steps 4 to 7 for it
// (graph.cpp).
#include "semantics/launch.h"

#include <atomic>
#include <memory_resource>
#include <mutex>

#include "base/assert.h"
#include "base/demangle.h"
#include "semantics/device_graphs.h"
#include "session/ranges.h"

namespace warpgrind::semantics {

namespace {

// A launch from step 4 to step 7.
struct PendingLaunch {
  session::LaunchRequest request;
  session::LaunchOutcome outcome;
  HostTime host;
  std::shared_ptr<GraphRun> run;  // null: it is no node of a graph
};

cudaError_t check_launch(const LaunchArguments& arguments, const StreamRef& stream, KernelOperation& kernel);  // 1
void charge_launch(const KernelOperation& kernel, int device);                                                 // 3
cudaError_t make_launch(const LaunchArguments& arguments, const StreamRef& stream);                            // 1 to 5
void run_launch(PendingLaunch& launch);                                                                        // 6
void place_launch(PendingLaunch& launch);                                                                      // 7

}  // namespace

cudaError_t launch_kernel(const LaunchArguments& arguments, cudaStream_t handle) {
  const StreamRef stream = resolve(handle);
  const cudaError_t error = make_launch(arguments, stream);
  return note_refused_launch(stream ? stream->device : thread_state().device, error);
}

namespace {

cudaError_t make_launch(const LaunchArguments& arguments, const StreamRef& stream) {
  Operation operation;
  auto& kernel = operation.emplace<KernelOperation>();
  // 1. Checks shape, bounds and resources, and packs the parameters.
  if (cudaError_t error = check_launch(arguments, stream, kernel)) return error;
  // 2. A stream that is being captured gets a node of its graph. The launch ends here.
  if (const auto captured = try_capture(*stream, operation, false)) return *captured;
  // 3. The host pays for the launch, and for loading the kernel's code at its first one.
  charge_launch(kernel, stream->device);
  // 4. Compiles the kernel, unless the same shape was launched last. The work has steps 6 and 7.
  WorkPtr work;
  if (cudaError_t error = make_work(kernel, target_of(*stream), work)) return error;
  // 5. The executor gets the work, and the call returns.
  issue(stream, work);
  return cudaSuccess;
}

// ---- 1. Check

cudaError_t check_launch(const LaunchArguments& arguments, const StreamRef& stream, KernelOperation& kernel) {
  if (!stream) {
    if (const KernelHandle* refused = find_kernel(arguments.function)) thread_state().refused_kernel = refused->name;
    return cudaErrorInvalidResourceHandle;
  }
  if (cudaError_t error = make_kernel(arguments, kernel)) return error;
  if (sticky_error() != cudaSuccess) session::after_fault().launched();
  return cudaSuccess;
}

// ---- 3. Charge

std::atomic<std::uint64_t> g_loading_ns{0};  // an integer, so that host threads can add without a lock

void charge_launch(const KernelOperation& kernel, int device) {
  charge_load(*kernel.kernel, device);
  charge_host(session::model().timing.host_launch_ns);
}

}  // namespace

double loading_ns() {
  return static_cast<double>(g_loading_ns.load(std::memory_order_relaxed));
}

// Modules are loaded lazily, kernel by kernel (CUDA C++ Programming Guide, "Lazy Loading").
void charge_load(KernelHandle& kernel, int device) {
  const std::uint64_t bit = std::uint64_t{1} << (device % 64);
  if (kernel.loaded.fetch_or(bit) & bit) return;
  const Moment begin = host_moment();
  const double ns = session::model().timing.first_launch_ns;
  g_loading_ns.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed);
  charge_host(ns);
  host_row(begin, "call", "load " + demangle(kernel.name));
}

// ---- 4. Prepare

namespace {

cudaError_t refused(const session::Launches::Refusal& refusal) {
  using Step = session::Launches::Refusal::Step;
  session::messages().problem(refusal.error);
  // An environment error concerns the JIT in the compile step, else memory for variables.
  const cudaError_t error = error_of(refusal.error);
  if (refusal.error.kind == ErrorKind::environment && refusal.step == Step::compile)
    return cudaErrorJitCompilerNotFound;
  if (refusal.step == Step::architecture) {
    thread_state().refused_by_us = false;  // that GPU itself refuses the kernel
    return cudaErrorNoKernelImageForDevice;
  }
  if (refusal.error.kind == ErrorKind::bad_input && refusal.step == Step::shape) return cudaErrorInvalidValue;
  return error;
}

cudaError_t prepare(KernelHandle& kernel, const session::LaunchRequest& request, double& part_of_gpu) {
  {
    const std::lock_guard lock(kernel.prepared_mutex);
    const PreparedShape& last = kernel.prepared;
    if (last.device == request.device && last.config == request.config &&
        last.carveout_percent == request.carveout_percent) {
      part_of_gpu = last.part_of_gpu;
      return cudaSuccess;
    }
  }
  const auto prepared = session::launches().prepare(request);
  if (const auto* refusal = std::get_if<session::Launches::Refusal>(&prepared)) return refused(*refusal);
  part_of_gpu = std::get<double>(prepared);
  const std::lock_guard lock(kernel.prepared_mutex);
  kernel.prepared = {request.device, request.config, request.carveout_percent, part_of_gpu};
  return cudaSuccess;
}

// Memory of pending launches, allocated by one thread and freed by another. malloc merges its free chunks for every
// such size, which was a tenth of a small launch.
std::pmr::memory_resource& pending_memory() {
  static auto* const pool = new std::pmr::synchronized_pool_resource({0, sizeof(PendingLaunch) + 64});
  return *pool;
}

}  // namespace

cudaError_t compile(const KernelShape& shape) {
  session::LaunchRequest request;
  request.program = shape.kernel->program;
  request.kernel = shape.entry;
  request.device = shape.device;
  request.config = shape.config;
  request.config.counted = session::launches().choice().may_count(shape.entry->name);
  request.carveout_percent = shape.carveout_percent;
  double part_of_gpu = 0;
  return prepare(*shape.kernel, request, part_of_gpu);
}

cudaError_t make_work(const KernelOperation& op, const Target& target, WorkPtr& out) {
  auto launch = std::allocate_shared<PendingLaunch>(std::pmr::polymorphic_allocator<PendingLaunch>(&pending_memory()));
  session::LaunchRequest& request = launch->request;
  WG_ASSERT(op.kernel && op.entry);  // step 1 found both
  request.program = op.kernel->program;
  request.kernel = op.entry;
  request.device = target.device;
  request.stream = target.stream;
  request.config = op.config;
  request.config.counted = session::launches().choice().counts(op.entry->name);
  request.carveout_percent = op.carveout_percent;
  request.parameters = op.parameters;
  request.early = op.early;
  request.ranges = session::open_ranges();
  launch->host = target.host;
  launch->run = target.run;
  if (target.run) {
    request.config.in_graph = true;
    request.config.graph = target.run->exec;
  }
  double part_of_gpu = 0;
  if (cudaError_t error = prepare(*op.kernel, request, part_of_gpu)) return error;
  if (request.config.counted)
    request.config.log_part =
        session::launches().log_parts().part_of(op.entry->name, request.device, request.config, request.parameters);
  note_launch();
  out = std::make_shared<Work>();
  out->kind = Work::Kind::grid;
  out->what = events::StreamWork::Kind::grid;
  out->part_of_gpu = part_of_gpu;
  out->early = op.early;
  out->run = [launch] { run_launch(*launch); };
  out->place = [launch] { place_launch(*launch); };
  return cudaSuccess;
}

// ---- 6. Run

namespace {

void run_launch(PendingLaunch& launch) {
  Context& c = context(launch.request.device);
  if (c.runs_nothing()) return;
  launch.request.work = Executor::running_work();
  launch.outcome = session::launches().run(launch.request);
  WG_ASSERT(launch.outcome.error.has_value() != launch.outcome.result.has_value());
  if (launch.run && launch.outcome.result) launch.run->add(std::move(launch.outcome.result->graphs));
  cudaError_t error = cudaSuccess;
  if (launch.outcome.error)
    error = error_of(*launch.outcome.error);
  else if (launch.outcome.result->fault)
    error = error_of(*launch.outcome.result->fault);
  if (error == cudaSuccess) return;
  const bool survived = launch.outcome.result && launch.outcome.result->survived;
  if (survived && c.fault == cudaSuccess) c.survived = true;
  cudaError_t none = cudaSuccess;
  const bool first = c.fault.compare_exchange_strong(none, error);
  if (survived) return;
  if (c.survived.exchange(false) || first) session::devices()[launch.request.device].abandon_launches(true);
}

// ---- 7. Place and record

void place_launch(PendingLaunch& launch) {
  launch.host.pay();
  session::launches().record(launch.request, launch.outcome, *launch.host.clock);
}

}  // namespace

}  // namespace warpgrind::semantics
