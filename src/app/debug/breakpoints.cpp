// The list of breakpoints, and its requests.
#include "debug/breakpoints.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/words.h"

namespace warpgrind::debug {

const char* Breakpoint::type() const {
  switch (kind) {
    case BreakpointKind::line:
    case BreakpointKind::function:
    case BreakpointKind::instruction:
      return log_message.empty() ? "breakpoint" : "dprintf";
    case BreakpointKind::data:
      return access_type == "write" ? "watchpoint" : access_type == "read" ? "read watchpoint" : "acc watchpoint";
    case BreakpointKind::exception:
      return "catchpoint";
  }
  return "";
}

std::string Breakpoint::what() const {
  if (kind == BreakpointKind::line || kind == BreakpointKind::function) return location.name();
  if (kind == BreakpointKind::instruction) return "*" + expression;
  const bool launch = kind == BreakpointKind::exception && expression == "launch";
  return launch && !condition.empty() ? expression + " of " + condition : expression;
}

void Breakpoint::read_place(const Json& answer) {
  const int line = json::get<int>(answer, "line");
  const auto file = answer.find("source");
  if (line == 0 || file == answer.end() || !file->is_object()) return;
  place = fmt::format("{}:{}", base_name(json::text(*file, "path")), line);
}

Breakpoint& Breakpoints::add(Breakpoint one) {
  one.number = ++last_;
  all_.push_back(std::move(one));
  return all_.back();
}

Breakpoint* Breakpoints::find(std::int64_t number) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Breakpoint& b) { return b.number == number; });
  return found == all_.end() ? nullptr : &*found;
}

Breakpoint* Breakpoints::with_id(std::int64_t id) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Breakpoint& b) { return b.id == id; });
  return found == all_.end() || id < 0 ? nullptr : &*found;
}

bool Breakpoints::remove(std::int64_t number) {
  return std::erase_if(all_, [&](const Breakpoint& b) { return b.number == number; }) != 0;
}

void Breakpoints::read_answer(const Json& breakpoints, const std::vector<int>& numbers) {
  for (std::size_t i = 0; i < numbers.size() && i < breakpoints.size(); ++i) {
    Breakpoint* const one = find(numbers[i]);
    if (!one || !breakpoints[i].is_object()) continue;
    one->id = -1;
    json::read(breakpoints[i], "id", one->id);
    one->verified = json::get<bool>(breakpoints[i], "verified");
    one->message = json::text(breakpoints[i], "message");
    one->read_place(breakpoints[i]);
  }
}

void Breakpoints::read_event(const Json& body) {
  const auto changed = body.find("breakpoint");
  if (changed == body.end() || !changed->is_object()) return;
  Breakpoint* const one = with_id(json::get<std::int64_t>(*changed, "id"));
  if (!one) return;
  json::read(*changed, "verified", one->verified);
  one->message = json::text(*changed, "message");
  one->read_place(*changed);
}

Status Breakpoints::send_request(DapClient& client, const char* command, Json arguments,
                                 const std::vector<int>& numbers, bool wait) {
  const auto read = [this, numbers](const Json& body) {
    if (const auto list = body.find("breakpoints"); list != body.end() && list->is_array()) read_answer(*list, numbers);
  };
  if (wait) {
    const auto body = client.call(command, std::move(arguments));
    if (!body) return body.error();
    read(*body);
    return Ok{};
  }
  client.request(command, std::move(arguments), [this, numbers, read](const Json& response) {
    if (json::get<bool>(response, "success")) {
      if (const auto body = response.find("body"); body != response.end() && body->is_object()) read(*body);
      return;
    }
    for (const int number : numbers)
      if (Breakpoint* const one = find(number)) one->message = problem_of(response);
  });
  return Ok{};
}

