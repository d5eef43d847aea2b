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
  // __PRETTY_FUNCTION__ of the function that calls `api(... [&] { ... })`'s body: the body's name has the call's.
  explicit CallScope(const char* of_body);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  const char* of_body_;
  Moment begin_;
};

// "... [with Body = cudaMalloc(void**, size_t)::<lambda()>; ...]" -> "cudaMalloc"; "" where the compiler does not say.
std::string call_name(const char* of_body);

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
