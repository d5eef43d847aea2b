// Child process of `warpgrind run`, and the signals for both: a signal that ends one ends the other, and no process
// stays behind.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::cli {

// Starts a program (a path, or a name on the PATH), waits, and returns its wait status. Signals that would end this
// process go to the program instead, which decides. If this process dies, the program dies too. A signal that came
// before the start is an error.
Result<int> run_child(const std::vector<std::string>& arguments);

// The last signal that this process received and survived; 0: none.
int signal_received();

// main() calls end() after all cleaning up. It returns `code`, or dies of the signal given to end_by_signal(), so that
// a shell sees the same end as without warpgrind.
void end_by_signal(int signal);
int end(int code);

}  // namespace warpgrind::cli
