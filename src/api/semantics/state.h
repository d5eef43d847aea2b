// State that the CUDA APIs share in this process: contexts, handles, host threads, errors, waits of the host and its
// virtual time. Entry points (src/api/runtime, src/api/driver) only translate arguments and errors.
//
// Errors of this folder are of type cudaError_t. Their numbers are those of CUresult, except for some below 100 that
// only the runtime has.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "semantics/call_scope.h"
#include "semantics/objects.h"
#include "semantics/types.h"
#include "session/session.h"

namespace warpgrind::semantics {

// Handles with a fixed value: cudaStreamLegacy and cudaStreamPerThread.
inline Stream* const kStreamLegacy = reinterpret_cast<Stream*>(1);
inline Stream* const kStreamPerThread = reinterpret_cast<Stream*>(2);

struct Variable {
  session::Program* program = nullptr;
  std::string name;
  std::size_t size = 0;
  void** managed_pointer = nullptr;  // the program's pointer to a __managed__ variable
};

// Primary context of a device: the state that cudaDeviceReset discards.
struct Context {
  // Since the last reset of the device: the runtime has used it; the program retains it through the driver API.
  std::atomic<bool> used{false}, retained{false};
  bool is_active() const { return used || retained; }
  // A kernel fault. `fault` is set when the grid has ended. `sticky` is set when the program has waited for the device;
  // every later call returns it. So in every run, the same call is the first to return the error.
  std::atomic<cudaError_t> fault{cudaSuccess}, sticky{cudaSuccess};
  // With a checker, invalid accesses are skipped (device::LaunchResult::survived). The program gets the same errors,
  // but later work still runs, so that the checker finds more.
  std::atomic<bool> survived{false};
  bool runs_nothing() const { return fault != cudaSuccess && !survived; }
  // Error of a launch that hardware would have run and the virtual GPU refused. Later results may be wrong, so every
  // wait for the device returns this error until the program has read it (forget_refused_launch()). It is not sticky:
  // a program that knows of it may go on with other kernels, as after any launch that a GPU refuses.
  std::atomic<cudaError_t> refused_launch{cudaSuccess};
  std::atomic<unsigned> flags{0};
  std::mutex peers_mutex;
  std::set<int> peers;
  std::atomic<cudaFuncCache> cache_config{cudaFuncCachePreferNone};
  std::atomic<std::size_t> limits[7] = {};  // by cudaLimit; set_default_limits()
  StreamRef legacy;
  MemPool pool;                            // the default one
  std::atomic<MemPool*> current{nullptr};  // cudaDeviceSetMemPool; null: the default
};

// All state that outlives a call. `mutex` guards the lists; contexts are few and never destroyed.
struct HostState {
  std::mutex mutex;
  std::vector<std::unique_ptr<Context>> contexts;
  std::unordered_map<const void*, std::unique_ptr<KernelHandle>> kernels;  // by host function
  std::set<const KernelHandle*> kernel_handles;
  std::unordered_map<const void*, Variable> variables;  // by host variable
  std::map<const Stream*, StreamRef> streams;
  std::map<const Event*, EventRef> events;
  std::set<const Graph*> graphs;
  std::set<const GraphExec*> graph_execs;
  std::set<const MemPool*> pools;
  std::atomic<std::uint64_t> next_id{1};

  static HostState& instance();
};

struct ThreadState {
  int device = 0;
  unsigned device_choices = 0;  // how often cudaSetDevice was called
  bool uses_runtime = false;    // a call of the runtime has made its device's primary context current
  bool in_own_context = false;  // the runtime works in a context created by the driver API, not a primary one
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::map<int, StreamRef> per_thread_streams;
  std::shared_ptr<timing::HostClock> clock = std::make_shared<timing::HostClock>();
  double owed_ns = 0;                                     // cost of its calls since the clock was last advanced
  bool null_stream_is_own = false;                        // inside a call compiled with --default-stream per-thread
  std::string reason;                                     // why the current call is refused
  std::string refused_kernel;                             // the kernel, if that is a launch
  std::uint64_t refused_address = 0;                      // the allocation that is too small
  std::uint64_t refused_handle = 0;                       // the handle that is invalid, or no longer valid
  bool error_is_said = false;                             // the error of the current call has been reported
  bool refused_by_us = false;                             // the current call needs what only the virtual GPU lacks
  int refused_launch_device = -1;                         // the current call returned Context::refused_launch of it
  std::map<std::size_t, std::uint64_t> unchecked_errors;  // unchecked errors: number in Findings::api_errors(), count
  unsigned graphs_locks = 0;                              // nesting depth of GraphsLock
  std::vector<UserObject*> ended_objects;                 // user objects whose references ended under GraphsLock
};
ThreadState& thread_state();

// While one exists, a null stream means the thread's own stream: for the calls _ptds and _ptsz.
class NullStreamIsOwn {
 public:
  NullStreamIsOwn() : before_(thread_state().null_stream_is_own) { thread_state().null_stream_is_own = true; }
  ~NullStreamIsOwn() { thread_state().null_stream_is_own = before_; }
  NullStreamIsOwn(const NullStreamIsOwn&) = delete;
  NullStreamIsOwn& operator=(const NullStreamIsOwn&) = delete;

