// The debug adapter in the program's process: it serves requests of the Debug Adapter Protocol on a socket
// (docs/debugging-protocol.md) by the engine's debugger.
#pragma once

#include "adapter/memory_origins.h"

namespace warpgrind::device {
class StopHandler;
}

namespace warpgrind::adapter {

// Starts the adapter on the first call and returns the debugger for the devices. It lives to the end of the process.
device::StopHandler* debugger_on(int socket);
// Observer of the devices' memory, for what the debugger says of pointers. Null: there is no debugger.
events::Observer* memory_observer(MemoryOrigins::DescribeCall describe);

}  // namespace warpgrind::adapter
