// A program under the debugger: its processes, its output, and the connection to the first process that uses CUDA.
// Everything happens in one thread, in wait().
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "base/temporary_folder.h"
#include "debug/adapter_connection.h"

namespace warpgrind::debug {

class DapClient : public AdapterConnection {
 public:
  struct Handlers {
    AdapterConnection::Handlers adapter;                                       // of the first process
    std::function<void(const char* stream, std::string_view text)> on_output;  // "stdout", "stderr"
    std::function<void(const ProcessEnd& end)> on_end;
    // Another process uses CUDA. It waits for an adapter's client on `socket`, and runs without one if that is closed.
    std::function<void(Descriptor socket, pid_t process)> on_process;
  };
  explicit DapClient(Handlers handlers);
  ~DapClient() override;

  // Makes the command for a program whose processes connect to `path`. `output`: on_output gets the program's output;
  // otherwise it goes where ours goes.
  using MakeCommand = std::function<Result<ProcessCommand>(const std::string& path)>;
  virtual Status start(const MakeCommand& make, bool output);
  // A process of a program that another debugger has started, with its connection. It ends with the connection.
  void adopt(Descriptor socket, pid_t process);

  bool alive() const { return process_.has_value() || adopted_ != 0; }
  pid_t first_process() const { return first_; }  // that uses CUDA; 0: none yet

  void wait(std::vector<pollfd>& others, int milliseconds = -1) override;
  // The connection of another process: wait() serves it, too, from now on until remove().
  void add(AdapterConnection& other) { others_.push_back(&other); }
  void remove(const AdapterConnection& other);

  void send_signal(int signal);
  // Ends the program at once, and waits for its end. Processes that use CUDA end, too, if they lead a group of their
  // own, as those of mpirun do.
  void kill();
  const std::string& folder() const { return folder_->path; }  // of this start, for sockets

 protected:
  pid_t process_id() const { return process_->id(); }

 private:
  struct Known {  // a process that uses CUDA
    pid_t id = 0;
    Descriptor alive;  // pidfd
  };
  void accept();
  void read_output(unsigned stream);
  void finish(const ProcessEnd& end);
  void end_adopted();

  Handlers handlers_;
  std::optional<Process> process_;
  pid_t adopted_ = 0;  // 0: none
  Descriptor alive_;   // pidfd: readable at the process's end
  std::unique_ptr<TemporaryFolder> folder_;
  Descriptor listener_;
  std::vector<Known> known_;
  pid_t first_ = 0;
  std::vector<AdapterConnection*> others_;
  std::array<Descriptor, 2> output_;
};

}  // namespace warpgrind::debug
