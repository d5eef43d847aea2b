// Writer of an NVRTC program's source file and header overlay.
#include "nvrtc/inputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "nvrtc/debugged.h"
#include "nvrtc/name_map.h"

namespace warpgrind::nvrtc {

namespace {

namespace fs = std::filesystem;

// Deep enough that "../../x.h" stays inside.
constexpr const char* kHeaderFolder = "/warpgrind-nvrtc/1/2/3/4/5/6/7/8/";

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Makes everything without an execution space device code.
constexpr const char* kDefaultDevice =
    "#pragma clang force_cuda_host_device begin\n"
    "#pragma clang diagnostic ignored \"-Wpragma-clang-attribute\"\n"
    "#pragma clang attribute wg_device.push(__attribute__((device)), apply_to = variable(is_global))\n";
constexpr const char* kDefaultDeviceEnd =
    "#pragma clang attribute wg_device.pop\n#pragma clang force_cuda_host_device end\n";

std::string whole_text(const Source& source, const Options& options) {
  std::string out = options.default_device ? kDefaultDevice : "";
  out += fmt::format("#line 1 {}\n{}\n", quoted(source.name),
                     debug_folder().empty() ? source.text : with_own_script_lines(source));
  if (options.default_device) out += kDefaultDeviceEnd;
  return out + name_map_source(source.expressions, options.request.standard >= "c++17");
}

}  // namespace

Result<Inputs> write_inputs(const Source& source, const Options& options, const std::string& folder) {
  Inputs out;
  out.header_folder = kHeaderFolder;
  out.source = folder + "/source.cu";
  if (Status s = write_whole(out.source, whole_text(source, options)); !s) return s.error();
  if (source.headers.empty()) return out;
  nlohmann::json roots = nlohmann::json::array();
  // The folder itself must exist, otherwise "../x.h" from it is not found.
  auto headers = source.headers;
  headers.emplace_back(".warpgrind", "");
  for (const auto& [name, content] : headers) {
    const std::string file = fmt::format("{}/header{}", folder, roots.size());
    if (Status s = write_whole(file, content); !s) return s.error();
    const std::string path =
        (name.starts_with('/') ? fs::path(name) : fs::path(kHeaderFolder) / name).lexically_normal();
    roots.push_back({{"name", path}, {"type", "file"}, {"external-contents", file}});
  }
  const nlohmann::json overlay = {
      {"version", 0}, {"case-sensitive", true}, {"use-external-names", false}, {"roots", roots}};
  out.overlay = folder + "/overlay.json";
  const std::string text = overlay.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (Status s = write_whole(out.overlay, text); !s) return s.error();
  return out;
}

}  // namespace warpgrind::nvrtc
