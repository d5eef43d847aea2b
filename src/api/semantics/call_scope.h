// Scope of each runtime API call. It adds a row to the host's timeline, and clock reads inside it do not count as the
// program's. The file also tracks how the program uses the host's clock: times measured with it are those of the
// simulation.
#pragma once

#include <memory>
#include <string>

namespace warpgrind::semantics {

// Start of a call or range of the host, in virtual time. The value is known once the ledger has reached it.
using Moment = std::shared_ptr<double>;
// The calling thread's present time; null if no timeline of the host is kept (a check, or it has too many rows).
Moment host_moment();
// Adds a row from `begin` to now; kind: "call" or "range". A row without virtual time is left out.
void host_row(const Moment& begin, const char* kind, std::string name);

class CallScope {
 public:
  // entry_point: its name (__builtin_FUNCTION), which lives as long as the program.
  explicit CallScope(const char* entry_point);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  const char* entry_point_;
  Moment begin_;
};

// The documented name of an entry point: "cudaLaunchKernel" for "__cudaLaunchKernel" (nvcc makes that of <<<>>>),
// "cuMemAlloc" for "cuMemAlloc_v2" (cuda.h makes that of cuMemAlloc).
std::string call_name(const char* entry_point);

// The calling thread has issued a kernel; it has waited for its issued work.
void note_launch();
void note_wait();
// The program reads a clock of the host (preload_clocks.cpp).
void clock_read(const char* function);
// Later clock reads are not the program's.
void no_more_clocks();
// The clock function that the program called before and after a launch that it waited for; null: none.
const char* clock_around_launches();

}  // namespace warpgrind::semantics
