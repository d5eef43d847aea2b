// The host code of a program under the debugger, by gdb: its breakpoints, threads, frames and values. Requests and
// events are those of the Debug Adapter Protocol, so that a front need not know whether it speaks of host code or of a
// kernel. Each thread stops for itself: others run on, among them the thread of the adapter in the same process.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dap/hit_rule.h"
#include "hostdebug/gdb_process.h"

namespace warpgrind::hostdebug {

// Numbers of host threads, of their frames and of lists of variables begin here. Those of kernels are smaller.
inline constexpr std::int64_t kFirstHostId = 2'000'000'000;

class HostSide {
 public:
  struct Handlers {
    std::function<void(Json stop)> on_stop;  // body of the event `stopped`; `hitBreakpointIds` are numbers of set()
    std::function<void(int number, const Json& place)> on_resolved;  // a breakpoint's place became known
    std::function<void(const std::string& text)> on_output;
    std::function<void()> on_launch;  // a step enters a launch: the kernel must stop at its first line
    std::function<void()> on_lost;    // gdb has ended, or has left the program
  };
  explicit HostSide(Handlers handlers) : handlers_(std::move(handlers)) {}

  // Attaches gdb to a process that stands at its beginning, stopped by SIGSTOP. `begin` lets it run.
  Status attach(pid_t process);
  void begin();
  bool attached() const { return gdb_.alive() && process_ > 0; }
  void leave();  // the process has ended

  pollfd reading() const { return gdb_.reading(); }
  void read();  // call it if poll() reports reading()
  // Events that came during a request: call handle_events() instead of waiting.
  bool has_events() const { return gdb_.has_event(); }
  void handle_events();

  struct BreakpointAnswer {
    int number = 0;  // 0: there is no host code at the place
    bool verified = false;
    Json place;  // members `line` and `source`, if known
    std::string message;
  };
  // `wanted`: an element of `breakpoints` of setBreakpoints (then `path` names the file) or of setFunctionBreakpoints.
  BreakpointAnswer set_breakpoint(const std::string& path, const Json& wanted);
  void remove_breakpoint(int number);

  // A request about host threads: the body of its response.
  Result<Json> answer(const std::string& command, const Json& arguments);
  Json threads();
  // Selects a thread by gdb's number; 0: the one that was selected before. It is stopped if it runs. The body is that
  // of `warpgrind/focus`.
  Result<Json> select(std::int64_t thread);
  void interrupt();                                     // the selected thread, or the first
  void resume_all(const std::set<std::int64_t>& keep);  // stopped threads but those
  bool is_stopped(std::int64_t thread) const;           // by its number in DAP
  bool has_stopped() const;

 private:
  enum class Going : std::uint8_t { no, freely, steps_in, steps_over, leaves_stub, after_launch };
  struct Thread {
    Going going = Going::freely;
    std::string name;
    bool quiet = false;  // its next stop is not reported
    bool asked = false;  // the user has interrupted it
    Json stop;           // of gdb, the last one
    Json launch;         // line of the launch that a step went into
  };
  struct Known {  // a breakpoint
    dap::HitRule rule;
    std::string log_message;
    std::uint64_t hits = 0;
    bool verified = false;
  };
  struct FrameId {
    std::int64_t thread = 0;
    int level = 0;
    std::string context() const;  // as options of an MI command
  };
  struct Listed {  // what a variablesReference stands for
    FrameId frame;
    enum class Of : std::uint8_t { locals, arguments, registers, children } of = Of::locals;
    std::string expression;  // children
  };

  void handle(const MiRecord& event);
  void handle_stop(const Json& stop);
  void handle_breakpoint_change(const Json& breakpoint);
  bool passes_breakpoint(int number, std::int64_t thread);
  bool is_caught(int signal) const;
  bool is_fatal(const std::string& signal) const;
  bool is_stub(const std::string& function, const std::string& address);
  void report(std::int64_t thread, Json body);
  Status run(std::int64_t thread, Going how, const char* command);
  Status needs_stop(std::int64_t thread) const;
  void forget();
  void update_names();
  std::string description(std::int64_t thread) const;
  std::string expand(const std::string& message, const FrameId& frame);

  Result<std::int64_t> thread_of(const Json& arguments) const;
  Result<FrameId> frame_of(const Json& arguments);
  Result<Json> stack_trace(const Json& arguments);
  Result<Json> scopes(const Json& arguments);
  Result<Json> variables(const Json& arguments);
  Result<Json> evaluate(const Json& arguments);
  Result<Json> set_expression(const Json& arguments);
  Result<Json> set_variable(const Json& arguments);
  Result<Json> read_memory(const Json& arguments);
  Result<Json> disassemble(const Json& arguments);
  Result<Json> exception_info(const Json& arguments);
  Result<Json> step(const Json& arguments, Going how, const char* command);

  Result<std::string> value_text(const FrameId& frame, const std::string& expression, const Json& arguments);
  Result<Json> list_children(const FrameId& frame, const std::string& expression);
  Json variable(const FrameId& frame, const std::string& name, const std::string& expression);

  Handlers handlers_;
  GdbProcess gdb_;
  pid_t process_ = 0;
  std::map<std::int64_t, Thread> threads_;  // by gdb's number
  std::int64_t selected_ = 0;
  std::map<int, Known> breakpoints_;
  std::map<std::string, bool> stubs_;  // by address
  std::vector<FrameId> frames_;
  std::vector<Listed> lists_;
};

}  // namespace warpgrind::hostdebug
