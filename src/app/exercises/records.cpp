#include "exercises/records.h"

#include <algorithm>
#include <charconv>

namespace warpgrind::exercises {

namespace {

std::string_view next_word(std::string_view& line) {
  const std::size_t tab = std::min(line.find('\t'), line.size());
  const std::string_view word = line.substr(0, tab);
  line.remove_prefix(std::min(tab + 1, line.size()));
  return word;
}

}  // namespace

std::vector<Record> read_records(std::string_view file) {
  std::vector<Record> out;
  while (!file.empty()) {
    const std::size_t end = file.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view line = file.substr(0, end);
    file.remove_prefix(end + 1);
    const std::string_view kind = next_word(line), name = next_word(line);
    if (kind == "said") {
      out.push_back({std::string(name), std::string(line)});
    } else if (kind == "got") {
      std::size_t size = 0;
      const auto read = std::from_chars(line.data(), line.data() + line.size(), size);
      if (read.ec != std::errc() || size >= file.size()) break;
      out.push_back({std::string(name), std::string(file.substr(0, size))});
      file.remove_prefix(size + 1);  // and the end of the line
    } else {
      break;
    }
  }
  return out;
}

std::vector<bool> depend_on_kernels(const std::vector<Record>& usual, const std::vector<Record>& without_kernels) {
  std::vector<bool> out;
  for (std::size_t i = 0; i < usual.size(); ++i)
    out.push_back(i >= without_kernels.size() || usual[i].bytes != without_kernels[i].bytes);
  return out;
}

const Record* computed_elsewhere(const std::vector<Record>& usual, const std::vector<Record>& without_kernels,
                                 const std::vector<bool>& depend) {
  constexpr std::size_t kFew = 64;
  const std::size_t count = std::min({usual.size(), without_kernels.size(), depend.size()});
  const Record* few = nullptr;
  bool all_agree = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!depend[i]) continue;
    const bool agrees = usual[i].bytes == without_kernels[i].bytes;
    all_agree = all_agree && agrees;
    if (agrees && usual[i].bytes.size() >= kFew) return &usual[i];
    if (agrees && few == nullptr) few = &usual[i];
  }
  return all_agree ? few : nullptr;
}

}  // namespace warpgrind::exercises
