// Detection of NVIDIA's own libraries among those that the process has loaded.
#include "session/nvidia_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/absent_libraries.h"
#include "base/parts.h"

namespace warpgrind::session {

namespace {

// Prefixes of their file names, without libraries that only call replaced ones (libcufftw, libnvblas).
constexpr std::string_view kOthers[] = {"libcusolverMg", "libcudnn",      "libnpp",     "libnvjpeg",
                                        "libcutensor",   "libcusparseLt", "libnvshmem", "libcufile"};
constexpr std::string_view kCompilers[] = {"libnvrtc", "libnvJitLink", "libnvvm"};

bool begins_with_one_of(std::string_view name, const auto& list) {
  return std::any_of(std::begin(list), std::end(list), [&](std::string_view one) { return name.starts_with(one); });
}

struct Loaded {
  std::string folder, name;
};

std::vector<Loaded> loaded_libraries() {
  std::vector<Loaded> out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
        if (const auto slash = path.rfind('/'); slash != std::string_view::npos)
          static_cast<std::vector<Loaded>*>(list)->push_back(
              {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))});
        return 0;
      },
      &out);
  return out;
}

std::string own_folder() {
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(&own_folder), &info) || !info.dli_fname) return "";
  const std::string_view path = info.dli_fname;
  return std::string(path.substr(0, path.rfind('/')));
}

}  // namespace

std::string name_nvidias_libraries(std::set<std::string>& named) {
  const std::vector<Loaded> all = loaded_libraries();
  const std::string ours = own_folder();
  const auto is_ours = [&](const Loaded& one) { return one.folder.starts_with(ours); };
  // If a program finds NVIDIA's library by a run path and ours was loaded before it, both are loaded
  // (runtime/preload.cpp).
  const auto has_ours = [&](const Part& part) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Loaded& one) { return is_ours(one) && one.name == part.name(); });
  };
  std::vector<std::string> fresh;
  for (const Loaded& one : all) {
    // The runtime is replaced in any file (runtime/redirect.cpp).
    if (is_ours(one) || one.name.starts_with("libcudart") || begins_with_one_of(one.name, kCompilers)) continue;
    const Part* const part = stand_in_of_any_release(one.name);
    if (part ? !has_ours(*part) : begins_with_one_of(one.name, kOthers))
      if (named.insert(one.name).second) fresh.push_back(one.name);
  }
  if (fresh.empty()) return "";
  const bool one = fresh.size() == 1;
  std::set<std::string_view> advice;
  for (const std::string& name : fresh)
    if (const std::string_view words = advice_without(name); !words.empty()) advice.insert(words);
  return fmt::format(
      "NVIDIA's own {} {} loaded; warpgrind has no replacement in {} place. {} host code runs. {} kernels are GPU "
      "machine code, which cannot run here: check the errors that {} functions return{}{}",
      fmt::join(fresh, ", "), one ? "is" : "are", one ? "its" : "their", one ? "Its" : "Their", one ? "Its" : "Their",
      one ? "its" : "their", advice.empty() ? "" : ". ", fmt::join(advice, ". "));
}

}  // namespace warpgrind::session
