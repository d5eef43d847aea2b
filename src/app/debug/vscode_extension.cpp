// VS Code starts a debug adapter only for a type that an extension declares. This one has no code: its package.json
// names the program, the languages that take breakpoints, and the options of launch.json.
#include "debug/vscode_extension.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "debug/launch_options.h"

namespace warpgrind::debug {

namespace {

struct Attribute {
  const char* name;
  const char* type;  // of JSON
  const char* text;
};
constexpr Attribute kAttributes[] = {
    {"program", "string", "Executable (built with nvcc -G) or .cu file, which is compiled for debugging"},
    {"args", "array", "Arguments of the program"},
    {"cwd", "string", "Folder in which the program runs"},
    {"env", "object", "Environment variables; null unsets one"},
    {"stopOnEntry", "boolean", "Stops at the first line of the first kernel"},
    {"host", "boolean", "Debugs host code, too; needs gdb"},
    {"check", "boolean", "Checks the program as `warpgrind check` does. Or groups in a text: \"races,init\""},
    {"core", "string", "Core file of `warpgrind run --core FILE`, in place of a program"},
    {"gpu", "string", "GPU model, for example \"h200\"; `warpgrind gpus` lists them"},
    {"devices", "number", "Number of virtual GPUs"},
    {"schedule", "string", "Order of blocks and warps: forward, reverse, interleaved or random:SEED"},
    {"threads", "number", "Worker threads; the debugger runs with one"},
    {"fill", "number", "Fills memory that the program has not written with this byte, 0 to 255"},
    {"history", "number", "MiB for what ended launches have changed, so that the debugger can go back into them"},
    {"boundsStop", "boolean", "false: an access outside of an allocation is counted and goes on"},
    {"compiler", "string", "Compiler of .cu files: nvcc or clang"},
    {"nvccFlags", "array", "Flags for the compiler"},
    {"sources", "array", "Further source files that are compiled with the .cu file"},
    {"nvrtc", "string", "Library for compilation at run time: auto, nvidia or ours"},
    {"cache", "string", "Folder for compiled kernels"},
    {"noCache", "boolean", "Compiles every kernel again"}};

Json attributes() {
  Json properties = Json::object();
  for (const Attribute& one : kAttributes) {
    Json property = {{"type", one.type}, {"description", one.text}};
    if (std::string_view(one.name) == "check") property["type"] = {"boolean", "string"};
    if (std::string_view(one.type) == "array") property["items"] = {{"type", "string"}};
    properties[one.name] = std::move(property);
  }
  properties["program"]["default"] = "${file}";
  properties["cwd"]["default"] = "${fileDirname}";
  return properties;
}

Json package(const std::string& program, const std::string& version) {
  const Json configuration = {{"type", "warpgrind"},
                              {"request", "launch"},
                              {"name", "CUDA kernels of this file"},
                              {"program", "${file}"},
                              {"cwd", "${fileDirname}"}};
  Json breakpoints = Json::array();
  for (const char* language : {"cuda-cpp", "cuda", "cpp", "c", "python"})
    breakpoints.push_back({{"language", language}});
  Json debugger = {
      {"type", "warpgrind"},
      {"label", "warpgrind (CUDA kernels, without a GPU)"},
      {"program", program},
      {"args", {"dap"}},
      {"languages", {"cuda-cpp", "cuda"}},
      {"configurationAttributes", {{"launch", {{"properties", attributes()}}}}},
      {"initialConfigurations", Json::array({configuration})},
      {"configurationSnippets", Json::array({{{"label", "warpgrind: CUDA kernels of this file"},
                                              {"description", "Compiles the open .cu file and debugs its kernels"},
                                              {"body", configuration}}})}};
  // VS Code itself does not know the language of .cu files.
  Json language = {{"id", "cuda-cpp"}, {"aliases", {"CUDA C++"}}, {"extensions", {".cu", ".cuh"}}};
  return {{"name", "warpgrind-debug"},
          {"publisher", "warpgrind"},
          {"version", version},
          {"displayName", "warpgrind"},
          {"description", "Debugs CUDA kernels without a GPU, forwards and backwards"},
          {"license", "MIT"},
          {"engines", {{"vscode", "^1.60.0"}}},
          {"categories", {"Debuggers"}},
          {"contributes",
           {{"languages", Json::array({std::move(language)})},
            {"breakpoints", std::move(breakpoints)},
            {"debuggers", Json::array({std::move(debugger)})}}}};
}

std::string manifest(const std::string& version) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<PackageManifest Version=\"2.0.0\" xmlns=\"http://schemas.microsoft.com/developer/vsx-schema/2011\">\n"
      "  <Metadata>\n"
      "    <Identity Language=\"en-US\" Id=\"warpgrind-debug\" Version=\"{}\" Publisher=\"warpgrind\"/>\n"
      "    <DisplayName>warpgrind</DisplayName>\n"
      "    <Description>Debugs CUDA kernels without a GPU, forwards and backwards</Description>\n"
      "    <Categories>Debuggers</Categories>\n"
      "  </Metadata>\n"
      "  <Installation><InstallationTarget Id=\"Microsoft.VisualStudio.Code\"/></Installation>\n"
      "  <Dependencies/>\n"
      "  <Assets>\n"
      "    <Asset Type=\"Microsoft.VisualStudio.Code.Manifest\" Path=\"extension/package.json\" "
      "Addressable=\"true\"/>\n"
      "  </Assets>\n"
      "</PackageManifest>\n",
      version);
}

