// Subcommand `warpgrind lab`: choice of topics, their run, and the output of results.
#include "cli/lab_command.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/file.h"
#include "base/installation.h"
#include "base/printable.h"
#include "base/process.h"
#include "cli/commands.h"
#include "gpu/gpu_model.h"
#include "lab/batch.h"
#include "lab/brief.h"
#include "lab/course.h"
#include "lab/row_groups.h"
#include "lab/table.h"
#include "report/html.h"
#include "results/json.h"
#include "session/options.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;
constexpr int kNotVerified = 1;
constexpr int kInterrupted = 130;  // as shells report Ctrl-C

std::string machine() {
  std::string cpu = "unknown CPU", line;
  std::ifstream info("/proc/cpuinfo");
  while (std::getline(info, line)) {
    if (!line.starts_with("model name")) continue;
    cpu = line.substr(line.find(':') + 2);
    break;
  }
  utsname name{};
  uname(&name);
  return fmt::format("{}, {} cores, {} {}", cpu, sysconf(_SC_NPROCESSORS_ONLN), name.sysname, name.release);
}

std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return text;
}

// Topics left out of this build, except those whose program from an earlier build is still in the folder.
std::vector<lab::LeftOut> missing_topics(const std::string& folder, const std::vector<lab::Topic>& topics) {
  std::vector<lab::LeftOut> out = lab::left_out_topics(folder);
  std::erase_if(out, [&](const lab::LeftOut& l) {
    return std::any_of(topics.begin(), topics.end(), [&](const lab::Topic& t) { return t.name == l.topic; });
  });
  return out;
}

Result<std::vector<const lab::Topic*>> chosen(const std::vector<lab::Topic>& topics,
                                              const std::vector<lab::LeftOut>& left_out, const LabCommand& command) {
  std::vector<const lab::Topic*> out;
  for (const std::string& name : command.topics) {
    if (name == "all") {
      for (const lab::Topic& t : topics) out.push_back(&t);
      continue;
    }
    auto topic = lab::find_topic(topics, left_out, name);
    if (!topic) return topic.error();
    out.push_back(*topic);
  }
  // On a real GPU the topic `bandwidth` goes first: it measures the ceilings for the others.
  if (command.on == "gpu")
    std::stable_partition(out.begin(), out.end(), [](const lab::Topic* t) { return t->name == "bandwidth"; });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// --NAME VALUE pairs that belong to the topics.
Result<std::vector<std::pair<std::string, std::string>>> topic_options(const std::vector<const lab::Topic*>& topics,
                                                                       const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::string name = word, value;
    if (const auto equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    }
    name.erase(0, name.find_first_not_of('-'));
    std::string known;
    bool good = false;
    for (const lab::Topic* t : topics) {
      good |= t->option(name) != nullptr;
      for (const lab::TopicOption& o : t->options)
        known += fmt::format("{}--{} ({})", known.empty() ? "" : ", ", o.name, t->name);
    }
    if (!good || value.empty())
      return Error{
          ErrorKind::bad_input,
          good ? fmt::format("--{} needs a value", name) : fmt::format("unknown option or argument '{}'", word),
          known.empty() ? "see warpgrind lab --help" : fmt::format("options of the chosen topics: {}", known)};
    out.emplace_back(name, value);
  }
  return out;
}

std::string title(const lab::LabResult& result) {
  if (result.topics.size() > 4) return fmt::format("{} topics", result.topics.size());
  std::string out;
  for (const lab::TopicResult& t : result.topics) out += (out.empty() ? "" : ", ") + t.topic;
  return out;
}

bool write(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  const Status status = write_whole(path, text);
  if (!status) complain(status.error());
  return static_cast<bool>(status);
}

Result<lab::LabResult> stored(const std::string& path) {
  const auto text = read_whole(path);
  if (!text) return Error{ErrorKind::bad_input, fmt::format("cannot read {}", path), ""};
  return lab::from_json(*text, path);
}

