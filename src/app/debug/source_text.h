// Lines of source files, and the place where `list` goes on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::debug {

class SourceText {
 public:
  Result<std::string> line(const std::string& path, int number);  // the first is 1
  // Lines `first` to `last` with their numbers, as far as they exist. Error: none does, or the file cannot be read.
  Result<std::size_t> line_count(const std::string& path);
  Result<std::string> lines(const std::string& path, int first, int last);

  // `list` without a place shows ten lines around this one, and then those behind it.
  void set_place(const std::string& path, int number);
  const std::string& path() const { return path_; }
  int place() const { return place_; }
  Result<std::string> list_on();
  Result<std::string> list_back();
  Result<std::string> list(const std::string& path, int first, int last);

 private:
  Result<const std::vector<std::string>*> read(const std::string& path);
  std::map<std::string, std::vector<std::string>> files_;
  std::string path_;
  int place_ = 0, first_ = 0, last_ = 0;  // first_ and last_: lines that were listed; 0: none since set_place()
};

}  // namespace warpgrind::debug