constexpr const char* kContentTypes =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
    "<Default Extension=\".json\" ContentType=\"application/json\"/>"
    "<Default Extension=\".vsixmanifest\" ContentType=\"text/xml\"/></Types>\n";

// A ZIP archive of files that are stored without compression (PKWARE's APPNOTE, 4.3).
class Archive {
 public:
  void add(std::string_view name, std::string_view bytes) {
    const auto at = static_cast<std::uint32_t>(out_.size());
    std::string facts;  // what both headers have
    constexpr std::uint16_t kVersion = 20, kNoFlags = 0, kStored = 0, kMidnight = 0,
                            kFirstDay = 0x21;  // 1 January 1980
    for (const std::uint16_t number : {kVersion, kNoFlags, kStored, kMidnight, kFirstDay}) put(facts, number, 2);
    put(facts, checksum(bytes), 4);
    put(facts, bytes.size(), 4);
    put(facts, bytes.size(), 4);
    put(facts, name.size(), 2);
    put(facts, 0, 2);  // extra fields
    put(out_, 0x04034b50, 4);
    out_.append(facts).append(name).append(bytes);
    put(directory_, 0x02014b50, 4);
    put(directory_, kVersion, 2);
    directory_ += facts;
    put(directory_, 0, 2);  // comment
    put(directory_, 0, 2);  // disk
    put(directory_, 0, 2);  // internal attributes
    put(directory_, 0, 4);  // external attributes
    put(directory_, at, 4);
    directory_ += name;
    ++files_;
  }

  std::string finish() {
    const std::size_t at = out_.size();
    out_ += directory_;
    put(out_, 0x06054b50, 4);
    put(out_, 0, 4);  // disks
    put(out_, files_, 2);
    put(out_, files_, 2);
    put(out_, directory_.size(), 4);
    put(out_, at, 4);
    put(out_, 0, 2);  // comment
    return std::move(out_);
  }

 private:
  static void put(std::string& to, std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i) & 0xff);
  }
  static std::uint32_t checksum(std::string_view bytes) {  // CRC-32
    std::uint32_t crc = ~0u;
    for (const char byte : bytes) {
      crc ^= static_cast<unsigned char>(byte);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
  }

  std::string out_, directory_;
  std::uint64_t files_ = 0;
};

}  // namespace

std::string vscode_extension(const std::string& program, const std::string& version) {
  Archive archive;
  archive.add("[Content_Types].xml", kContentTypes);
  archive.add("extension.vsixmanifest", manifest(version));
  archive.add("extension/package.json",
              package(program, version).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return archive.finish();
}

}  // namespace warpgrind::debug
