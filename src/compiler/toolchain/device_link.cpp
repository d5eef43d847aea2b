// Device link step of -rdc=true: the choice of archive members, and the C source of the registration functions.
#include "toolchain/device_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/assert.h"
#include "fatbin/fatbin.h"
#include "fatbin/write.h"

namespace warpgrind::toolchain {

namespace {

// Each object registers itself before main. The wrapper (version 2) has an array of their fatbins. The runtime reads
// the array at the program's first use of device code, so the number of an archive's objects in the program need not be
// known here.
constexpr const char* kSource =
    R"(struct wrapper {{ unsigned magic, version; const void *linked; const void *const *fatbins; }};
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
{1}
static const void *fatbins[{0} + 1] = {{{2}}};
static struct wrapper all __attribute__((section(".nvFatBinSegment"), used)) = {{0x466243b1, 2, 0, fatbins}};
static void **handle;
static unsigned count = {3};

static void add(void (*callback)(void **), const void *fatbin) {{
  if (!handle) handle = __cudaRegisterFatBinary(&all);
  if (fatbin && count < {0}) fatbins[count++] = fatbin;
  callback(handle);
  __cudaRegisterFatBinaryEnd(handle);
}}
__attribute__((destructor)) static void end(void) {{
  if (handle) __cudaUnregisterFatBinary(handle);
  handle = 0;
}}
#define PART(name, fatbin)                                                                                 \
  __attribute__((visibility("hidden"))) void name(void (*callback)(void **), const struct wrapper *part,  \
                                                  const char *id, void (*unused)(void *)) {{               \
    (void)part, (void)id, (void)unused;                                                                    \
    add(callback, fatbin);                                                                                 \
  }}
)";

constexpr const char* kEmbedded =
    R"(extern const char embedded_{0}[];
__asm__(".pushsection __nv_relfatbin,\"a\"\n.balign 8\nembedded_{0}:\n.incbin \"{1}\"\n.balign 8\n.popsection");
)";

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

// ".visible .func  (.param .b32 func_retval0) _Z1fi(", ".extern .global .align 4 .b8 table[40];"
std::string_view declared_name(std::string_view line) {
  if (const auto func = line.find(".func"); func != std::string_view::npos) {
    std::string_view rest = line.substr(func + 5);
    const auto first = rest.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    if (rest[first] == '(') rest = rest.substr(std::min(rest.find(')') + 1, rest.size()));
    const auto begin = rest.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    rest = rest.substr(begin);
    return rest.substr(0, std::find_if_not(rest.begin(), rest.end(), is_name) - rest.begin());
  }
  line = line.substr(0, line.find_first_of("[=;"));
  while (!line.empty() && !is_name(line.back())) line.remove_suffix(1);
  std::size_t begin = line.size();
  while (begin > 0 && is_name(line[begin - 1])) begin--;
  return line.substr(begin);
}

PtxSymbols symbols_of(const fatbin::RelocatablePart& part) {
  PtxSymbols out;
  const auto entries = fatbin::read_fatbin(std::as_bytes(std::span(part.fatbin)));
  if (!entries) return out;  // reported when the program is run
  for (const fatbin::FatbinEntry& entry : *entries) {
    if (entry.kind != fatbin::EntryKind::ptx) continue;
    const auto text = fatbin::ptx_text(entry);
    if (!text) continue;
    PtxSymbols more = ptx_symbols(*text);
    out.defined.insert(out.defined.end(), more.defined.begin(), more.defined.end());
    out.external.insert(out.external.end(), more.external.begin(), more.external.end());
  }
  return out;
}

// Takes archive members as a linker does: as long as one of them defines an undefined symbol.
class Resolution {
 public:
  void take(const PtxSymbols& symbols) {
    for (const std::string& name : symbols.defined) {
      defined_.insert(name);
      open_.erase(name);
    }
    for (const std::string& name : symbols.external)
      if (!defined_.contains(name)) open_.insert(name);
  }
  bool needs(const PtxSymbols& symbols) const {
    return std::any_of(symbols.defined.begin(), symbols.defined.end(),
                       [this](const std::string& name) { return open_.contains(name); });
  }

