// Contexts, handles, errors, and waits of the host.
#include "semantics/state.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/demangle.h"
#include "base/installation.h"
#include "base/per_thread.h"
#include "semantics/executor.h"

namespace warpgrind::semantics {

HostState& HostState::instance() {
  static auto* state = new HostState;  // never destroyed, like the session
  return *state;
}

ThreadState& thread_state() {
  return per_thread<ThreadState>();
}

Context& context(int device) {
  // Created once, so that lookups need no lock. In a forked child, a lock might never be released.
  static const std::vector<std::unique_ptr<Context>>& contexts = []() -> auto& {
    HostState& r = HostState::instance();
    std::lock_guard lock(r.mutex);
    int count = session::devices().count();
    for (int i = 0; i < count; i++) {
      auto c = std::make_unique<Context>();
      c->legacy = std::make_shared<Stream>();
      c->legacy->device = i;
      c->legacy->id = timing::Timeline::legacy_default(i);
      c->legacy->kind = timing::StreamKind::legacy_default;
      c->pool.device = i;
      set_default_limits(*c);
      r.pools.insert(&c->pool);
      r.contexts.push_back(std::move(c));
    }
    return r.contexts;
  }
  ();
  WG_ASSERT(static_cast<std::size_t>(device) < contexts.size());
  return *contexts[static_cast<std::size_t>(device)];
}

cudaError_t sticky_error() {
  return context(thread_state().device).sticky;
}

bool goes_on_after_fault() {
  return context(thread_state().device).survived;
}

cudaError_t enter_call() {
  session::Run& run = session::run();
  if (run.broken_by_fork()) return cudaErrorInitializationError;
  if (Executor::inside_host_function()) return cudaErrorNotPermitted;
  run.announce();
  run.use();
  begin_call();
  return cudaSuccess;
}

cudaError_t show_fault(int device) {
  Context& c = context(device);
  if (cudaError_t fault = c.fault.load()) c.sticky = fault;
  if (c.sticky != cudaSuccess) return c.sticky;
  const cudaError_t refused = c.refused_launch;
  if (refused == cudaSuccess) return cudaSuccess;
  thread_state().refused_launch_device = device;
  return already_said(refused);  // Messages::problem() reported it at the launch
}

cudaError_t note_refused_launch(int device, cudaError_t error) {
  if (error != cudaSuccess && thread_state().refused_by_us) context(device).refused_launch = error;
  return error;
}

void forget_faults() {
  for (int device = 0; device < session::devices().count(); ++device) {
    Context& c = context(device);
    c.refused_launch = cudaSuccess;
    if (c.fault == cudaSuccess && c.sticky == cudaSuccess) continue;
    c.fault = c.sticky = cudaSuccess;
    c.survived = false;
    if (session::devices().in_use(device)) session::devices()[device].abandon_launches(false);
  }
  thread_state().last_error = cudaSuccess;
}

void forget_refused_launch(int device) {
  context(device).refused_launch = cudaSuccess;
}

StreamRef resolve(cudaStream_t handle) {
  ThreadState& thread = thread_state();
  if (handle == nullptr && thread.null_stream_is_own) handle = kStreamPerThread;
  if (handle == nullptr || handle == kStreamLegacy) return context(thread.device).legacy;
  HostState& r = HostState::instance();
  if (handle == kStreamPerThread) {
    StreamRef& own = thread.per_thread_streams[thread.device];
    if (!own) {
      own = std::make_shared<Stream>();  // its timeline stream outlives the thread
      own->device = thread.device;
      own->id = session::timeline().add_stream(thread.device, timing::StreamKind::blocking);
      own->unique_id = r.next_id++;
    }
    return own;
  }
  std::lock_guard lock(r.mutex);
  auto found = r.streams.find(handle);
  if (found != r.streams.end()) return found->second;
  thread.refused_handle = reinterpret_cast<std::uint64_t>(handle);
  return nullptr;
}

EventRef find_event(const Event* event) {
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  auto found = r.events.find(event);
  if (found != r.events.end()) return found->second;
  thread_state().refused_handle = reinterpret_cast<std::uint64_t>(event);
  return nullptr;
}

KernelHandle* find_kernel(const void* function) {
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  if (auto found = r.kernels.find(function); found != r.kernels.end()) return found->second.get();
  auto* handle = static_cast<const KernelHandle*>(function);
  return r.kernel_handles.count(handle) ? const_cast<KernelHandle*>(handle) : nullptr;
}

bool is_kernel(const KernelHandle* handle) {
  return handle && find_kernel(handle) == handle;
}

const Variable* find_variable(const void* symbol) {
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  auto found = r.variables.find(symbol);
  return found == r.variables.end() ? nullptr : &found->second;
}

namespace {

// Error if the program's code cannot be loaded.
cudaError_t module_error(const session::Program& program, const Error& error) {
  session::messages().problem(error);
  return program.has_image() ? error_of(error) : cudaErrorNoKernelImageForDevice;
}

// "the program holds no PTX, ...": for a library, the message names its file and the first kernel that was requested.
cudaError_t no_image(const KernelHandle& kernel, Error error) {
  thread_state().refused_by_us = true;
  constexpr std::string_view kWhole = "the program ";
  Dl_info at{};
  if (kernel.host_function && dladdr(kernel.host_function, &at) != 0 && at.dli_fname) {
    const std::string file = at.dli_fname, executable = own_executable();
    std::error_code unknown;
    if (!std::filesystem::equivalent(file, executable, unknown) && error.message.starts_with(kWhole)) {
      static std::mutex mutex;
      static auto& named = *new std::set<std::string>;
      const std::lock_guard lock(mutex);
      if (!named.insert(file).second) return cudaErrorNoKernelImageForDevice;
      error.message = fmt::format("{} {}; it was loaded for the kernel {}", file, error.message.substr(kWhole.size()),
                                  demangle(kernel.name));
      error.detail = "Its kernels can run on a virtual GPU only if it is also built with PTX";
    }
  }
  session::messages().problem(error);
  return cudaErrorNoKernelImageForDevice;
}

}  // namespace

cudaError_t locate(const Variable& variable, int device, DeviceVariable& out) {
  device::Device& gpu = session::devices()[device];
  auto module = variable.program->loaded(gpu);
  if (!module) return module_error(*variable.program, module.error());
  auto allocation = gpu.variable(*module, variable.name);
  if (!allocation) return cudaErrorInvalidSymbol;
  out.address = reinterpret_cast<void*>(allocation->address);
  out.size = variable.size ? variable.size : allocation->size;
  return cudaSuccess;
}

cudaError_t resolve_function(KernelHandle& kernel, std::uint32_t& function) {
  auto module = kernel.program->module();
  if (!module && !kernel.program->has_image()) return no_image(kernel, module.error());
  if (!module) return module_error(*kernel.program, module.error());
  auto index = kernel.program->function(kernel.name);
  if (!index) return cudaErrorInvalidDeviceFunction;
  function = *index;
  return cudaSuccess;
}

cudaError_t find_entry(KernelHandle& kernel, const session::KernelEntry*& entry) {
  entry = kernel.entry.load(std::memory_order_acquire);
  if (entry) return cudaSuccess;
  std::uint32_t function = 0;
  if (cudaError_t error = resolve_function(kernel, function)) return error;
  if (!(*kernel.program->module())->functions[function].is_entry) return cudaErrorInvalidDeviceFunction;
  Result<const session::KernelEntry*> found = kernel.program->kernel(kernel.name);
  if (!found) {
    session::messages().problem(found.error());
    return error_of(found.error());
  }
  entry = *found;
  kernel.entry.store(entry, std::memory_order_release);
  return cudaSuccess;
}

cudaError_t error_of(const device::Fault& fault) {
  using device::FaultKind;
  switch (fault.kind) {
    case FaultKind::illegal_address:
    case FaultKind::shared_out_of_bounds:
    case FaultKind::local_out_of_bounds:
    case FaultKind::stack_overflow:
    case FaultKind::write_to_constant:
    case FaultKind::invalid_texture:
      return cudaErrorIllegalAddress;
    case FaultKind::misaligned_address:
      return cudaErrorMisalignedAddress;
    case FaultKind::assertion:
      return cudaErrorAssert;
    case FaultKind::illegal_instruction:
    case FaultKind::barrier_number:
    case FaultKind::barrier_count:
    case FaultKind::unsupported:
      return cudaErrorIllegalInstruction;
    case FaultKind::invalid_pc:
      return cudaErrorInvalidPc;
    case FaultKind::timeout:
    case FaultKind::interrupted:
      return cudaErrorLaunchTimeout;
    case FaultKind::out_of_resources:
      return cudaErrorLaunchOutOfResources;
    case FaultKind::trap:
    case FaultKind::deadlock:
    case FaultKind::barrier_mismatch:
    case FaultKind::member_deadlock:
    case FaultKind::warp_mismatch:
    case FaultKind::absent_lanes:
    case FaultKind::grid_barrier:
    case FaultKind::block_order:
    case FaultKind::launch_control:
    case FaultKind::out_of_heap:
    case FaultKind::tensor_memory:
      return cudaErrorLaunchFailure;
  }
  return cudaErrorLaunchFailure;
}

cudaError_t error_of(const Error& error) {
  already_said(cudaSuccess);  // code that gets an Error reports it by Messages::problem()
  if (error.kind != ErrorKind::bad_input) thread_state().refused_by_us = true;
  switch (error.kind) {
    case ErrorKind::bad_input:
      return cudaErrorInvalidPtx;
    case ErrorKind::unsupported:
      return cudaErrorNotSupported;
    case ErrorKind::environment:
      return cudaErrorMemoryAllocation;
  }
  return cudaErrorUnknown;
}

cudaError_t not_supported(const char* what) {
  session::messages().say_once(fmt::format("{} is not supported: cudaErrorNotSupported is returned", what));
  return already_said(cudaErrorNotSupported);
}

void charge_host(double ns) {
  thread_state().owed_ns += ns;
}

HostTime take_host_time() {
  ThreadState& thread = thread_state();
  return {thread.clock, std::exchange(thread.owed_ns, 0)};
}

double host_now() {
  Executor& executor = Executor::instance();
  executor.ledger().add([host = take_host_time()] { host.pay(); });
  executor.settle();
  return session::timeline().now(*thread_state().clock);
}

void flush_l2() {
  Executor::instance().ledger().add([] {
    for (int device = 0; device < session::devices().count(); ++device) session::timeline_entries().flush_l2(device);
  });
}

namespace {

// Completes a wait of the host for work of the device; `move` advances the host's clock.
template <class Move>
cudaError_t waited(int device, Move move) {
  note_wait();
  if (session::devices().in_use(device)) session::devices()[device].flush_output();
  charge_host();
  Executor::instance().ledger().add([host = take_host_time(), move] {
    host.pay();
    move(session::timeline(), *host.clock);
  });
  return show_fault(device);
}

}  // namespace

cudaError_t synchronize(Stream& stream) {
  Executor::instance().wait(stream);
  return waited(stream.device, [id = stream.id](timing::Timeline& t, timing::HostClock& h) { t.synchronize(h, id); });
}

cudaError_t synchronize_device(int device) {
  Executor::instance().wait_device(device);
  return waited(device, [device](timing::Timeline& t, timing::HostClock& h) { t.synchronize_device(h, device); });
}

cudaError_t synchronize(const std::shared_ptr<EventMark>& mark, int device) {
  if (mark) Executor::instance().wait(mark->work);
  return waited(device, [mark](timing::Timeline& t, timing::HostClock& h) {
    if (mark) t.synchronize_time(h, mark->time_ns);
  });
}

}  // namespace warpgrind::semantics
