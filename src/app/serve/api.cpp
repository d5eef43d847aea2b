// Answers of the playground's API: programs, runs and reports.
#include "serve/api.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/gpu_model.h"
#include "serve/starting_points.h"
#include "serve/step_mode.h"

namespace warpgrind::serve {

namespace {

using nlohmann::json;

constexpr std::size_t kLongestSource = 256 << 10;
constexpr std::size_t kLongestArguments = 1000;
constexpr std::size_t kWaitingOfOne = 4;
constexpr std::size_t kWaitingOfAll = 1000;

// A string member; nullopt: it has another type. Empty if it is absent.
std::optional<std::string> text(const json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end()) return "";
  if (!found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

// Output may be cut anywhere; an incomplete UTF-8 character is left for the next piece.
std::size_t whole_characters(const std::string& text) {
  std::size_t start = text.size();
  for (int back = 0; back < 4 && start > 0; ++back) {
    const unsigned char byte = text[--start];
    if ((byte & 0xc0) == 0x80) continue;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return text.size() - start < length ? start : text.size();
  }
  return text.size();
}

const char* name_of(LiveRun::State state) {
  return state == LiveRun::State::queued ? "queued" : state == LiveRun::State::running ? "running" : "done";
}

// The program in a request, or the answer that refuses it.
std::variant<Program, Answer> read_program(const json& body) {
  const auto source = text(body, "source"), gpu = text(body, "gpu"), exercise = text(body, "exercise");
  if (!source || !gpu || !exercise) return refusal(400, "source, gpu and exercise must be texts");
  if (!exercise->empty() && !is_exercise(*exercise)) return refusal(400, "there is no such exercise");
  if (source->size() > kLongestSource) return refusal(413, "the program is longer than 256 KiB");
  const auto model = find_gpu_model(gpu->empty() ? "h200" : *gpu);
  // A path would be read as a model file.
  if (!model || gpu->find('/') != std::string::npos || gpu->find(".json") != std::string::npos)
    return refusal(400, "there is no such GPU model");
  return Program{*source, (*model)->id, *exercise};
}

}  // namespace

Answer refusal(int status, const std::string& why) {
  return {status, {{"error", why}}};
}

Api::Api(Store& store, JobQueue& queue, LiveRuns& live, const sandbox::Limits& limits)
    : store_(store), queue_(queue), live_(live), limits_(limits) {}

Answer Api::start() const {
  json gpus = json::array(), starts = json::array();
  for (const GpuModel& model : gpu_models()) gpus.push_back({{"id", model.id}, {"name", model.name}});
  for (const StartingPoint& point : starting_points())
    starts.push_back({{"name", point.name}, {"group", point.group}, {"title", point.title}});
  const json limits = {{"cpu_seconds", limits_.cpu_seconds},   {"wall_seconds", limits_.wall_seconds},
                       {"memory_bytes", limits_.memory_bytes}, {"processes", limits_.processes},
                       {"output_bytes", limits_.output_bytes}, {"disk_bytes", limits_.disk_bytes}};
  return {200,
          {{"gpus", gpus}, {"gpu", "h200"}, {"starts", starts}, {"limits", limits}, {"waiting", queue_.waiting()}}};
}

Answer Api::starting_point(const std::string& name) const {
  const auto source = starting_source(name);
  if (!source) return refusal(404, "there is no such program to start from");
  return {200, {{"source", source->source}, {"text", source->text}}};
}

Answer Api::keep(const std::string& session, const std::string& body) {
  const json asked = json::parse(body, nullptr, false);
  if (!asked.is_object()) return refusal(400, "a JSON object is wanted");
  auto wanted = read_program(asked);
  if (auto* wrong = std::get_if<Answer>(&wanted)) return *wrong;
  const Program& program = std::get<Program>(wanted);
  const auto id = store_.keep(program, session);
  if (!id) return refusal(429, "as many programs are kept as may be");
  return {200, {{"id", *id}}};
}

Answer Api::program(const std::string& id) {
  const auto found = store_.program(id);
  if (!found) return refusal(404, "there is no such program");
  return {200, {{"source", found->source}, {"gpu", found->gpu}, {"exercise", found->exercise}}};
}

Answer Api::run(const std::string& session, const std::string& body) {
  const json asked = json::parse(body, nullptr, false);
  if (!asked.is_object()) return refusal(400, "a JSON object is wanted");
  auto wanted = read_program(asked);
  if (auto* wrong = std::get_if<Answer>(&wanted)) return *wrong;
  const Program& program = std::get<Program>(wanted);
  const auto mode = text(asked, "mode"), arguments = text(asked, "arguments"), before = text(asked, "before");
  if (!mode || !arguments || !before) return refusal(400, "mode, arguments and before must be texts");
  const bool judged = *mode == "judge" && !program.exercise.empty();
  if (*mode != "run" && *mode != "check" && !judged && !records_steps(*mode))
    return refusal(400, "mode is run, check, steps or steps X,Y,Z, or judge for an exercise");
  if (arguments->size() > kLongestArguments || arguments->find('\0') != std::string::npos)
    return refusal(400, "the arguments are too long");
  if (queue_.waiting_of(session) >= kWaitingOfOne)
    return refusal(429, fmt::format("{} runs of yours are waiting already", kWaitingOfOne));
  if (queue_.waiting() >= kWaitingOfAll) return refusal(503, "too many runs are waiting: try again later");
  RunRequest run{unguessable_name(), session, program.source,  program.gpu, *mode,
                 *arguments,         *before, program.exercise};
  if (!store_.add(run)) return refusal(503, "the server's database is full: its owner can raise --data-limit");
  live_.add(run.id, session);
  const std::string id = run.id;
  queue_.push(std::move(run));
  return {200, {{"id", id}}};
}

std::optional<Answer> Api::look(const std::string& session, const std::string& id, const Known& known,
                                bool must_answer) {
  if (const auto live = live_.find(id); live != nullptr && live->session == session) {
    const auto state = known.state == "queued"    ? LiveRun::State::queued
                       : known.state == "running" ? LiveRun::State::running
                                                  : LiveRun::State::done;
    LiveRun::View view = live->look(known.from, known.attempt, state);
    const auto ahead = queue_.ahead_of(id);
    const bool has_moved = known.ahead && ahead && known.ahead != ahead;
    if (!view.is_news && !has_moved && !must_answer) return std::nullopt;
    if (view.state != LiveRun::State::done) {
      if (const std::size_t whole = whole_characters(view.output); whole != 0) view.output.resize(whole);
      json body = {{"state", name_of(view.state)},
                   {"output", view.output},
                   {"from", view.from},
                   {"next", view.from + view.output.size()},
                   {"attempt", view.attempt}};
      if (ahead) body["ahead"] = *ahead;
      return Answer{200, body};
    }
  }
  const auto run = store_.run(id);
  if (!run || run->session != session || !run->done) return refusal(404, "there is no such run");
  const RunResult& result = run->result;
  return Answer{200,
                {{"state", "done"},
                 {"output", result.output},
                 {"from", 0},
                 {"next", result.output.size()},
                 {"ending", result.ending},
                 {"good", result.good},
                 {"report", !result.report.empty()},
                 {"comparable", !result.profile.empty()}}};
}

Answer Api::cancel(const std::string& session, const std::string& id) {
  const auto live = live_.find(id);
  if (live == nullptr || live->session != session) return refusal(404, "this run does not wait or run");
  if (queue_.remove(id)) {
    store_.cancel(id);
    live->end();
    live_.remove(id);
    live_.announce_places();
  } else {
    live->cancelled_by_user = true;
    live->cancel.request_stop();
  }
  return {200, json::object()};
}

std::optional<std::string> Api::report(const std::string& session, const std::string& id) {
  auto run = store_.run(id);
  if (!run || run->session != session || run->result.report.empty()) return std::nullopt;
  return std::move(run->result.report);
}

}  // namespace warpgrind::serve
