// Child process of `warpgrind run`, and the signals for both: a signal that ends one ends the other, and no process
// stays behind.
#pragma once

#include "base/process.h"
#include "base/result.h"

namespace warpgrind::cli {

// Starts a program, waits, and returns its end. Signals that would end this process go to the program instead, which
// decides. If this process dies, the program dies too. The program has all open files that this process was started
// with. A signal that came before the start is an error.
Result<ProcessEnd> run_child(ProcessCommand command);

// Signals end this process again. For a debugger, whose compilation was a child and whose program is none.
void stop_passing_signals_on();

// The last signal that this process received and survived; 0: none.
int signal_received();

// main() calls end() after all cleaning up. It returns `code`, or dies of the signal given to end_by_signal(), so that
// a shell sees the same end as without warpgrind.
void end_by_signal(int signal);
int end(int code);

}  // namespace warpgrind::cli