 private:
  bool before_;
};

Context& context(int device);
void set_default_limits(Context& context);  // those of a new context
inline Context& current_context() {
  return context(thread_state().device);
}
// Marks a call of the runtime, which activates the primary context of its device.
inline void use_runtime() {
  ThreadState& thread = thread_state();
  thread.uses_runtime = true;
  if (thread.in_own_context) return;
  std::atomic<bool>& used = context(thread.device).used;
  if (used.load(std::memory_order_relaxed)) return;
  used = true;
  session::activity().device_used();
}
inline device::Device& current_device() {
  return session::devices()[thread_state().device];
}
inline bool valid_device(int device) {
  return device >= 0 && device < session::devices().count();
}

// Last step of every call: keeps an error for cudaGetLastError and for the report at the end of the run
// (last_error.cpp).
cudaError_t set_last_error(cudaError_t error);
// Notes an error of an API without a last error, for the report at the end of the run.
void note_error(std::string call, const char* name, const char* text);
// Returns the error and notes its reason: "2048 threads a block, at most 1024".
cudaError_t refuse(cudaError_t error, std::string why);
// Returns the error and notes that it was reported already: the report at the end of the run leaves it out.
cudaError_t already_said(cudaError_t error);
// The program read the last error (cudaGetLastError): the errors of this thread count as checked.
void mark_errors_checked();
// The error of the current context, if a kernel broke it.
cudaError_t sticky_error();
// True if there is such an error, but calls still do their work as invalid accesses were skipped (Context::survived).
bool goes_on_after_fault();
// First step of every call: an error if no call is allowed in this place (a forked child, a host function).
cudaError_t enter_call();
// The program has waited for work on the device: a fault of that work becomes visible, and is returned. Without a
// fault, the error of a refused launch is returned.
cudaError_t show_fault(int device);
// Last step of a launch: keeps its error for later waits if hardware would have run the kernel. Returns the error.
cudaError_t note_refused_launch(int device, cudaError_t error);
// The program has read this error: by cudaGetLastError, or as the result of a wait in the driver API.
// All devices work again after kernel faults, with the memory as it is. Call when no work is pending.
void forget_faults();
void forget_refused_launch(int device);

void begin_call();  // clears the error details of the previous call

// The stream behind a handle; nullptr: no such stream.
StreamRef resolve(cudaStream_t handle);
EventRef find_event(const Event* event);  // nullptr: no such event
// A function pointer or a cudaKernel_t; nullptr: not a kernel of this program.
KernelHandle* find_kernel(const void* function);
bool is_kernel(const KernelHandle* handle);  // true: a valid handle of a loaded kernel
// Preferred shared memory of an SM for this kernel, in percent of the maximum. It is set by the kernel's attribute,
// else by its cache configuration, else by that of the device. -1: the driver decides.
int preferred_carveout_percent(const KernelHandle& kernel);
const Variable* find_variable(const void* symbol);
struct DeviceVariable {
  void* address = nullptr;
  std::size_t size = 0;
};
cudaError_t locate(const Variable& variable, int device, DeviceVariable& out);
// Index of the kernel in its module. Errors are reported and translated.
cudaError_t resolve_function(KernelHandle& kernel, std::uint32_t& function);
cudaError_t find_entry(KernelHandle& kernel, const session::KernelEntry*& entry);

cudaError_t error_of(const device::Fault& fault);
cudaError_t error_of(const Error& error);
// Returns cudaErrorNotSupported and reports the feature once on stderr.
cudaError_t not_supported(const char* what);

// Waits of the host, until the work is done. They also print device output, advance the virtual time, and return the
// device's error, if any.
cudaError_t synchronize(Stream& stream);
cudaError_t synchronize_device(int device);
cudaError_t synchronize(const std::shared_ptr<EventMark>& mark, int device);  // null: never recorded

// Cost of the calling thread's calls. It is charged with the next work that the thread issues, in the order of the
// ledger.
void charge_host(double ns = timing::kHostCallNs);
struct HostTime {
  std::shared_ptr<timing::HostClock> clock;
  double owed_ns = 0;
  void pay() const { session::timeline().host_work(*clock, owed_ns); }
};
HostTime take_host_time();
// The thread's virtual clock, after all of its waits.
double host_now();
// After all work issued so far, the modelled L2 caches of all GPUs hold no data of later work.
void flush_l2();

}  // namespace warpgrind::semantics
