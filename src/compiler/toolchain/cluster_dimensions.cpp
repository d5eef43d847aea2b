#include "toolchain/cluster_dimensions.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

namespace warpgrind::toolchain {

namespace {

constexpr std::string_view kClusterMark = "// cluster_dims ";

}  // namespace

std::string with_cluster_dimensions(std::string_view ptx) {
  std::map<std::string, std::string, std::less<>> directives;  // by kernel
  std::string out, kernel;
  while (!ptx.empty()) {
    const auto end = ptx.find('\n');
    const std::string_view line = ptx.substr(0, end);
    ptx = end == std::string_view::npos ? std::string_view{} : ptx.substr(end + 1);
    if (const auto mark = line.find(kClusterMark); mark != std::string_view::npos) {
      std::istringstream words{std::string(line.substr(mark + kClusterMark.size()))};
      std::string name;
      unsigned sizes[3] = {1, 1, 1};
      words >> name;
      for (unsigned& size : sizes)
        if (!(words >> size)) size = 1;
      directives[name] = fmt::format(".explicitcluster\n.reqnctapercluster {}, {}, {}\n", sizes[0], sizes[1], sizes[2]);
      continue;
    }
    // ".visible .entry NAME(" begins a definition, "{" its body; a declaration ends in ";".
    constexpr std::string_view kEntry = ".entry ";
    if (const auto entry = line.find(kEntry); entry != std::string_view::npos && !line.starts_with("//")) {
      const std::string_view name = line.substr(entry + kEntry.size());
      kernel = name.substr(0, name.find_first_of("( \t"));
    } else if (line.starts_with("{") && !kernel.empty()) {
      if (const auto found = directives.find(kernel); found != directives.end()) out += found->second;
      kernel.clear();
    } else if (line.starts_with(";")) {
      kernel.clear();
    }
    out.append(line).append("\n");
  }
  return out;
}

}  // namespace warpgrind::toolchain