// Measured results to show beside the model's times: those of --compare, otherwise those kept with the lab for such a
// GPU. A topic may have its own file (h200.multigpu.json). h200.rungs.json has rungs that were measured later. No
// topics: there are no results.
Result<lab::LabResult> measured_results(const LabCommand& command, const std::string& folder,
                                        const std::vector<const lab::Topic*>& topics) {
  if (!command.compare_path.empty()) return stored(command.compare_path);
  const std::string kept = fmt::format("{}/results/{}.json", folder, command.gpu);
  if (command.on != "virtual" || access(kept.c_str(), R_OK) != 0) return lab::LabResult{};
  auto all = stored(kept);
  if (!all) return all;
  for (const lab::Topic* t : topics) {
    const std::string own = fmt::format("{}/results/{}.{}.json", folder, command.gpu, t->name);
    if (access(own.c_str(), R_OK) != 0) continue;
    auto one = stored(own);
    if (!one) return one;
    std::erase_if(all->topics, [&](const lab::TopicResult& r) { return r.topic == t->name; });
    for (lab::TopicResult& r : one->topics) all->topics.push_back(std::move(r));
  }
  const std::string later = fmt::format("{}/results/{}.rungs.json", folder, command.gpu);
  if (access(later.c_str(), R_OK) != 0) return all;
  auto rungs = stored(later);
  if (!rungs) return rungs;
  lab::add_missing_rows(*all, rungs.take());
  return all;
}

// Whether this build has a page, and --steps a GPU model to record on and a file to write to.
Status page_possible(const LabCommand& command) {
  if (!command.report_path.empty())
    if (Status page = report::html_available(); !page) return page;
  if (!command.steps) return Ok{};
  const char* why = "the page of --report goes through the kernels on the virtual GPU step by step";
  if (command.on != "virtual") return Error{ErrorKind::bad_input, "--steps cannot be combined with --on gpu", why};
  if (command.report_path.empty() && command.json_path.empty())
    return Error{ErrorKind::bad_input, "--steps needs --report FILE or --json FILE", why};
  return Ok{};
}

// What follows the topics: the summary of several, the rows that were skipped, and what to type next.
void print_closing(const lab::LabResult& result, bool brief) {
  if (result.topics.size() > 1) print_text(stdout, lab::summary_text(result));
  if (brief && result.topics.size() == 1) print_text(stdout, lab::without_result(result.topics.front()));
  if (brief && !result.topics.empty())
    std::fputs("all rows of a topic, and why each rung is faster: warpgrind lab TOPIC\n", stdout);
  if (result.topics.size() > 1 && result.on == "virtual")
    print_text(stdout, lab::closing_text(result, typed_executable()));
}

}  // namespace

