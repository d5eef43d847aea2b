// Search for the libraries that a program needs, in the loader's order.
#include "cli/needed_libraries.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "base/absent_libraries.h"
#include "base/installation.h"
#include "fatbin/elf_image.h"
#include "fatbin/mapped_file.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_of_the_loader() {
  std::vector<std::string> out;
  const char* const variable = std::getenv("LD_LIBRARY_PATH");
  std::istringstream list(variable ? variable : "");
  for (std::string folder; std::getline(list, folder, ':');)
    if (!folder.empty()) out.push_back(folder);
  for (const char* system : {"/usr/local/lib", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib"})
    out.emplace_back(system);
  return out;
}

std::string with_origin(std::string folder, const std::string& origin) {
  for (const std::string_view word : {"$ORIGIN", "${ORIGIN}"})
    if (const auto at = folder.find(word); at != std::string::npos) folder.replace(at, word.size(), origin);
  return folder;
}

class Search {
 public:
  explicit Search(PartFolders folders) : folders_(std::move(folders)) {}

  void look_at(const std::string& file, const std::vector<std::string>& inherited) {
    std::error_code none;
    const fs::path real = fs::canonical(file, none);
    if (none || !seen_.insert(real.string()).second) return;
    const auto mapped = fatbin::map_file(file);
    const auto image = mapped ? fatbin::ElfImage::open((*mapped)->bytes()) : std::nullopt;
    if (!image) return;
    std::vector<std::string> paths = fatbin::run_path(*image);
    for (std::string& path : paths) path = with_origin(path, fs::path(file).parent_path().string());
    paths.insert(paths.end(), inherited.begin(), inherited.end());  // inherited, like DT_RPATH
    for (const std::string& needed : fatbin::needed_libraries(*image)) look_for(needed, paths);
  }

  const std::vector<const Part*>& missing() const { return missing_; }
  const std::set<std::string>& absent() const { return absent_; }

 private:
  void look_for(const std::string& needed, const std::vector<std::string>& paths) {
    const Part* const ours = stand_in(std::string_view(needed).substr(needed.rfind('/') + 1));
    if (ours && !is_there(*ours, folders_)) {
      if (std::find(missing_.begin(), missing_.end(), ours) == missing_.end()) missing_.push_back(ours);
    } else if (ours) {
      look_at(path_of(*ours, folders_), {});  // libcublas.so.13 needs libcublasLt.so.13
    } else if (needed.find('/') != std::string::npos) {
      look_at(needed, paths);
    } else {
      look_for_other(needed, paths);
    }
  }

  void look_for_other(const std::string& needed, const std::vector<std::string>& paths) {
    for (const std::vector<std::string>* list : {&paths, &loader_})
      for (const std::string& folder : *list)
        if (const std::string file = folder + "/" + needed; ::access(file.c_str(), R_OK) == 0)
          return look_at(file, paths);
    if (!advice_without(needed).empty()) absent_.insert(needed);
  }

  const PartFolders folders_;
  const std::vector<std::string> loader_ = folders_of_the_loader();
  std::set<std::string> seen_;
  std::vector<const Part*> missing_;
  std::set<std::string> absent_;
};

}  // namespace

Status check_needed_libraries(const std::string& program) {
  const PartFolders folders = own_parts();
  Search search(folders);
  search.look_at(program, {});
  if (search.missing().empty()) return Ok{};
  return missing_parts(search.missing(), folders);
}

std::vector<std::string> absent_libraries(const std::string& program) {
  Search search(own_parts());
  search.look_at(program, {});
  return {search.absent().begin(), search.absent().end()};
}

}  // namespace warpgrind::cli
