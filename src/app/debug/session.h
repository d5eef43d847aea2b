// State of `warpgrind debug` that its commands share: the program, where it stands, and what is printed at a stop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debug/both_sides.h"
#include "debug/breakpoints.h"
#include "debug/launch_options.h"
#include "debug/process_name.h"
#include "debug/source_text.h"

namespace warpgrind::debug {

struct Frame {
  std::int64_t id = 0;
  std::string function, path, name;  // path and name of the source file; empty: unknown
  int line = 0;
  std::string instruction;  // reference of the place in the PTX, or address of host code
  std::string place;        // the same for the user: "f0:i12"
};

struct Display {
  int number = 0;
  std::string format, expression;
  bool shown = false;  // its variables were in scope once
};

// Where a process stands.
struct ProcessView {
  std::int64_t thread = 0;  // of the focus
  std::string focus;        // its description
  std::int64_t launch = 0;  // its number; 0: host code
  std::string kernel;
  std::optional<Json> stopped;  // body of the event; unset: the process runs
  bool reported = true;         // the stop has been printed
  std::uint64_t order = 0;      // of the stop among those of all processes
  std::vector<Frame> frames;
  bool all_frames = false;
  std::size_t frame_number = 0;
  std::string last_function, last_focus;  // those of the stop before
  std::int64_t last_launch = 0;           // of the last stop in a kernel; 0: none
};

// A process of the program that uses CUDA: gdb's word.
struct Inferior {
  int number = 1;
  ProcessName name;                        // id 0: it has not used CUDA yet
  std::unique_ptr<AdapterConnection> own;  // null: the first one, which Session::client serves
  ProcessView view;                        // while another one is selected
  bool ended = false;
};

// The process that is selected is the base: commands use its members.
class Session : public ProcessView {
 public:
  Session(LaunchOptions options, Launcher launcher);

  // Prints text for the user.
  void print(std::string_view text);
  // Handles what the program has sent meanwhile, without waiting.
  void look();

  // Starts the program from its beginning, and waits for its first stop.
  Status run(bool stop_on_entry);
  Status run_quietly();                           // the same, but an end without a stop is not printed
  const ProcessEnd& end() const { return end_; }  // of the last program that has ended
  void kill();
  void kill_quietly();  // at the end of the session
  bool alive() const { return client.alive(); }
  // Sends a request that lets the program run, and waits until it stops or ends.
  // `quiet`: only a stop that is no step is printed; report_quiet_stop() prints the other.
  Status resume(const std::string& command, Json arguments, bool quiet = false);
  void report_quiet_stop();
  bool stopped_by_step() const;
  std::string text_of_stop() const;  // what the adapter says of the stop; empty: nothing
  Breakpoint* breakpoint_of_stop();  // null: it was none
  // A request about the stopped program: the body of its response.
  Result<Json> ask(const std::string& command, Json arguments);
  // Words in place of the last one of a line, which ends with an expression. None while the program runs.
  std::vector<std::string> complete(std::string_view line);
  // ... about an expression in the selected frame. `context` is empty or DAP's. remember: the number of the value in
  // the history, 0: it is in none.
  Result<Json> evaluate(const std::string& expression, const std::string& context, Json format = Json(),
                        std::size_t remember = 0);

  // ---- Processes
  const std::vector<std::unique_ptr<Inferior>>& inferiors() const { return inferiors_; }
  const Inferior& selected() const { return *inferiors_[selected_]; }
  ProcessView& view_of(Inferior& one) { return &one == &selected() ? *this : one.view; }
  Status select(std::int64_t number);
  // Sends the breakpoints of this kind to all processes. The error is that of the selected one.
  Status send_breakpoints(BreakpointKind kind);
  // As AdapterConnection::call(), of the selected process, which may run.
  Result<Json> call(const std::string& command, Json arguments);
  // Waits until this descriptor can be read, and serves the program meanwhile. False: Ctrl-C was pressed.
  bool wait_for_input(int descriptor);

  // Error: there is no stopped program.
  Status needs_stop() const;
  Result<const Frame*> frame();               // the selected one
  Result<const std::vector<Frame>*> stack();  // the whole stack, innermost first
  Status select_frame(std::size_t index);
  std::size_t frame_index() const { return frame_number; }
  // Frames are asked for again; the innermost is selected.
  void forget_frames() { forget_frames(*this); }
  std::string frame_line(std::size_t index) const;  // "#1  saxpy(...) at saxpy.cu:9"
  // Without --host: that it is needed, if the breakpoint may be of host code.
  std::string hint_at_host(const Breakpoint& one) const;
  void print_place(bool whole);  // the selected frame, and its source line
  void show_displays();

  BothSides client;
  Breakpoints breakpoints;
  SourceText source;
  LaunchOptions options;
  bool follows_all = true;  // false: processes but the first run without the debugger
  std::vector<Display> displays;
  int last_display = 0;
  std::vector<std::string> history;  // values that were printed: $1 is the first
  std::function<Status(const Display&)> show_display;
  std::string default_file;  // for breakpoints by line before the first stop
  bool left = false;         // `quit`
  bool checks = false;       // the program runs with checks
  bool program_reads_input = true;

  // Ctrl-C since the last call.
  static bool interrupted();
  static bool interrupts_now();  // the same, and it stays pressed
  static void catch_interrupts();

 private:
  void add_process(Descriptor socket, pid_t process);
  void end_process(Inferior& one);
  void begin_process(AdapterConnection& connection, int number);
  AdapterConnection& connection_of(Inferior& one) { return one.own ? *one.own : client; }
  void switch_to(Inferior& one);
  // A line about processes. It is printed between commands and stops, not within them.
  void notify(const std::string& line);
  void print_notices();
  bool any_connected();
  Inferior* next_stop(bool others);
  void resume_others();
  void pause_others();
  void read_event(Inferior& from, const Json& event);
  static void read_focus(ProcessView& view, const Json& given);
  static void forget_frames(ProcessView& view);
  // `all`: a stop of any process ends the wait at once; otherwise one of another process does so only after a while.
  Status wait_for_stop(bool quiet, bool all);
  void report_stop();
  void report_end(const ProcessEnd& end);
  void count_hits();
  std::string reason_of_stop();
  Result<const std::vector<Frame>*> read_frames(bool all);

  Launcher launcher_;
  std::optional<StartCommand> start_;
  std::vector<std::unique_ptr<Inferior>> inferiors_;  // never empty; those that have ended stay
  std::size_t selected_ = 0;
  std::string notices_;  // not yet printed
  std::uint64_t stops_ = 0;
  bool stop_on_entry_ = false;
  bool heard_ = false;
  bool killed_ = false;  // by the user
  bool said_no_lines_ = false;
  bool quiet_ = false;  // the end of the program is not printed
  ProcessEnd end_;
};

}  // namespace warpgrind::debug
