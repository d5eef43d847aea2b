// Runs the launch of a core file again, under the debugger. A process of its own does nothing else.
#pragma once

#include <string>

namespace warpgrind::session {

// The first step, before this process has threads or much memory: takes the addresses of the core's memory. They may
// belong to code of this process. Then `restart` is called, which starts it again, at other addresses.
// Returns after an error, too, which play_core() reports.
void take_core_addresses(const std::string& path, void (*restart)());

// The second step: the launch. Returns the exit code: 0 if it ended by the core's fault, 2 after an error, which is
// printed.
int play_core(const std::string& path);

}  // namespace warpgrind::session