 private:
  std::set<std::string> defined_, open_;
};

}  // namespace

PtxSymbols ptx_symbols(std::string_view ptx) {
  PtxSymbols out;
  while (!ptx.empty()) {
    const auto end = ptx.find('\n');
    std::string_view line = ptx.substr(0, end);
    ptx = end == std::string_view::npos ? std::string_view{} : ptx.substr(end + 1);
    line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool external = line.starts_with(".extern ");
    if (!external && !line.starts_with(".visible ") && !line.starts_with(".weak ") && !line.starts_with(".common "))
      continue;
    if (const std::string_view name = declared_name(line); !name.empty())
      (external ? out.external : out.defined).emplace_back(name);
  }
  return out;
}

Result<DeviceLink> plan_device_link(const std::vector<std::string>& files) {
  std::vector<fatbin::RelocatablePart> parts;
  std::set<std::string> defined;
  for (const std::string& file : files) {
    auto found = fatbin::relocatable_parts(file);
    if (!found) return found.error();
    for (fatbin::RelocatablePart& part : *found) {
      defined.insert(part.defines.begin(), part.defines.end());
      if (!part.registers.empty()) parts.push_back(std::move(part));
    }
  }
  std::erase_if(parts, [&defined](const auto& part) { return defined.contains(part.registers); });
  std::vector<PtxSymbols> symbols;
  for (const auto& part : parts) symbols.push_back(symbols_of(part));
  Resolution resolution;
  for (std::size_t i = 0; i < parts.size(); i++)
    if (!parts[i].in_archive) resolution.take(symbols[i]);
  std::vector<bool> embedded(parts.size());
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < parts.size(); i++) {
      if (!parts[i].in_archive || embedded[i] || !resolution.needs(symbols[i])) continue;
      resolution.take(symbols[i]);
      embedded[i] = again = true;
    }
  }
  DeviceLink out;
  for (std::size_t i = 0; i < parts.size(); i++) {
    (embedded[i] ? out.embedded : out.carried).push_back(parts[i].registers);
    if (embedded[i]) out.fatbins.push_back(std::move(parts[i].fatbin));
  }
  return out;
}

std::string device_link_source(const DeviceLink& link, const std::vector<std::string>& fatbin_files) {
  WG_ASSERT(fatbin_files.size() == link.fatbins.size() && fatbin_files.size() <= link.embedded.size());
  if (!link.needed()) return "";
  std::string declarations, first;
  for (std::size_t i = 0; i < fatbin_files.size(); i++) {
    declarations += fmt::format(fmt::runtime(kEmbedded), i, fatbin_files[i]);
    first += fmt::format("embedded_{}, ", i);
  }
  const std::size_t most = link.carried.size() + link.embedded.size();
  std::string out =
      fmt::format(fmt::runtime(kSource), most, declarations, first.empty() ? "0" : first, fatbin_files.size());
  const std::set<std::string> carried(link.carried.begin(), link.carried.end());
  const std::set<std::string> embedded(link.embedded.begin(), link.embedded.end());
  for (const std::string& name : carried) out += fmt::format("PART({}, part->linked)\n", name);
  for (const std::string& name : embedded)
    if (!carried.contains(name)) out += fmt::format("PART({}, 0)\n", name);
  return out;
}

std::vector<std::string> static_libraries(const std::vector<std::string>& names,
                                          const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  for (const std::string& name : names) {
    for (const std::string& folder : folders) {
      std::error_code problem;
      if (fs::exists(fmt::format("{}/lib{}.so", folder, name), problem)) break;
      const std::string archive = fmt::format("{}/lib{}.a", folder, name);
      if (!fs::exists(archive, problem)) continue;
      out.push_back(archive);
      break;
    }
  }
  return out;
}

}  // namespace warpgrind::toolchain
