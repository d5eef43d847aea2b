// What the CUDA APIs share in this process: contexts, handles, the state of each host thread, errors, waits of the host
// and its virtual time. Entry points (src/cudart, src/cuda) translate arguments and errors, and do nothing else.
//
// Errors of this folder are cudaError_t, whose numbers are those of CUresult but for some below 100 that only the
// runtime has.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "host/call_scope.h"
#include "host/objects.h"
#include "host/types.h"
#include "session/session.h"

namespace warpgrind::host {

// Handles with a fixed value: cudaStreamLegacy and cudaStreamPerThread.
inline Stream* const kStreamLegacy = reinterpret_cast<Stream*>(1);
inline Stream* const kStreamPerThread = reinterpret_cast<Stream*>(2);

struct Variable {
  session::Program* program = nullptr;
  std::string name;
  std::size_t size = 0;
  void** managed_pointer = nullptr;  // where the program keeps the address of a __managed__ variable
};

// One primary context: what cudaDeviceReset throws away.
struct Context {
  // Since the device was reset last: the runtime has worked in it, the driver API's user holds it.
  std::atomic<bool> used{false}, retained{false};
  bool is_active() const { return used || retained; }
  // A kernel fault. It is known when its grid has ended, and the program sees it, in every call from then on, when it
  // has waited for that device: so that the same call brings it at every run.
  std::atomic<cudaError_t> fault{cudaSuccess}, sticky{cudaSuccess};
  // Where a checker observes them, accesses that are not allowed do not happen (device::LaunchResult::survived): the
  // program gets the same errors, but what it issues still runs, so that more is seen.
  std::atomic<bool> survived{false};
  bool runs_nothing() const { return fault != cudaSuccess && !survived; }
  std::atomic<unsigned> flags{0};
  std::mutex peers_mutex;
  std::set<int> peers;
  std::atomic<cudaFuncCache> cache_config{cudaFuncCachePreferNone};
  std::atomic<std::size_t> limits[7] = {};  // by cudaLimit; set_default_limits()
  StreamRef legacy;
  MemPool pool;                            // the default one
  std::atomic<MemPool*> current{nullptr};  // cudaDeviceSetMemPool; null: the default
};

// Everything that outlives a call. Lists are guarded by `mutex`; contexts are few and live for ever.
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
  bool in_own_context = false;  // of the driver API, no primary one: the runtime works in it
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::map<int, StreamRef> per_thread_streams;
  std::shared_ptr<timing::HostClock> clock = std::make_shared<timing::HostClock>();
  double owed_ns = 0;                                  // what its calls cost since the clock was last moved
  bool null_stream_is_own = false;                     // inside a call compiled with --default-stream per-thread
  std::string reason;                                  // why the call that runs now is refused
  std::string refused_kernel;                          // whose launch that is
  std::uint64_t refused_address = 0;                   // of the allocation that it does not fit into
  std::uint64_t refused_handle = 0;                    // that is none, or none any more
  bool error_is_said = false;                          // a message has named the error of the call that runs now
  std::map<std::size_t, std::uint64_t> not_asked_for;  // numbers of Session::api_errors(), and how often
  unsigned graphs_locks = 0;                           // GraphsLock, how deep
  std::vector<UserObject*> ended_objects;              // under it
};
ThreadState& thread_state();

// A null stream means the thread's own: during the calls _ptds and _ptsz.
class NullStreamIsOwn {
 public:
  NullStreamIsOwn() : before_(thread_state().null_stream_is_own) { thread_state().null_stream_is_own = true; }
  ~NullStreamIsOwn() { thread_state().null_stream_is_own = before_; }
  NullStreamIsOwn(const NullStreamIsOwn&) = delete;
  NullStreamIsOwn& operator=(const NullStreamIsOwn&) = delete;

 private:
  bool before_;
};

inline session::Session& the_session() {
  return session::Session::instance();
}
Context& context(int device);
void set_default_limits(Context& context);  // as a new context has them
inline Context& current_context() {
  return context(thread_state().device);
}
// A call of the runtime, which brings the primary context of its device to life.
inline void use_runtime() {
  ThreadState& thread = thread_state();
  thread.uses_runtime = true;
  if (thread.in_own_context) return;
  std::atomic<bool>& used = context(thread.device).used;
  if (!used.load(std::memory_order_relaxed)) used = true;
}
inline device::Device& current_device() {
  return the_session().device(thread_state().device);
}
inline bool valid_device(int device) {
  return device >= 0 && device < the_session().device_count();
}

// What every call ends with: remembers an error for cudaGetLastError and for the end of the run (unasked.cpp).
cudaError_t set_last_error(cudaError_t error);
// An error of an API that keeps no last error, for the end of the run.
void note_error(std::string call, const char* name, const char* text);
// The error, and why: "2048 threads a block, at most 1024".
cudaError_t refuse(cudaError_t error, std::string why);
// The error was said already when it occurred: the end of the run need not name it.
cudaError_t already_said(cudaError_t error);
// The program asked for its errors (cudaGetLastError): those of this thread are known to it.
void errors_were_asked_for();
// The error of the current context, if a kernel broke it.
cudaError_t sticky_error();
// ... and calls do their work nevertheless: accesses that are not allowed did not happen (Context::survived).
bool goes_on_after_fault();
// What every call begins with: errors of the place it is made from (a forked child, a host function).
cudaError_t enter_call();
// What the program has waited for on the device may have broken it: from now on it sees the error.
cudaError_t show_fault(int device);

void begin_call();  // forgets the reasons of the call before

// The stream behind a handle; nullptr: no such stream.
StreamRef resolve(cudaStream_t handle);
EventRef find_event(const Event* event);  // nullptr: no such event
// A function pointer or a cudaKernel_t; nullptr: not a kernel of this program.
KernelHandle* find_kernel(const void* function);
bool is_kernel(const KernelHandle* handle);  // a handle itself, of a kernel that is loaded
// The part of its memory, in percent of the most, that an SM is to give to shared memory for this kernel: by its
// attribute, else by its cache configuration, else by that of the device. -1: as the driver likes.
int preferred_carveout_percent(const KernelHandle& kernel);
const Variable* find_variable(const void* symbol);
struct DeviceVariable {
  void* address = nullptr;
  std::size_t size = 0;
};
cudaError_t locate(const Variable& variable, int device, DeviceVariable& out);
// Which index a kernel has in its module; errors are said and translated.
cudaError_t resolve_function(KernelHandle& kernel, std::uint32_t& function);
cudaError_t find_entry(KernelHandle& kernel, const session::KernelEntry*& entry);

cudaError_t error_of(const device::Fault& fault);
cudaError_t error_of(const Error& error);
// cudaErrorNotSupported, named once on stderr.
cudaError_t not_supported(const char* what);

// Waits of the host: the work is done, device output comes out, and virtual time moves on. They return the error of the
// device, if it has one by now.
cudaError_t synchronize(Stream& stream);
cudaError_t synchronize_device(int device);
cudaError_t synchronize(const std::shared_ptr<EventMark>& mark, int device);  // null: was never recorded

// What the calling thread's calls cost goes with the next thing it issues, which has its place in the ledger.
void charge_host(double ns = timing::kHostCallNs);
struct HostTime {
  std::shared_ptr<timing::HostClock> clock;
  double owed_ns = 0;
  void pay() const { the_session().timeline().host_work(*clock, owed_ns); }
};
HostTime take_host_time();
// The thread's virtual clock, after all that it waited for.
double host_now();
// Behind all work issued before, the modelled L2 caches of all GPUs hold nothing of what comes next.
void flush_l2();

}  // namespace warpgrind::host
