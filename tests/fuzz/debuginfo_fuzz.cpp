// PTX with DWARF: whatever the sections hold, a debugger gets answers or problems, and never a crash.
#include <cstdint>
#include <string>

#include "debuginfo/debug_info.h"
#include "ptx/parser.h"

namespace debuginfo = warpgrind::debuginfo;

namespace {

void read_type(const debuginfo::DebugInfo& info, debuginfo::TypeId id) {
  (void)info.type_name(id);
  (void)info.strip(id);
  for (const debuginfo::Member& m : info.type(id).members) (void)info.type_name(m.type);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto module = warpgrind::ptx::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!module) return 0;
  const debuginfo::DebugInfo info(*module);
  for (std::uint32_t f = 0; f < info.module().functions.size(); ++f) {
    const warpgrind::ptx::Function& function = info.module().functions[f];
    if (!function.has_body) continue;
    (void)info.function(f);
    (void)info.find_function(function.name);
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      const std::size_t frames = info.frames({f, i}).size();
      for (std::uint32_t frame = 0; frame < frames; ++frame)
        for (const debuginfo::VisibleVariable& v : info.variables({f, i}, frame)) read_type(info, v.variable->type);
      const debuginfo::SourcePlace place = info.place({f, i});
      if (i % 16 == 0) (void)info.find_line(place.file, place.line - 1);
    }
  }
  for (const debuginfo::Variable& v : info.globals()) read_type(info, v.type);
  (void)info.find_type("int");
  return 0;
}
