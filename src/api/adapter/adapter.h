// The debug adapter in the program's process: it serves requests of the Debug Adapter Protocol on a socket
// (docs/debugging-protocol.md) by the engine's debugger.
#pragma once

#include <functional>
#include <string>

#include "adapter/memory_origins.h"

namespace warpgrind::device {
class StopHandler;
}

namespace warpgrind::adapter {

// Connects to the debugger's front at the first call, starts the adapter, and returns the debugger for the devices. It
// lives to the end of the process. Null: no front answers at this path. `report` gets the reason, once.
device::StopHandler* debugger_at(const std::string& path, const std::function<void(const std::string& why)>& report);
// Observer of the devices' memory, for what the debugger says of pointers. Null: there is no debugger.
events::Observer* memory_observer(MemoryOrigins::DescribeCall describe);
// In the child of a fork: closes the connection, which is the parent's. The next call of debugger_at() makes another.
void leave_after_fork();

}  // namespace warpgrind::adapter
