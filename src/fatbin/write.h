// Makes what fatbin.h reads: fatbins of PTX, and objects that hold them.
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
// One fatbin; the PTX version is what the text says.
std::string make_fatbin(const std::vector<PtxCode>& codes);

// Gives `section` of a relocatable object (the whole file) other content, of any size: all of what lies in it is
// replaced. False: there is no such section.
Result<bool> replace_section(std::string& object, std::string_view section, std::string_view content);

// Host code of -rdc=true calls __cudaRegisterLinkedBinary<ID>, which the device link step is to define, and defines
// __fatbinwrap<ID>. The compiler takes the ID from the name of the source as given, so that two files of one name in
// different folders clash: this makes it one from `unique`.
void rename_module(std::string& object, std::string_view unique);

// What the device link step sees of an object, or of each member of an archive, that has something of it.
struct RelocatablePart {
  std::string registers;             // the function that it calls; empty: none
  std::vector<std::string> defines;  // such functions, when an earlier device link made it
  std::string fatbin;
  bool in_archive = false;  // taken by the linker only when something of it is needed
};
Result<std::vector<RelocatablePart>> relocatable_parts(const std::string& path);
// Likewise of such a file in memory.
std::vector<RelocatablePart> relocatable_parts_of(std::string_view file);

}  // namespace warpgrind::fatbin
