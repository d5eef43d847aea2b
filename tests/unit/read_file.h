// Reads a whole file as text. Returns "" if the file does not exist.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace warpgrind {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace warpgrind
