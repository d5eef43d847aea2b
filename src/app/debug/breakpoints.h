// The breakpoints, watchpoints and catchpoints of the terminal, under their numbers. DAP's requests replace all
// breakpoints of a kind (or of a file), so this list is sent again when one changes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "debug/dap_client.h"
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
  // What the adapter answered.
  std::int64_t id = -1;
  bool verified = false;
  std::string message;
  std::string place;  // FILE:LINE where it stops, which may lie behind the line that was asked for
  std::uint64_t hits = 0;

  const char* type() const;
  std::string what() const;
  void read_place(const Json& answer);
};

class Breakpoints {
 public:
  Breakpoint& add(Breakpoint one);
  Breakpoint* find(std::int64_t number);
  Breakpoint* with_id(std::int64_t id);
  bool remove(std::int64_t number);
  const std::vector<Breakpoint>& all() const { return all_; }
  std::vector<Breakpoint>& all() { return all_; }

  bool stops_at_findings = false;  // even without a catchpoint

  // Sends all breakpoints of this kind. `wait`: until the adapter has answered; the error is the adapter's.
  Status send(DapClient& client, BreakpointKind kind, bool wait);
  // For a new process, which has none: sends all kinds and does not wait. Data breakpoints are disabled, because their
  // places belong to the process before.
  void send_all(DapClient& client);
  // Reads the adapter's event `breakpoint`.
  void read_event(const Json& body);

 private:
  Status send_request(DapClient& client, const char* command, Json arguments, const std::vector<int>& numbers,
                      bool wait);
  Status send_lines(DapClient& client, bool wait);
  void read_answer(const Json& breakpoints, const std::vector<int>& numbers);

  std::vector<Breakpoint> all_;
  std::set<std::string> files_;  // those that the adapter has breakpoints in
  int last_ = 0;
};

}  // namespace warpgrind::debug
