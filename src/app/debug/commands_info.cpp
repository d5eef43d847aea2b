// `info`: facts about the program and the session.
#include <fmt/format.h>

#include "base/json.h"
#include "debug/commands.h"
#include "debug/stop_text.h"
#include "debug/words.h"

namespace warpgrind::debug {

namespace {

// Variables of the scope with this hint; `name`: only that one.
Status print_scope(Session& session, const char* hint, const char* none, std::string_view name = {}) {
  const auto frame = session.frame();
  if (!frame) return frame.error();
  const auto scopes = session.ask("scopes", {{"frameId", (*frame)->id}});
  if (!scopes) return scopes.error();
  std::int64_t reference = 0;
  json::each(*scopes, "scopes", [&](const Json& scope) {
    if (json::text(scope, "presentationHint") == hint || json::text(scope, "name") == hint)
      json::read(scope, "variablesReference", reference);
  });
  std::string out;
  if (reference != 0) {
    const auto variables = session.ask("variables", {{"variablesReference", reference}});
    if (!variables) return variables.error();
    json::each(*variables, "variables", [&](const Json& one) {
      if (!name.empty() && json::text(one, "name") != name) return;
      out += fmt::format("{} = {}\n", json::text(one, "name"), json::text(one, "value"));
    });
  }
  if (out.empty() && !name.empty())
    return command_error(
        fmt::format("There is no {} {}.", hint == std::string_view("registers") ? "register" : "variable", name));
  session.print(out.empty() ? none : out);
  return Ok{};
}

Status info_locals(Session& session, std::string_view) {
  return print_scope(session, "locals", "No locals.\n");
}

Status info_args(Session& session, std::string_view) {
  return print_scope(session, "arguments", "No arguments.\n");
}

Status info_registers(Session& session, std::string_view names) {
  if (trim(names).empty()) return print_scope(session, "registers", "No registers.\n");
  while (!trim(names).empty()) {
    const std::string name = cut_word(names);
    if (Status printed = print_scope(session, "registers", "", name); !printed) return printed;
  }
  return Ok{};
}

Status info_variables(Session& session, std::string_view name) {
  return print_scope(session, "Globals and shared memory", "No variables of the module.\n", trim(name));
}

// Where a breakpoint was found, if its name does not say it.
std::string place_of(const Breakpoint& one) {
  const bool by_name = one.kind == BreakpointKind::function || one.kind == BreakpointKind::line;
  return by_name && one.verified() && !one.place.empty() && one.place != one.what() ? " at " + one.place : "";
}

Status list_breakpoints(Session& session, bool all) {
  std::string out;
  for (const Breakpoint& one : session.breakpoints.all()) {
    if (!all && one.kind != BreakpointKind::data) continue;
    if (out.empty()) out = "Num  Type            Disp Enb What\n";
    out += fmt::format("{:<4} {:<15} {:<4} {}   {}\n", one.number, one.type(), one.temporary ? "del" : "keep",
                       one.enabled ? "y" : "n", one.what() + place_of(one));
    if (!one.condition.empty() && one.what().find(" of ") == std::string::npos)
      out += fmt::format("\tstop only if {}\n", one.condition);
    if (!one.hit_condition.empty()) out += fmt::format("\tstop only at hits {}\n", one.hit_condition);
    if (!one.log_message.empty())
      out += fmt::format("\tprints {}\n", Json(one.log_message).dump(-1, ' ', false, Json::error_handler_t::replace));
    if (one.hits != 0) out += fmt::format("\tstopped here {} time{}\n", one.hits, one.hits == 1 ? "" : "s");
    if (!one.message.empty() && !one.verified()) out += fmt::format("\tpending: {}\n", one.message);
  }
  session.print(!out.empty() ? out : all ? "No breakpoints or watchpoints.\n" : "No watchpoints.\n");
  return Ok{};
}

Status info_breakpoints(Session& session, std::string_view) {
  return list_breakpoints(session, true);
}

Status info_watchpoints(Session& session, std::string_view) {
  return list_breakpoints(session, false);
}

Status info_threads(Session& session, std::string_view) {
  const auto body = session.ask("threads", Json::object());
  if (!body) return body.error();
  session.print(threads_text(*body, session.thread));
  return Ok{};
}

Status info_warps(Session& session, std::string_view) {
  const auto body = session.ask("warpgrind/warps", Json::object());
  if (!body) return body.error();
  session.print(warps_text(*body));
  return Ok{};
}

Status info_blocks(Session& session, std::string_view) {
  const auto body = session.ask("warpgrind/warps", Json::object());
  if (!body) return body.error();
  session.print(blocks_text(*body));
  return Ok{};
}

// Lanes of the warp in focus, by its mask of active ones.
Status info_lanes(Session& session, std::string_view) {
  const auto body = session.ask("warpgrind/warps", Json::object());
  if (!body) return body.error();
  const std::string text = lanes_text(*body);
  if (text.empty()) return command_error("No warp is in focus.");
  session.print(text);
  return Ok{};
}

Status info_launches(Session& session, std::string_view) {
  const auto body = session.ask("warpgrind/launches", Json::object());
  if (!body) return body.error();
  session.print(launches_text(*body));
  return Ok{};
}

Status info_inferiors(Session& session, std::string_view) {
  if (!session.alive()) return command_error("The program is not being run.");
  std::string out = "  Num  Process  Rank  State    Executable\n";
  for (const auto& one : session.inferiors()) {
    const ProcessView& view = session.view_of(*one);
    const ProcessName& name = one->name;
    const char* const state = view.stopped ? "stopped" : one->ended ? "ended" : name.id == 0 ? "no CUDA" : "runs";
    out += fmt::format("{} {:<4} {:<8} {:<5} {:<8} {}\n", one.get() == &session.selected() ? "*" : " ", one->number,
                       name.id == 0 ? "-" : std::to_string(name.id), name.rank.empty() ? "-" : name.rank, state,
                       name.program.empty() ? "-" : name.program);
  }
  session.print(out);
  return Ok{};
}

Status info_frame(Session& session, std::string_view) {
  const auto frame = session.frame();
  if (!frame) return frame.error();
  session.print(session.frame_line(session.frame_index()) + "\n");
  if (!(*frame)->path.empty()) session.print(fmt::format("  source {}\n", (*frame)->path));
  if (!(*frame)->instruction.empty())
    session.print(
        fmt::format("  {} {}\n", session.thread >= hostdebug::kFirstHostId ? "address" : "PTX", (*frame)->place));
  session.print(fmt::format("  {}\n", session.focus));
  return Ok{};
}

// Files of the kernels that were launched. A breakpoint needs only the end of a path, such as "nb.py".
Status info_sources(Session& session, std::string_view) {
  if (!session.alive()) return command_error("The program is not being run.");
  const auto body = session.call("loadedSources", Json::object());
  if (!body) return body.error();
  std::string out;
  json::each(*body, "sources", [&](const Json& one) {
    const std::string origin = json::text(one, "origin");
    out += fmt::format("{}{}\n", json::text(one, "path"), origin.empty() ? "" : "  (" + origin + ")");
  });
  session.print(out.empty() ? "No kernel with source lines was launched yet.\n" : out);
  return Ok{};
}

Status info_display(Session& session, std::string_view) {
  if (session.displays.empty()) session.print("There are no displays.\n");
  for (const Display& one : session.displays)
    session.print(
        fmt::format("{}:  {}{}\n", one.number, one.format.empty() ? "" : "/" + one.format + " ", one.expression));
  return Ok{};
}

struct Topic {
  std::string_view name;
  Status (*print)(Session& session, std::string_view rest);
};
constexpr Topic kTopics[] = {
    {"args", info_args},
    {"blocks", info_blocks},
    {"breakpoints", info_breakpoints},
    {"display", info_display},
    {"frame", info_frame},
    {"functions", info_functions},
    {"inferiors", info_inferiors},
    {"kernels", info_launches},
    {"lanes", info_lanes},
    {"launches", info_launches},
    {"line", info_line},
    {"locals", info_locals},
    {"registers", info_registers},
    {"source", info_source},
    {"sources", info_sources},
    {"threads", info_threads},
    {"variables", info_variables},
    {"warps", info_warps},
    {"watchpoints", info_watchpoints},
};

// Beginnings that gdb's users type although they are not unique.
constexpr std::pair<std::string_view, std::string_view> kShort[] = {
    {"b", "breakpoints"}, {"r", "registers"},     {"f", "frame"}, {"fun", "functions"},
    {"lo", "locals"},     {"wat", "watchpoints"}, {"s", "source"}};

}  // namespace

std::vector<std::string_view> info_topics() {
  std::vector<std::string_view> out;
  for (const Topic& topic : kTopics) out.push_back(topic.name);
  return out;
}

Status do_info(Session& session, const Arguments& arguments) {
  std::string_view rest = arguments.text;
  std::string word = cut_word(rest);
  if (word == "cuda") word = cut_word(rest);
  for (const auto& [text, name] : kShort)
    if (word == text) word = name;
  std::vector<const Topic*> found;
  for (const Topic& topic : kTopics)
    if (!word.empty() && topic.name.starts_with(word)) found.push_back(&topic);
  for (const Topic* topic : found)
    if (topic->name == word) return topic->print(session, rest);
  if (found.size() == 1) return found[0]->print(session, rest);
  std::string names;
  for (const Topic& topic : kTopics) names += fmt::format("{}{}", names.empty() ? "" : ", ", topic.name);
  return command_error(fmt::format("info {}: one of {}.", word.empty() ? "needs a topic" : "\"" + word + "\"", names));
}

}  // namespace warpgrind::debug