namespace {

Json with_conditions(const Breakpoint& one, Json out) {
  if (!one.condition.empty()) out["condition"] = one.condition;
  if (!one.hit_condition.empty()) out["hitCondition"] = one.hit_condition;
  if (!one.log_message.empty()) out["logMessage"] = one.log_message;
  return out;
}

}  // namespace

Status Breakpoints::send_lines(DapClient& client, bool wait) {
  std::map<std::string, std::vector<const Breakpoint*>> by_file;
  for (const std::string& file : files_) by_file[file];  // also those without a breakpoint now
  for (const Breakpoint& one : all_)
    if (one.kind == BreakpointKind::line && one.enabled) by_file[one.location.file].push_back(&one);
  Status result = Ok{};
  for (const auto& [file, list] : by_file) {
    Json breakpoints = Json::array();
    std::vector<int> numbers;
    for (const Breakpoint* one : list) {
      breakpoints.push_back(with_conditions(*one, {{"line", one->location.line}}));
      numbers.push_back(one->number);
    }
    if (list.empty())
      files_.erase(file);
    else
      files_.insert(file);
    Json arguments = {{"source", {{"path", file}}}, {"breakpoints", std::move(breakpoints)}};
    if (Status sent = send_request(client, "setBreakpoints", std::move(arguments), numbers, wait); !sent) result = sent;
  }
  return result;
}

Status Breakpoints::send(DapClient& client, BreakpointKind kind, bool wait) {
  if (!client.alive()) return Ok{};
  if (kind == BreakpointKind::line) return send_lines(client, wait);
  Json list = Json::array();
  Json filters = {"fault", "assert"};
  std::vector<int> numbers;
  if (kind == BreakpointKind::exception) {
    if (stops_at_findings) filters.push_back("finding");
    numbers.resize(filters.size());  // 0: no breakpoint of ours
  }
  for (const Breakpoint& one : all_) {
    if (one.kind != kind || !one.enabled) continue;
    if (kind == BreakpointKind::exception && one.condition.empty()) numbers.push_back(one.number);
  }
  for (const Breakpoint& one : all_) {
    if (one.kind != kind || !one.enabled) continue;
    if (kind == BreakpointKind::function) {
      list.push_back(with_conditions(one, {{"name", one.location.function}}));
    } else if (kind == BreakpointKind::instruction) {
      list.push_back(with_conditions(one, {{"instructionReference", one.expression}}));
    } else if (kind == BreakpointKind::data) {
      list.push_back(with_conditions(one, {{"dataId", one.data_id}, {"accessType", one.access_type}}));
    } else if (one.condition.empty()) {
      filters.push_back(one.expression);
      continue;
    } else {
      list.push_back({{"filterId", one.expression}, {"condition", one.condition}});
    }
    numbers.push_back(one.number);
  }
  if (kind == BreakpointKind::exception) {
    Json arguments = {{"filters", filters}};
    if (!list.empty()) arguments["filterOptions"] = list;
    return send_request(client, "setExceptionBreakpoints", std::move(arguments), numbers, wait);
  }
  const char* const command = kind == BreakpointKind::data          ? "setDataBreakpoints"
                              : kind == BreakpointKind::instruction ? "setInstructionBreakpoints"
                                                                    : "setFunctionBreakpoints";
  return send_request(client, command, {{"breakpoints", list}}, numbers, wait);
}

void Breakpoints::send_all(DapClient& client) {
  files_.clear();
  const auto has = [&](BreakpointKind kind) {
    return std::any_of(all_.begin(), all_.end(), [&](const Breakpoint& b) { return b.kind == kind && b.enabled; });
  };
  for (Breakpoint& one : all_) {
    one.id = -1;
    one.verified = false;
    one.hits = 0;
    if (one.kind == BreakpointKind::data) one.enabled = false;
  }
  for (const auto kind : {BreakpointKind::line, BreakpointKind::function, BreakpointKind::instruction})
    if (has(kind)) (void)send(client, kind, false);
  (void)send(client, BreakpointKind::exception, false);
}

}  // namespace warpgrind::debug
