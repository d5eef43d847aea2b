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

void Breakpoint::read_answer(int answering, const Json& answer) {
  if (answer.contains("verified") && json::get<bool>(answer, "verified"))
    verified_in.insert(answering);
  else if (answer.contains("verified"))
    verified_in.erase(answering);
  message = json::text(answer, "message");
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

Breakpoint* Breakpoints::with_id(int process, std::int64_t id) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Breakpoint& b) {
    const auto at = b.ids.find(process);
    return at != b.ids.end() && at->second == id;
  });
  return found == all_.end() || id < 0 ? nullptr : &*found;
}

bool Breakpoints::remove(std::int64_t number) {
  return std::erase_if(all_, [&](const Breakpoint& b) { return b.number == number; }) != 0;
}

void Breakpoints::read_answers(int process, const Json& body, const std::vector<int>& numbers) {
  std::size_t next = 0;
  json::each(body, "breakpoints", [&](const Json& answer) {
    Breakpoint* const one = next < numbers.size() ? find(numbers[next]) : nullptr;
    ++next;
    if (!one) return;
    one->ids[process] = -1;
    json::read(answer, "id", one->ids[process]);
    one->read_answer(process, answer);
  });
}

std::string Breakpoints::read_event(int process, const Json& body) {
  const auto changed = body.find("breakpoint");
  if (changed == body.end() || !changed->is_object()) return {};
  Breakpoint* const one = with_id(process, json::get<std::int64_t>(*changed, "id"));
  if (!one) return {};
  one->read_answer(process, *changed);
  if (json::text(body, "reason") != "removed") return {};
  one->gone = true;
  one->enabled = false;
  return one->message.empty()
             ? ""
             : fmt::format("Watchpoint {} ({}) is deleted: {}\n", one->number, one->expression, one->message);
}

void Breakpoints::remove_gone() {
  std::erase_if(all_, [](const Breakpoint& one) { return one.gone; });
}

void Breakpoints::send_request(const DebuggedProcess& process, Request request) {
  process.connection->request(
      request.command, std::move(request.arguments),
      [this, number = process.number, numbers = std::move(request.numbers)](const Json& response) {
        if (json::get<bool>(response, "success")) {
          if (const auto body = response.find("body"); body != response.end() && body->is_object())
            read_answers(number, *body, numbers);
          return;
        }
        for (const int refused : numbers)
          if (Breakpoint* const one = find(refused)) one->message = problem_of(response);
      });
}

namespace {

Json with_conditions(const Breakpoint& one, Json out) {
  if (!one.condition.empty()) out["condition"] = one.condition;
  if (!one.hit_condition.empty()) out["hitCondition"] = one.hit_condition;
  if (!one.log_message.empty()) out["logMessage"] = one.log_message;
  return out;
}

}  // namespace

std::vector<Breakpoints::Request> Breakpoints::line_requests() {
  std::map<std::string, std::vector<const Breakpoint*>> by_file;
  for (const std::string& file : files_) by_file[file];  // also those without a breakpoint now
  for (const Breakpoint& one : all_)
    if (one.kind == BreakpointKind::line && one.enabled) by_file[one.location.file].push_back(&one);
  std::vector<Request> out;
  for (const auto& [file, list] : by_file) {
    files_.insert(file);
    Json breakpoints = Json::array();
    Request request{"setBreakpoints", {}, {}};
    for (const Breakpoint* one : list) {
      breakpoints.push_back(with_conditions(*one, {{"line", one->location.line}}));
      request.numbers.push_back(one->number);
    }
    request.arguments = {{"source", {{"path", file}}}, {"breakpoints", std::move(breakpoints)}};
    out.push_back(std::move(request));
  }
  return out;
}

std::vector<Breakpoints::Request> Breakpoints::requests(BreakpointKind kind, int process) {
  if (kind == BreakpointKind::line) return line_requests();
  Json list = Json::array();
  Json filters = {"fault", "assert"};
  std::vector<int> numbers;
  if (kind == BreakpointKind::exception) {
    if (stops_at_findings) filters.push_back("finding");
    numbers.resize(filters.size());
  }
  for (const Breakpoint& one : all_) {
    if (one.kind != kind || !one.enabled) continue;
    if (kind == BreakpointKind::exception && one.condition.empty()) numbers.push_back(one.number);
  }
  for (const Breakpoint& one : all_) {
    if (one.kind != kind || !one.enabled) continue;
    if (kind == BreakpointKind::data && one.process != process) continue;
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
    return {{"setExceptionBreakpoints", std::move(arguments), numbers}};
  }
  const char* const command = kind == BreakpointKind::data          ? "setDataBreakpoints"
                              : kind == BreakpointKind::instruction ? "setInstructionBreakpoints"
                                                                    : "setFunctionBreakpoints";
  return {{command, {{"breakpoints", list}}, numbers}};
}

Status Breakpoints::send(const std::vector<DebuggedProcess>& processes, BreakpointKind kind) {
  Status result = Ok{};
  for (const DebuggedProcess& process : processes) {
    for (Request& request : requests(kind, process.number)) {
      if (&process != processes.data()) {
        send_request(process, std::move(request));
        continue;
      }
      const auto body = process.connection->call(request.command, std::move(request.arguments));
      if (body)
        read_answers(process.number, *body, request.numbers);
      else
        result = body.error();
    }
  }
  std::erase_if(files_, [&](const std::string& file) {
    return std::none_of(all_.begin(), all_.end(), [&](const Breakpoint& b) {
      return b.kind == BreakpointKind::line && b.enabled && b.location.file == file;
    });
  });
  return result;
}

void Breakpoints::send_all(const DebuggedProcess& process) {
  const auto has = [&](BreakpointKind kind) {
    return std::any_of(all_.begin(), all_.end(), [&](const Breakpoint& b) { return b.kind == kind && b.enabled; });
  };
  for (const auto kind : {BreakpointKind::line, BreakpointKind::function, BreakpointKind::instruction})
    if (has(kind))
      for (Request& request : requests(kind, process.number)) send_request(process, std::move(request));
  for (Request& request : requests(BreakpointKind::exception, process.number))
    send_request(process, std::move(request));
}

void Breakpoints::forget_processes() {
  files_.clear();
  for (Breakpoint& one : all_) {
    one.ids.clear();
    one.verified_in.clear();
    one.hits = 0;
    if (one.kind == BreakpointKind::data) one.enabled = false;
  }
}

}  // namespace warpgrind::debug
