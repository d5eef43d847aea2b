// Connections of processes that wait for a session of their own. The session that has launched the program offers them,
// and a second `warpgrind dap` on the same host fetches one when its client sends `attach`.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "dap/channel.h"
#include "debug/process_name.h"

namespace warpgrind::debug {

class ProcessOffers {
 public:
  // `say` gets a line about each process that runs on without a session.
  explicit ProcessOffers(std::function<void(const std::string& text)> say) : say_(std::move(say)) {}

  // Returns the path at which the process can be fetched. The socket for that is made in `folder`.
  Result<std::string> add(const std::string& folder, Descriptor socket, ProcessName name);
  // The client has refused the session: the process runs without the debugger.
  void refuse(pid_t process, const std::string& why);
  void close();  // all of them

  // For poll(), with the milliseconds until the next offer ends (-1: none), and what to do after it.
  pollfd reading() const { return {listener_.get(), POLLIN, 0}; }
  int patience() const;
  void handle();

 private:
  using Clock = std::chrono::steady_clock;
  struct Offer {
    Descriptor socket;
    ProcessName name;
    Clock::time_point until;
  };
  void answer(const Descriptor& asking);

  std::function<void(const std::string& text)> say_;
  Descriptor listener_;
  std::string path_;
  std::vector<Offer> all_;
};

// Fetches the connection of a process from the session that offers it.
Result<Descriptor> receive_offer(const std::string& path, pid_t process);

}  // namespace warpgrind::debug
