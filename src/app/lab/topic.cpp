// Discovery of the lab's topics: each program in a folder is asked to describe itself.
#include "lab/topic.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/edit_distance.h"
#include "base/installation.h"
#include "base/json.h"
#include "base/process.h"

namespace warpgrind::lab {

std::string titles_of_documents(const std::string& documents) {
  std::string out;
  for (std::size_t open = documents.find('('), close = 0; open != std::string::npos;
       open = documents.find('(', close)) {
    close = documents.find(')', open);
    if (close == std::string::npos) break;
    out += (out.empty() ? "" : ", ") + documents.substr(open + 1, close - open - 1);
  }
  return out.empty() ? documents : out;
}

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using json::text;

constexpr double kDescribeSeconds = 20;

std::vector<std::string> comma_list(const std::string& words) {
  std::vector<std::string> out;
  std::stringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) out.push_back(word);
  return out;
}

// Returns false for files beside the topics that are no topics.
bool describe(const std::string& path, const std::string& library, Topic& topic) {
  ProcessCommand command{.words = {path, "--describe"}, .death_signal = SIGTERM};
  if (!library.empty()) command.set = {library_path_with(library)};
  const auto run = run_captured(std::move(command), {.seconds = kDescribeSeconds});
  if (!run || !run->end.good()) return false;
  const Json j = Json::parse(run->output, nullptr, false);
  if (!j.is_object() || text(j, "format") != "warpgrind-lab-topic 1") return false;
  topic.name = text(j, "topic");
  topic.title = text(j, "title");
  topic.document = titles_of_documents(text(j, "document"));
  topic.shows = text(j, "shows");
  topic.size_names = text(j, "size_names");
  topic.quick_sizes = text(j, "quick_sizes");
  topic.full_sizes = text(j, "full_sizes");
  topic.large_sizes = text(j, "large_sizes");
  topic.types = text(j, "types");
  topic.models = comma_list(text(j, "models"));
  topic.program = path;
  if (const auto it = j.find("rungs"); it != j.end() && it->is_array())
    for (const Json& r : *it) topic.rungs.push_back({text(r, "name"), text(r, "what"), text(r, "role")});
  if (const auto it = j.find("options"); it != j.end() && it->is_array())
    for (const Json& o : *it) topic.options.push_back({text(o, "name"), text(o, "default"), text(o, "help")});
  return !topic.name.empty();
}

}  // namespace

const TopicOption* Topic::option(const std::string& option_name) const {
  for (const TopicOption& o : options)
    if (o.name == option_name) return &o;
  return nullptr;
}

std::vector<LeftOut> left_out_topics(const std::string& folder) {
  std::vector<LeftOut> out;
  std::ifstream file(folder + "/left_out.txt");
  for (std::string line; std::getline(file, line);)
    if (const auto colon = line.find(": "); colon != std::string::npos)
      out.push_back({line.substr(0, colon), line.substr(colon + 2)});
  return out;
}

Result<std::vector<Topic>> find_topics(const std::string& folder, const std::string& library) {
  std::error_code problem;
  std::map<std::string, Topic> found;  // sorted by name; the nvcc build wins
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    const std::string path = at->path().string();
    std::error_code unknown;
    if (!at->is_regular_file(unknown) || access(path.c_str(), X_OK) != 0) continue;
    Topic topic;
    if (!describe(path, library, topic)) continue;
    const bool stand_in = path.ends_with("_clang");
    const auto it = found.find(topic.name);
    if (it == found.end() || !stand_in) found[topic.name] = std::move(topic);
  }
  if (found.empty())
    return Error{ErrorKind::environment, fmt::format("no programs of the lab in {}", folder),
                 "build warpgrind (make build), or name the folder with --programs"};
  std::vector<Topic> topics;
  for (auto& [name, topic] : found) topics.push_back(std::move(topic));
  return topics;
}

void sort_by_chapter(std::vector<Topic>& topics, const std::vector<std::string>& chapters) {
  const auto place = [&](const Topic& t) { return std::find(chapters.begin(), chapters.end(), t.name); };
  std::stable_sort(topics.begin(), topics.end(), [&](const Topic& a, const Topic& b) { return place(a) < place(b); });
}

Result<const Topic*> find_topic(const std::vector<Topic>& topics, const std::vector<LeftOut>& left_out,
                                const std::string& name) {
  for (const LeftOut& l : left_out)
    if (l.topic == name && std::none_of(topics.begin(), topics.end(), [&](const Topic& t) { return t.name == name; }))
      return Error{ErrorKind::environment, fmt::format("the topic {} is not in this build", name), l.reason};
  std::vector<std::string> names;
  for (const Topic& t : topics) {
    if (t.name == name) return &t;
    names.push_back(t.name);
  }
  std::string advice = fmt::format("there are: {}", fmt::join(names, ", "));
  constexpr std::size_t kNear = 3;
  if (const auto near = nearest_names(name, names, kNear); !near.empty())
    advice = fmt::format("did you mean {}? {}", names[near.front()], advice);
  return Error{ErrorKind::bad_input, fmt::format("the lab has no topic '{}'", name), advice};
}

}  // namespace warpgrind::lab
