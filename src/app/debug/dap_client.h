// A program under the debugger: its process, its output, and the client of the debug adapter inside of it. The adapter
// is part of our CUDA runtime (docs/debugging-protocol.md). Everything happens in one thread, in wait().
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "dap/channel.h"

namespace warpgrind::debug {

using dap::Channel;
using dap::Json;

class DapClient {
 public:
  // Called with the whole response. It always comes: if the program ends first, or closes the connection, the response
  // is one without success.
  using Answer = std::function<void(const Json& response)>;
  struct Handlers {
    std::function<void(const Json& event)> on_event;
    std::function<void(const Json& request)> on_request;  // of the adapter; the response goes through send()
    std::function<void(const char* stream, std::string_view text)> on_output;  // "stdout", "stderr"
    std::function<void(const std::string& why)> on_broken;  // the connection; the program runs on without it
    std::function<void(const ProcessEnd& end)> on_end;
  };
  explicit DapClient(Handlers handlers) : handlers_(std::move(handlers)) {}
  virtual ~DapClient();
  DapClient(const DapClient&) = delete;
  DapClient& operator=(const DapClient&) = delete;

  // Makes the command for a program that inherits the socket of this number. `output`: on_output gets the program's
  // output; otherwise it goes where ours goes.
  using MakeCommand = std::function<Result<ProcessCommand>(int socket)>;
  virtual Status start(const MakeCommand& make, bool output);

  bool alive() const { return process_.has_value(); }
  virtual bool connected() const { return channel_.open(); }
  // Sends a request. It is kept until the program reads it, which is not before its first use of CUDA.
  virtual void request(const std::string& command, Json arguments, Answer answer);
  // The same, but waits for the response and returns its body. `interrupted` ends the wait.
  Result<Json> call(const std::string& command, Json arguments, const std::function<bool()>& interrupted = {});
  void send(const Json& message) { channel_.send(message); }

  // Waits until something happens in the program or at one of the descriptors, and handles what the program did. A
  // signal ends the wait, too. `milliseconds`: the longest wait; -1: no limit.
  virtual void wait(std::vector<pollfd>& others, int milliseconds = -1);
  void send_signal(int signal);
  // Ends the program at once, and waits for its end.
  void kill();

 protected:
  pid_t process_id() const { return process_->id(); }

 private:
  void handle(const Json& message);
  void read_messages();
  void read_output(unsigned stream);
  void disconnect(const std::string& reason);
  void finish(const ProcessEnd& end);

  Handlers handlers_;
  std::optional<Process> process_;
  Descriptor alive_;  // pidfd: readable at the process's end
  std::array<Descriptor, 2> output_;
  Channel channel_;
  std::string closed_;  // why there is no connection
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
