// A program under the debugger with both its sides: kernels, by the adapter in its process (DapClient), and host code,
// by gdb (HostSide). A front speaks with them as with one debug adapter. Breakpoints go to both sides. Requests about a
// thread, a frame or a list of variables go to the side that gave out its number; those that name none go to the side
// of the last stop.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "debug/dap_client.h"
#include "hostdebug/host_side.h"

namespace warpgrind::debug {

class BothSides final : public DapClient {
 public:
  // `one_stop_at_a_time`: a second stop is reported when the program has been resumed after the first one. Otherwise
  // the front gets each at once.
  BothSides(Handlers handlers, bool one_stop_at_a_time);

  // Host code is debugged, too. Takes effect at the next start().
  void debug_host(bool on) { wants_host_ = on; }

  Status start(const MakeCommand& make, bool output) override;
  bool connected() const override;
  bool heard() const { return heard_; }  // the adapter has answered something: the program uses CUDA
  void request(const std::string& command, Json arguments, Answer answer) override;
  void wait(std::vector<pollfd>& others, int milliseconds = -1) override;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Side : std::uint8_t { device, host };
  struct Place {  // a breakpoint that the front has asked for
    std::int64_t id = 0;
    Json wanted;
    int host = 0;              // number at gdb; 0: none
    std::int64_t device = -1;  // id at the adapter; -1: none
    bool device_verified = false;
    hostdebug::HostSide::BreakpointAnswer at_host;
    Json at_device = Json::object();
  };
  struct Waiting {
    Side side = Side::device;
    Json stop;
    Clock::time_point from;  // it is reported from this time on
  };

  Status attach(pid_t process);
  void explain(const std::string& text);
  void finish_start();
  void on_device_event(const Json& event);
  void on_stop(Side side, Json stop);
  void report_next();
  void report(const Waiting& stop);
  void on_launch();

  static bool names_host(const Json& arguments);
  Side side_of(const Json& arguments) const;
  void begin_or_end(const std::string& command, Json arguments, const Answer& answer);
  void ask_kernels(const std::string& command, Json arguments, const Answer& answer);
  void set_breakpoints(const std::string& command, const Json& arguments, const Answer& answer);
  Json describe(const Place& place) const;
  void change_breakpoint(const Place& place);
  void pause(const Json& arguments, const Answer& answer);
  void interrupt_host();
  void threads(const Json& arguments, const Answer& answer);
  void resume(Side side, const std::string& command, const Json& arguments, const Answer& answer);
  void focus(const Json& arguments, const Answer& answer);
  void respond(const Answer& answer, const std::string& command, Result<Json> body);
  void ask_device(const std::string& command, Json arguments, Answer answer);
  void refuse_late_answers();

  Handlers front_;
  hostdebug::HostSide host_;
  bool one_stop_at_a_time_;
  bool wants_host_ = false;
  bool begun_ = false;  // host code runs, or has stopped
  bool heard_ = false;  // the adapter has answered something in this run
  Side side_ = Side::device;
  bool device_stopped_ = false;  // and the front knows it
  bool launch_stopped_ = false;  // a kernel has stopped since a host thread last stepped over a launch
  bool shown_ = false;           // the front knows of a stop, and has not resumed the program
  std::deque<Waiting> waiting_;
  std::set<std::int64_t> unseen_;                     // host threads whose stops wait
  std::map<std::string, std::vector<Place>> places_;  // by request, and file
  struct Question {
    std::string command;
    Answer answer;
    Clock::time_point until;
  };
  std::map<std::int64_t, Question> questions_;  // to the adapter
  std::int64_t last_question_ = 0;
  std::int64_t last_id_ = 0;
  Clock::time_point interrupts_at_ = Clock::time_point::max();  // for `pause` without an answer
};

}  // namespace warpgrind::debug
