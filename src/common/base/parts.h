// Table of warpgrind's files beside its executable, their paths, and the message for a missing one. All functions are
// inline, because libwarpgrind_preload.so uses them and links nothing of ours.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind {

enum class NeededBy : std::uint8_t { every_run, every_compilation, every_link, client };
enum class PartFolder : std::uint8_t { libraries, toolkit };
// When our library replaces NVIDIA's (base/parts.inc).
enum class Replacement : std::uint8_t { none, at_start, on_open };

struct Part {
  NeededBy needed_by;
  PartFolder folder;
  std::string_view file;  // below its folder
  std::string_view target;
  Replacement replacement;
  std::string_view package;
  std::string_view user;
  bool configured;  // CMake writes the file, not the target

  std::string_view name() const { return file.substr(file.rfind('/') + 1); }
  bool stands_in() const { return replacement != Replacement::none; }
};

inline constexpr Part kParts[] = {
#define WG_PART(needed_by, folder, file, target, user) \
  {NeededBy::needed_by, PartFolder::folder, file, target, Replacement::none, "", user, false},
#define WG_CONFIGURED(needed_by, file, target, user) \
  {NeededBy::needed_by, PartFolder::toolkit, file, target, Replacement::none, "", user, true},
#define WG_LIBRARY(needed_by, file, target, replacement, package, user) \
  {NeededBy::needed_by, PartFolder::libraries, file, target, Replacement::replacement, package, user, false},
#include "base/parts.inc"
};

// Our library for NVIDIA's of this file name: "libcufft.so.12", or the versioned file "libcufft.so.12.0.0.6". Null if
// we have none of that release.
inline const Part* stand_in(std::string_view name) {
  for (; name.find(".so.") != std::string_view::npos; name = name.substr(0, name.rfind('.')))
    for (const Part& part : kParts)
      if (part.stands_in() && part.name() == name) return &part;
  return nullptr;
}

// As stand_in(), else our newest release of that library: for "libcufft.so", "libcufft.so.9". Null if we have no such
// library.
inline const Part* stand_in_of_any_release(std::string_view name) {
  if (const Part* part = stand_in(name)) return part;
  const auto end = name.find(".so");
  if (end == std::string_view::npos || (name.size() > end + 3 && name[end + 3] != '.')) return nullptr;
  for (const Part& part : kParts)
    if (part.stands_in() && part.name().substr(0, part.name().find(".so")) == name.substr(0, end)) return &part;
  return nullptr;
}

// Folders that hold the parts of an installation or a build. Paths have no '/' at the end.
struct PartFolders {
  std::string libraries, toolkit, build;  // build: empty in an installation
};

// libraries: the folder of libcudart.so.13, PREFIX/lib/warpgrind or BUILD/lib.
inline PartFolders part_folders(std::string libraries) {
  while (libraries.size() > 1 && libraries.back() == '/') libraries.pop_back();
  if (libraries.ends_with("/warpgrind")) return {libraries, libraries, ""};
  const std::string build = libraries.substr(0, libraries.rfind('/'));
  return {libraries, build + "/toolkit", build};
}

inline std::string path_of(const Part& part, const PartFolders& folders) {
  return (part.folder == PartFolder::libraries ? folders.libraries : folders.toolkit) + "/" + std::string(part.file);
}

// A dangling link and an empty file (a full disk leaves them) count as missing.
inline bool is_there(const Part& part, const PartFolders& folders) {
  struct stat info {};
  return ::stat(path_of(part, folders).c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

// "the installation of warpgrind is not complete: libdevice.bc and launch_pass.so are missing"
inline std::string missing_message(const std::vector<const Part*>& missing) {
  std::string names;
  for (std::size_t i = 0; i < missing.size(); i++)
    names += (i == 0 ? "" : i + 1 < missing.size() ? ", " : " and ") + std::string(missing[i]->file);
  return "the installation of warpgrind is not complete: " + names + (missing.size() == 1 ? " is" : " are") +
         " missing";
}

// One line for each missing part: its user and the searched path. The last line says how to repair it.
inline std::string missing_detail(const std::vector<const Part*>& missing, const PartFolders& folders) {
  std::string out, targets, packages;
  bool configure = false;
  const auto add = [](std::string& list, std::string_view word) {
    if (!word.empty() && (" " + list + " ").find(" " + std::string(word) + " ") == std::string::npos)
      list += (list.empty() ? "" : " ") + std::string(word);
  };
  for (const Part* part : missing) {
    out += std::string(part->user) + "; looked for " + path_of(*part, folders) + "\n  ";
    add(targets, part->target);
    struct stat link {};
    configure |= part->configured && ::lstat(path_of(*part, folders).c_str(), &link) != 0;
    add(packages, part->package);
  }
  if (folders.build.empty()) return out + "install warpgrind again (make install, or the Debian package)";
  const bool ninja = ::access((folders.build + "/build.ninja").c_str(), F_OK) == 0;
  out += "build it with: " + (configure ? "cmake " + folders.build + " && " : std::string()) +
         (ninja ? "ninja -C " + folders.build + " " : "cmake --build " + folders.build + " --target ");
  out += targets;
  if (!packages.empty())
    out += " (CMake leaves it out without Debian's " + packages + ": scripts/setup.sh installs that)";
  return out;
}

}  // namespace warpgrind
