// The debug adapter in the program's process: it serves requests of the Debug Adapter Protocol on a socket
// (docs/debugging-protocol.md) by the engine's debugger.
#pragma once

namespace warpgrind::device {
class StopHandler;
}

namespace warpgrind::adapter {

// Starts the adapter on the first call and returns the debugger for the devices. It lives to the end of the process.
device::StopHandler* debugger_on(int socket);

}  // namespace warpgrind::adapter
