// Description and contents of source files.
#include "adapter/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "base/run_variables.h"
#include "base/words.h"

namespace warpgrind::adapter {

namespace {

bool is_stored(const std::string& path) {
  const char* const folder = std::getenv(run_variables::kDebugSources);
  return folder && *folder && path.starts_with(std::string(folder) + "/");
}

}  // namespace

Json Sources::describe(const std::string& path) {
  Json out = {{"name", base_name(path)}, {"path", path}};
  if (!is_stored(path)) return out;
  auto found = std::find(stored_.begin(), stored_.end(), path);
  if (found == stored_.end()) found = stored_.insert(stored_.end(), path);
  out["sourceReference"] = found - stored_.begin() + 1;
  out["origin"] = "text that the program gave to NVRTC";
  return out;
}

std::string Sources::path_of(const Json& source) const {
  if (!source.is_object()) return "";
  if (const auto number = json::get<std::size_t>(source, "sourceReference"); number >= 1 && number <= stored_.size())
    return stored_[number - 1];
  const std::string path = json::text(source, "path");
  return path.empty() ? json::text(source, "name") : path;
}

Result<std::string> Sources::read(const std::string& path) {
  constexpr std::size_t kLargest = std::size_t{32} << 20;  // a message has at most 64 MiB
  auto text = read_whole(path, kLargest);
  if (!text) return Error{ErrorKind::environment, fmt::format("{}: {}", path, std::strerror(errno)), ""};
  return std::move(*text);
}

}  // namespace warpgrind::adapter
