// Cache of compiled programs: the key, the check of the inputs by digest, and the eviction of the least recently used.
#include "toolchain/program_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/digest.h"
#include "base/file.h"
#include "toolchain/toolkit.h"

namespace warpgrind::toolchain {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPrograms = 100;
constexpr const char *kInputs = "/inputs", *kMessages = "/messages", *kNames = "/program";

// Identifies the compiler or our library: a new version has another time or size.
std::string stamp(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return path;
  return fmt::format("{} {} {}.{}", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace

ProgramCache ProgramCache::of_clang(const std::string& folder, const std::vector<std::string>& words,
                                    const Surroundings& surroundings) {
  const auto toolkit = find_toolkit(surroundings.path);
  if (!toolkit) return {};
  return {folder, words, surroundings, {toolkit->clang, toolkit->device_library, toolkit->headers}, toolkit->libraries};
}

ProgramCache ProgramCache::of_nvcc(const std::string& folder, const std::string& nvcc,
                                   const std::vector<std::string>& words, const Surroundings& surroundings) {
  std::error_code problem;
  const fs::path driver = fs::canonical(nvcc, problem);
  if (problem) return {};
  std::vector<std::string> files{driver, find_program("g++", surroundings.path)};
  for (const char* tool : {"ptxas", "../nvvm/bin/cicc", "nvcc.profile"}) files.push_back(driver.parent_path() / tool);
  return {folder, words, surroundings, files, surroundings.nvcc_ccbin};
}

ProgramCache::ProgramCache(const std::string& folder, const std::vector<std::string>& words,
                           const Surroundings& surroundings, const std::vector<std::string>& files,
                           const std::string& more) {
  if (folder.empty()) return;
  std::error_code problem;
  std::string text = fs::current_path(problem).string();
  for (const std::string& word : words) text += '\n' + word;
  for (const std::string& path : files) text += '\n' + stamp(fs::canonical(path, problem).string());
  // warpgrind itself decides the commands.
  text += '\n' + stamp(fs::read_symlink("/proc/self/exe", problem).string()) + '\n' + more;
  for (const std::string& value : {surroundings.cpath, surroundings.c_include_path, surroundings.cplus_include_path})
    text += '\n' + value;
  folder_ = folder + "/programs";
  entry_ = folder_ + "/" + digest(text);
}

std::optional<ProgramCache::Found> ProgramCache::find() const {
  if (entry_.empty()) return std::nullopt;
  const auto inputs = read_whole(entry_ + kInputs), name = read_whole(entry_ + kNames);
  if (!inputs || !name) return std::nullopt;
  std::istringstream lines(*inputs);
  std::string known, path;
  while (lines >> known && std::getline(lines.ignore(1), path)) {
    const auto content = read_whole(path);
    if (!content || digest(*content) != known) return std::nullopt;
  }
  Found found{entry_ + "/" + *name, read_whole(entry_ + kMessages).value_or("")};
  if (access(found.program.c_str(), X_OK) != 0) return std::nullopt;
  utimensat(AT_FDCWD, (entry_ + kInputs).c_str(), nullptr, 0);  // time of last use, for evict()
  return found;
}

std::optional<std::string> ProgramCache::store(const std::string& program, const Outcome& outcome) const {
  if (entry_.empty()) return std::nullopt;
  const std::string fresh = fmt::format("{}.{}", entry_, getpid()), name = fs::path(program).filename().string();
  std::error_code problem;
  fs::create_directories(fresh, problem);
  std::string inputs;
  for (const std::string& path : outcome.dependencies) {
    const auto content = read_whole(path);
    if (!content || path.find('\n') != std::string::npos) return fs::remove_all(fresh, problem), std::nullopt;
    inputs += fmt::format("{} {}\n", digest(*content), path);
  }
  const std::pair<const char*, const std::string*> texts[] = {
      {kInputs, &inputs}, {kMessages, &outcome.messages}, {kNames, &name}};
  for (const auto& [file, text] : texts)
    if (!write_whole(fresh + file, *text)) return fs::remove_all(fresh, problem), std::nullopt;
  fs::copy_file(program, fresh + "/" + name, problem);
  if (!problem) fs::rename(fresh, entry_, problem);
  if (problem == std::errc::directory_not_empty || problem == std::errc::file_exists) {
    // Another process was faster, and may be running its program by now.
    if (const auto found = find()) {
      fs::remove_all(fresh, problem);
      return found->program;
    }
    fs::remove_all(entry_, problem);
    fs::rename(fresh, entry_, problem);
  }
  if (problem) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    return std::nullopt;
  }
  evict();
  return entry_ + "/" + name;
}

// Evicts down to three quarters of the limit, so that not every program causes an eviction.
void ProgramCache::evict() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code problem;
  for (fs::directory_iterator at(folder_, problem), end; !problem && at != end; at.increment(problem)) {
    std::error_code none;
    const auto time = fs::last_write_time(at->path().string() + kInputs, none);
    all.emplace_back(none ? fs::file_time_type::min() : time, at->path());
  }
  if (all.size() <= kMostPrograms) return;
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < all.size() - kMostPrograms * 3 / 4; i++) fs::remove_all(all[i].second, problem);
}

}  // namespace warpgrind::toolchain
