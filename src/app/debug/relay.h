// `warpgrind dap`: a debug adapter between an editor and the adapter in the program's process. It answers `initialize`
// and `launch` itself, starts the program, and passes the other requests on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dap/channel.h"
#include "debug/both_sides.h"
#include "debug/launch_options.h"
#include "debug/process_offers.h"

namespace warpgrind::debug {

using dap::Channel;
using dap::Json;

class Relay {
 public:
  Relay(Channel editor, Launcher launcher);
  void debug_host(bool on) { host_ = on; }  // if `launch` does not say it
  // Until the editor disconnects. An error is a message that the editor did not form as the protocol wants it.
  Status run();

 private:
  void handle(const Json& message);
  void handle_launch(const Json& request);
  void handle_attach(const Json& request);
  void begin_session(const Json& request, const Json& options);
  void offer(Descriptor socket, pid_t process);
  void say(const std::string& text);  // a line of ours in the editor's console
  void pass_on(const Json& request);
  // What the user has typed into the console: an expression or, if it is none, a command of `warpgrind debug`.
  void evaluate_typed(const Json& request);
  void run_in_console(const Json& request, const Json& refused);
  void pass_event(const Json& event);
  void pass_reverse_request(const Json& request);
  void pass_output(const std::string& category, std::string_view text);
  void report_end(const ProcessEnd& end);
  void respond(const Json& request, const Json& body = Json::object());
  void refuse(const Json& request, const std::string& message);
  void send_event(const char* name, Json body);
  void send_to_editor(Json message);

  enum class State : std::uint8_t { waits_for_launch, runs, ended, leaves };
  Channel editor_;
  Launcher launcher_;
  BothSides program_;
  State state_ = State::waits_for_launch;
  bool host_ = false;
  bool heard_ = false;                // the adapter in the process has answered something
  bool attached_ = false;             // to a process that another session's program has started
  Json initialize_ = Json::object();  // the editor's arguments
  Json launch_ = Json::object();      // those of `launch` or `attach`
  ProcessOffers offers_;
  std::map<std::int64_t, pid_t> offered_;   // number of `startDebugging` at the editor -> the process
  std::vector<Json> kept_;                  // requests before the launch
  std::map<std::string, std::string> cut_;  // first bytes of a character whose others have not come, by stream
  std::int64_t sequence_ = 0;
  std::int64_t thread_ = 0;                        // of the focus
  std::map<std::int64_t, std::int64_t> reversed_;  // number of a request at the editor -> at the adapter
};

}  // namespace warpgrind::debug
