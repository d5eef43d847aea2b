// Writer of fatbins with PTX, and editing of the objects that hold them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpgrind::fatbin {

struct PtxCode {
  std::string text;
  std::uint32_t arch = 0;  // compute capability times 10
  std::string source;      // the .cu file, or empty
  bool debug = false;      // -G
  bool line_info = false;  // -lineinfo
};
// Makes one fatbin. The PTX version is read from the text.
std::string make_fatbin(const std::vector<PtxCode>& codes);

// Replaces the content of `section` in a relocatable object; `object` is the whole file. The new content may have any
// size. Returns false if there is no such section.
Result<bool> replace_section(std::string& object, std::string_view section, std::string_view content);

// Makes the module ID in an object unique. Host code of -rdc=true calls __cudaRegisterLinkedBinary<ID>, which the
// device link step must define, and defines __fatbinwrap<ID>. The compiler derives the ID from the source's name as
// given, so files of the same name in different folders would clash. This derives it from `unique`.
void rename_module(std::string& object, std::string_view unique);

// Input of the device link step from one object, or from one member of an archive. Objects without device code have
// none.
struct RelocatablePart {
  std::string registers;             // the registration function that it calls; empty: none
  std::vector<std::string> defines;  // registration functions that it defines, if an earlier device link made it
  std::string fatbin;
  bool in_archive = false;  // the linker takes it only if one of its symbols is needed
};
Result<std::vector<RelocatablePart>> relocatable_parts(const std::string& path);
// The same for a file in memory.
std::vector<RelocatablePart> relocatable_parts_of(std::string_view file);

}  // namespace warpgrind::fatbin
