// The connection to the debug adapter in one process of the program: requests, and the answers to them. The adapter is
// part of our CUDA runtime (docs/debugging-protocol.md). Everything happens in one thread, in wait().
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "dap/channel.h"

namespace warpgrind::debug {

using dap::Channel;
using dap::Json;

class AdapterConnection {
 public:
  // Called with the whole response. It always comes: if the process ends first, or closes the connection, the response
  // is one without success.
  using Answer = std::function<void(const Json& response)>;
  struct Handlers {
    std::function<void(const Json& event)> on_event;
    std::function<void(const Json& request)> on_request;    // of the adapter; the response goes through send()
    std::function<void(const std::string& why)> on_broken;  // the process runs on without it
    std::function<void()> on_closed;                        // the process has ended, or is another program now
  };
  explicit AdapterConnection(Handlers handlers) : handlers_(std::move(handlers)) {}
  virtual ~AdapterConnection();
  AdapterConnection(const AdapterConnection&) = delete;
  AdapterConnection& operator=(const AdapterConnection&) = delete;

  // Requests are kept until there is a process, which is at its first use of CUDA.
  void expect_process();
  void connect(Descriptor socket);
  bool expects_process() const { return expects_; }

  virtual bool connected() const { return expects_ || channel_.open(); }
  virtual void request(const std::string& command, Json arguments, Answer answer);
  // The same, but waits for the response and returns its body. `interrupted` ends the wait.
  Result<Json> call(const std::string& command, Json arguments, const std::function<bool()>& interrupted = {});
  void send(const Json& message);
  // The process runs on without a debugger. Requests without an answer get this reason, and later ones, too.
  void close(const std::string& reason) { disconnect(reason); }
  // Waits until something happens in the program or at one of the descriptors, and handles what the program did. A
  // signal ends the wait, too. `milliseconds`: the longest wait; -1: no limit.
  virtual void wait(std::vector<pollfd>& others, int milliseconds = -1) = 0;

  // For poll(), and what to do after it.
  pollfd reading() const { return channel_.reading(); }
  pollfd writing() const { return channel_.writing(); }
  void write() { channel_.write(); }
  void read();

 protected:
  void forget_handlers() { handlers_ = {}; }
  // Closes the connection. Requests without an answer get this reason, and later ones, too.
  void disconnect(const std::string& reason);
  // For requests after the program's end.
  void forget_reason() { closed_ = kNotRunning; }

 private:
  void handle(const Json& message);

  Handlers handlers_;
  Channel channel_;
  bool expects_ = false;
  std::vector<Json> kept_;  // until there is a process
  static constexpr const char* kNotRunning = "the program is not running";
  std::string closed_ = kNotRunning;  // why there is no connection
  std::int64_t sequence_ = 0;
  struct Pending {
    std::string command;
    Answer answer;
  };
  std::map<std::int64_t, Pending> pending_;
};

// The response of an adapter that cannot do what `request` asks.
Json failure(const Json& request, const std::string& message);
// The message of a response without success.
std::string problem_of(const Json& response);

}  // namespace warpgrind::debug
