// Bytes of one DWARF section of PTX text (`.section .debug_info {...}`), with the names that stand for addresses in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::debuginfo {

// `.b64 $L__tmp1`, `.b64 x+8`, `.b32 $L__end-$L__begin`: these bytes are 0 in the data.
struct SymbolReference {
  std::uint64_t offset = 0;
  std::uint8_t size = 0;  // bytes
  std::string_view symbol, minus;
  std::int64_t addend = 0;
};

struct SectionData {
  std::vector<std::uint8_t> bytes;
  std::vector<SymbolReference> references;  // by offset
  struct Label {
    std::string_view name;
    std::uint64_t offset = 0;
  };
  std::vector<Label> labels;
  std::string problem;  // empty: the text was read to its end

  const SymbolReference* reference_at(std::uint64_t offset) const;
};

// Appends the bytes of `text`, which has to live as long as `data`: names point into it.
void read_section(std::string_view text, SectionData& data);

}  // namespace warpgrind::debuginfo
