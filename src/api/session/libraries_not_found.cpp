// The preload library knows which libraries were asked for (runtime/preload_asked.h). Those that are loaded now were
// found.
#include "session/libraries_not_found.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <string_view>

#include "base/asked_libraries.h"

namespace warpgrind::session {

namespace {

std::string_view stem_of(std::string_view file) {
  return file.substr(0, file.find(".so"));
}

std::vector<std::string> loaded_stems() {
  std::vector<std::string> out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
        static_cast<std::vector<std::string>*>(list)->emplace_back(stem_of(path.substr(path.rfind('/') + 1)));
        return 0;
      },
      &out);
  return out;
}

}  // namespace

std::vector<std::string> libraries_not_found() {
  std::vector<std::string> out;
  const auto each = reinterpret_cast<EachAskedLibrary>(::dlsym(RTLD_DEFAULT, kEachAskedLibrary));
  if (!each) return out;
  each([](const char* file, void* list) { static_cast<std::vector<std::string>*>(list)->emplace_back(file); }, &out);
  if (out.empty()) return out;
  const std::vector<std::string> loaded = loaded_stems();
  std::erase_if(out, [&](const std::string& file) {
    return std::find(loaded.begin(), loaded.end(), stem_of(file)) != loaded.end();
  });
  return out;
}

}  // namespace warpgrind::session