int lab(const LabCommand& command) {
  const auto library = runtime_library();
  if (!library) return complain(library.error()), kUsageError;
  const std::string folder = command.programs.empty() ? lab_folder() : command.programs;
  auto topics = lab::find_topics(folder, *library);
  if (!topics) return complain(topics.error()), kUsageError;
  const auto course = lab::read_course(folder, exercises_folder());
  if (!course) return complain(course.error()), kUsageError;
  lab::sort_by_chapter(*topics, course->order);
  const std::vector<lab::LeftOut> left_out = missing_topics(folder, *topics);
  if (command.topics.empty()) {
    print_text(stdout, lab::topics_text(*topics, left_out));
    return 0;
  }
  auto wanted = chosen(*topics, left_out, command);
  if (!wanted) return complain(wanted.error()), kUsageError;
  if (command.list) {
    for (const lab::Topic* t : *wanted) print_text(stdout, lab::rungs_text(*t));
    return 0;
  }
  auto options = topic_options(*wanted, command.topic_options);
  if (!options) return complain(options.error()), kUsageError;
  if (command.on == "virtual") {
    if (auto model = find_gpu_model(command.gpu); !model) return complain(model.error()), kUsageError;
  }
  const auto measured = measured_results(command, folder, *wanted);
  if (!measured) return complain(measured.error()), kUsageError;

  if (const Status possible = page_possible(command); !possible) return complain(possible.error()), kUsageError;

  lab::BatchSettings settings;
  settings.run.warpgrind = own_executable();
  settings.run.gpu = command.gpu;
  settings.run.native = command.on == "gpu";
  settings.run.full = command.full;
  settings.run.detail = !command.report_path.empty();
  settings.run.threads = command.threads;
  settings.run.timeout_seconds = command.timeout_seconds;
  settings.run.cache = command.cache;
  settings.run.no_cache = command.no_cache;
  settings.run.sizes = command.sizes;
  settings.run.sample_blocks = command.sample_blocks;
  settings.run.type = command.type;
  settings.run.rungs = command.rungs;
  settings.run.options = options.take();
  settings.progress = isatty(STDERR_FILENO) != 0;
  settings.models = !command.no_models;
  // Only for the default ladder: the user may have chosen a size, and rows outside the ladder are of no use at the
  // large one.
  settings.large = !command.no_large && !command.full && command.sizes.empty() && command.type.empty() &&
                   command.rungs.empty() && command.topic_options.empty();
  settings.fresh = command.fresh;
  settings.is_recorded = command.steps;
  settings.records_slow = wanted->size() == 1;
  settings.steps = course->steps;
  const std::string cache = session::default_cache_directory();
  if (wanted->size() > 1 && !cache.empty()) settings.state_folder = cache + "/lab";

  const bool brief = command.brief || (wanted->size() > 1 && !command.table);
  catch_interrupts();
  const auto print = [&](const lab::TopicResult& result) {
    const lab::TopicResult* real = nullptr;
    for (const lab::TopicResult& t : measured->topics)
      if (t.topic == result.topic) real = &t;
    const auto words = course->chapters.find(result.topic);
    const std::string text =
        brief ? lab::brief_text(result, real, words == course->chapters.end() ? lab::ChapterWords{} : words->second)
              : lab::topic_text(result, real);
    print_text(stdout, text);
    std::fflush(stdout);
  };
  lab::BatchOutcome outcome = lab::run_batch(*wanted, settings, print);

  lab::LabResult result;
  result.command = "warpgrind lab";
  for (const std::string& topic : command.topics) result.command += " " + topic;
  if (settings.run.native) result.command += " --on gpu";
  if (command.full) result.command += " --full";
  if (!command.sizes.empty()) result.command += " --sizes " + command.sizes;
  result.date = date_and_time();
  result.machine = machine();
  result.on = command.on;
  result.full = command.full;
  result.topics = std::move(outcome.topics);
  if (std::count(command.topics.begin(), command.topics.end(), "all")) result.left_out = left_out;
  print_closing(result, brief);
  if (outcome.resumed > 0)
    print_text(stdout,
               fmt::format("{} topics are results of an interrupted run; --fresh runs them again\n", outcome.resumed));
  const std::string json = lab::to_json(result);
  bool written = write(command.json_path, json) && write(command.csv_path, lab::to_csv(result));
  if (!command.report_path.empty()) {
    const auto html = report::html_report({"lab: " + title(result),
                                           WARPGRIND_VERSION,
                                           {},
                                           json,
                                           measured->topics.empty() ? std::string() : lab::to_json(*measured),
                                           course->json});
    if (!html) complain(html.error());
    written = html && write(command.report_path, *html) && written;
    std::error_code ignored;
    const fs::path path = fs::absolute(command.report_path, ignored).lexically_normal();
    if (written)  // a link that terminals can open; the last line
      print_text(stdout, fmt::format("report: file://{}\n", path.string()));
  }
  if (outcome.interrupted) {
    complain(fmt::format("interrupted: {} of {} topics are done", result.topics.size(), wanted->size()),
             settings.state_folder.empty() ? "" : "run the same command again to continue");
    return kInterrupted;
  }
  if (!written) return kUsageError;
  int code = 0;
  for (const lab::TopicResult& t : result.topics) {
    if (t.good()) continue;
    const bool wrong = t.exit_code == kNotVerified && t.error.empty();
    code = std::max(code, wrong ? kNotVerified : kUsageError);
  }
  return code;
}

}  // namespace warpgrind::cli
