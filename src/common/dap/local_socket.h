// Sockets by which programs of one host find the debugger: a front listens at a path, and processes connect to it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace warpgrind::dap {

// A socket that listens at a new path in an existing folder. Accepting never blocks. A path of any length works.
Result<Descriptor> listen_at(const std::string& path);

// Connects to such a path. A front that accepts no connections at the moment is waited for, at most `patience`.
Result<Descriptor> connect_to(const std::string& path, std::chrono::milliseconds patience);

// The next connection; -1: there is none. `peer`: the process that has connected.
Descriptor accept_at(int listener, pid_t& peer);

// Passes an open descriptor to the process at the other end of `socket`.
Status pass_descriptor(int socket, int descriptor);
// Waits for it, at most `patience`.
Result<Descriptor> receive_descriptor(int socket, std::chrono::milliseconds patience);

}  // namespace warpgrind::dap
