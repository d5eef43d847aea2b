// Interface of the runtime for libraries that run on the host (src/api/libraries). A library call is a piece of work in
// a stream, like a kernel. It is issued in order and can be captured as a graph node. It has a place on the virtual
// timeline, and is a row of the profile. The functions have C names, as one shared library calls them in another. Both
// must come from the same build, as they share types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "timing/library_estimate.h"
#include "timing/timeline.h"

namespace warpgrind::semantics {

// Types of factors that tensor cores multiply into sums of f32.
enum class TensorCoreFactors : std::uint8_t { f16, bf16, tf32 };

// Interface passed to a library call when its stream reaches it. The call announces each operand before it accesses it.
// An access outside GPU memory ends the call and breaks the context, like an invalid access of a kernel.
class LibraryRun {
 public:
  virtual ~LibraryRun() = default;
  // name: documented name of the argument. With bytes = 0 any address is valid. False: the call must end.
  virtual bool reads(const char* name, const void* at, std::size_t bytes) = 0;
  virtual bool writes(const char* name, void* at, std::size_t bytes) = 0;
  // Warpgrind cannot carry out the call: the reason is reported, and the run counts as incomplete.
  virtual void fail(const std::string& why) = 0;
  // sums += a * b, bit for bit as the tensor cores of this GPU add. All are stored row by row: sums is rows x columns,
  // a is rows x depth and b depth x columns. rows and columns are multiples of 8, and each call but the last for the
  // same sums has a depth of a multiple of 16, at most kDepthOfTensorCores. False: this GPU has none for such factors.
  virtual bool add_on_tensor_cores(float* sums, const float* a, const float* b, TensorCoreFactors factors,
                                   std::uint32_t rows, std::uint32_t columns, std::uint32_t depth) = 0;
  static constexpr std::uint32_t kDepthOfTensorCores = 128;
  // True: the context is broken, and no work of it runs. Only calls with `prepare` run then.
  virtual bool broken() const = 0;
  // Waits until `done()` is true, which it polls. False: the program ends, or the context is broken.
  virtual bool wait(const std::function<bool()>& done) = 0;
  // The program used the library wrongly: reports a finding, and breaks the context.
  virtual void misused(const std::string& what, const std::string& advice) = 0;
};

// Common start of calls in several streams (a collective) on the timeline: none begins before all streams are ready.
struct CommonStart {
  std::mutex mutex;
  std::vector<timing::StreamId> streams;
  double begin_ns = 0;
};
// One execution of a call that takes part in others' work.
struct LibraryExecution {
  std::function<void(LibraryRun&)> run;
  std::vector<std::shared_ptr<CommonStart>> starts;
};

struct LibraryCall {
  std::string function;      // "cublasSgemm"
  std::string arguments;     // "512 x 512 x 512"
  const char* by = "";       // "OpenBLAS"
  timing::LibraryWork work;  // for the estimate of its time
  std::function<void(LibraryRun&)> run;
  // Instead of `run`, for calls that wait for calls in other streams: called at each issue, in the order of issue (each
  // launch of a graph issues its calls).
  std::function<LibraryExecution()> prepare;
};

using LibraryCallRef = std::shared_ptr<const LibraryCall>;

enum class LibraryIssue : std::uint8_t {
  done,
  refused,       // an error of the runtime: the stream is invalid or the context is broken
  not_captured,  // the host must wait for the result, which a capture does not allow
};

}  // namespace warpgrind::semantics

extern "C" {
// stream: a cudaStream_t. host_waits: returns when the call is done (its result goes to host memory).
warpgrind::semantics::LibraryIssue warpgrind_library_issue(const warpgrind::semantics::LibraryCallRef* call,
                                                           void* stream, bool host_waits);
// True if kernels can access the address: memory of a GPU, managed memory, or pinned memory of the host.
bool warpgrind_library_reachable(const void* address);
// True if the stream is valid (the null stream is).
bool warpgrind_library_stream(void* stream);
// Device of the stream, -1: no such stream.
int warpgrind_library_stream_device(void* stream);
// What is issued to `after` from now on waits for all that was issued to `before`. Both are streams of the current
// device. False: an error of the runtime.
bool warpgrind_library_order(void* before, void* after);
// Prints the text, once.
void warpgrind_library_say(const char* text);
// Estimated time of the work on the modelled GPU, ns.
double warpgrind_library_estimate(const warpgrind::timing::LibraryWork* work);
// Reports once that the program uses the library.
void warpgrind_library_begin(const char* library, const char* by);
// Reports once that a library function is missing here; the run then counts as incomplete.
void warpgrind_library_missing(const char* what);
}
