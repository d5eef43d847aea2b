// Reader of stored rows (JSON) and launches (CSV).
#include "timing/tools/stored_rows.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "base/csv_line.h"
#include "base/file.h"
#include "base/json.h"

namespace warpgrind::timing {
namespace {

bool gpu_alone(const StoredRow& row) {
  static constexpr const char* kTopics[] = {"timing", "transfer", "streams", "multigpu", "poisson_mpi", "collectives"};
  static constexpr const char* kRungs[] = {"managed", "grid_sync", "grid_resident"};
  for (const char* topic : kTopics)
    if (row.topic == topic) return false;
  for (const char* rung : kRungs)
    if (row.rung == rung) return false;
  return row.rung.rfind("with copies", 0) != 0;
}

Result<std::map<std::string, std::vector<StoredLaunch>>> read_launches(const std::string& path) {
  const std::optional<std::string> text = read_whole(path);
  if (!text) return Error{ErrorKind::bad_input, path + ": cannot be read", ""};
  std::istringstream in(*text);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && line[0] == '#' && std::getline(in, line)) {
  }
  std::vector<double LaunchWork::*> members;
  const std::vector<std::string> head = split_csv_line(line);
  for (std::size_t i = 2; i < head.size(); ++i) {
    const WorkMember* found = nullptr;
    for (const WorkMember& m : kWorkMembers)
      if (m.name == head[i]) found = &m;
    if (!found) return Error{ErrorKind::bad_input, path + ": no figure of launch_work.inc: " + head[i], ""};
    members.push_back(found->value);
  }
  // A file that was collected before a figure was added lacks it: it is 0 then. That is right for the stored ones (no
  // kernel of the lab retries a compare-and-swap, and in nearly all of them all warps do the same); what changes more
  // needs them collected again.
  constexpr std::size_t kAddedLater = 6;
  if (members.size() + kAddedLater < kWorkMembers.size())
    return Error{ErrorKind::bad_input, path + ": lacks figures of launch_work.inc: collect it again", ""};
  std::map<std::string, std::vector<StoredLaunch>> launches;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split_csv_line(line);
    if (cells.size() != head.size()) return Error{ErrorKind::bad_input, path + ": bad line: " + line, ""};
    StoredLaunch launch;
    launch.repeat = static_cast<unsigned>(std::strtoul(cells[1].c_str(), nullptr, 10));
    for (std::size_t i = 0; i < members.size(); ++i)
      launch.work.*members[i] = std::strtod(cells[i + 2].c_str(), nullptr);
    launches[cells[0]].push_back(launch);
  }
  return launches;
}

}  // namespace

Result<std::vector<StoredRow>> read_rows(const std::string& results, const std::string& launches) {
  auto work = read_launches(launches);
  if (!work) return work.error();
  const std::optional<std::string> text = read_whole(results);
  const nlohmann::json file = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!file.is_object() || !file.contains("topics"))
    return Error{ErrorKind::bad_input, results + ": no results of the lab", ""};
  std::vector<StoredRow> rows;
  for (const nlohmann::json& topic : file["topics"])
    for (const nlohmann::json& r : topic.value("rows", nlohmann::json::array())) {
      StoredRow row;
      json::read(topic, "topic", row.topic);
      json::read(r, "rung", row.rung);
      json::read(r, "type", row.type);
      json::read(r, "size_text", row.size);
      json::read(r, "range", row.range);
      json::read(r, "role", row.role);
      if (r.contains("gpu_us")) json::read(r["gpu_us"], "median", row.measured_ns);
      row.measured_ns *= 1e3;
      const auto found = work->find(row.range);
      if (row.measured_ns <= 0 || found == work->end() || !gpu_alone(row)) continue;
      row.launches = found->second;
      rows.push_back(std::move(row));
    }
  return rows;
}

Result<std::vector<ProgramKernel>> read_programs(const std::string& path) {
  const std::optional<std::string> text = read_whole(path);
  if (!text) return Error{ErrorKind::bad_input, path + ": cannot be read", ""};
  std::istringstream in(*text);
  std::vector<std::string> head;
  std::vector<ProgramKernel> kernels;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells = split_csv_line(line);
    if (head.empty()) {
      head = std::move(cells);
      continue;
    }
    const auto cell = [&](std::string_view column) -> std::string {
      const auto at = std::find(head.begin(), head.end(), column);
      return at != head.end() && cells.size() == head.size() ? cells[static_cast<std::size_t>(at - head.begin())] : "";
    };
    const auto number = [&](std::string_view column) { return std::strtod(cell(column).c_str(), nullptr); };
    kernels.push_back({cell("limit"), number("measured_ns"), number("estimated_ns")});
    const ProgramKernel& k = kernels.back();
    if (k.limit.empty() || !(k.measured_ns > 0) || !(k.estimated_ns > 0))
      return Error{ErrorKind::bad_input, path + ": no limit, measured_ns and estimated_ns: " + line, ""};
  }
  return kernels;
}

}  // namespace warpgrind::timing
