// Programs that `warpgrind run` starts, and the signals that concern both: whatever ends one ends the other, and
// nothing stays behind.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::cli {

// Starts a program (a path, or a name on the PATH), waits, and returns its wait status. Signals that would end this
// process go to the program instead, which decides; with this process it dies. One that came before is an error.
Result<int> run_child(const std::vector<std::string>& arguments);

// The last signal that this process got and did not die of; 0: none.
int signal_received();

// main() calls end() when everything is cleaned up: it returns `code`, or dies of the signal that end_by_signal()
// named, so that a shell sees what it would see without warpgrind.
void end_by_signal(int signal);
int end(int code);

}  // namespace warpgrind::cli
