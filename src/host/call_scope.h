// What each call of the runtime is besides its work: a row of the host's timeline, and a place where reading the clock
// is not the program's doing. Also what the program does with the host's clock: who measures with it measures the
// simulation.
#pragma once

#include <memory>
#include <string>

namespace warpgrind::host {

// When something of the host began, in virtual time: known once the ledger has come to it.
using Moment = std::shared_ptr<double>;
// Now, of the calling thread; null: nobody keeps the timeline of the host (a check, or too much was kept already).
Moment host_moment();
// From then to now: a row of kind "call" or "range". What takes no virtual time is left out.
void host_row(const Moment& begin, const char* kind, std::string name);

class CallScope {
 public:
  // The name of the entry point (__builtin_FUNCTION), which lives as long as the program.
  explicit CallScope(const char* entry_point);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  const char* entry_point_;
  Moment begin_;
};

// The documented name of an entry point: "__cudaLaunchKernel", which nvcc makes of <<<>>>, -> "cudaLaunchKernel";
// "cuMemAlloc_v2", which cuda.h makes of cuMemAlloc, -> "cuMemAlloc".
std::string call_name(const char* entry_point);

// The calling thread has issued a kernel; it has waited for what it has issued.
void note_launch();
void note_wait();
// The program reads a clock of the host (preload_clocks.cpp).
void clock_read(const char* function);
// Nothing that follows is the program's.
void no_more_clocks();
// The function it read before and after a launch that it waited for; null: none.
const char* clock_around_launches();

}  // namespace warpgrind::host
