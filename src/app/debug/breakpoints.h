// The breakpoints, watchpoints and catchpoints of the terminal, under their numbers. DAP's requests replace all
// breakpoints of a kind (or of a file), so this list is sent again when one changes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "debug/adapter_connection.h"
#include "debug/location.h"

namespace warpgrind::debug {

enum class BreakpointKind : std::uint8_t { line, function, instruction, data, exception };

struct Breakpoint {
  int number = 0;
  BreakpointKind kind = BreakpointKind::line;
  Location location;       // line, function
  std::string expression;  // data: the watched one; exception: the filter; instruction: its place in the PTX
  std::string data_id, access_type;
  std::string condition, hit_condition, log_message;
  bool temporary = false, enabled = true;
  int process = 0;  // data: the number of the process whose memory it is
  // What the adapters answered, by number of the process.
  std::map<int, std::int64_t> ids;
  std::set<int> verified_in;
  std::string message;  // of the last answer
  std::string place;    // FILE:LINE where it stops, which may lie behind the line that was asked for
  std::uint64_t hits = 0;
  bool gone = false;  // data: the watched variable exists no longer. The stop is still to be printed.

  const char* type() const;
  std::string what() const;
  bool verified() const { return !verified_in.empty(); }
  void read_answer(int answering, const Json& answer);
};

// A process that has breakpoints.
struct DebuggedProcess {
  int number = 0;  // as `info inferiors` prints it
  AdapterConnection* connection = nullptr;
};

class Breakpoints {
 public:
  Breakpoint& add(Breakpoint one);
  Breakpoint* find(std::int64_t number);
  Breakpoint* with_id(int process, std::int64_t id);
  bool remove(std::int64_t number);
  const std::vector<Breakpoint>& all() const { return all_; }
  std::vector<Breakpoint>& all() { return all_; }

  bool stops_at_findings = false;  // even without a catchpoint

  // Sends all breakpoints of this kind to the processes. Waits until the first of them has answered; the error is its
  // adapter's.
  Status send(const std::vector<DebuggedProcess>& processes, BreakpointKind kind);
  // For a new process, which has none: sends all kinds and does not wait.
  void send_all(const DebuggedProcess& process);
  // The program starts anew. Data breakpoints are disabled, because their places belong to the processes before.
  void forget_processes();
  // Reads the event `breakpoint` of a process's adapter. Returns a text for the user, or nothing.
  std::string read_event(int process, const Json& body);
  void remove_gone();

 private:
  struct Request {
    const char* command = "";
    Json arguments;
    std::vector<int> numbers;  // of the breakpoints in the answer; 0: none of ours
  };
  std::vector<Request> requests(BreakpointKind kind, int process);
  std::vector<Request> line_requests();
  void send_request(const DebuggedProcess& process, Request request);
  void read_answers(int process, const Json& body, const std::vector<int>& numbers);

  std::vector<Breakpoint> all_;
  std::set<std::string> files_;  // those that adapters have had breakpoints in
  int last_ = 0;
};

}  // namespace warpgrind::debug
