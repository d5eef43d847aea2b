// Unpacking of payloads: decompression, PTX text, and what cubins say of registers and stack.
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <map>

#include "fatbin/bytes.h"
#include "fatbin/elf_image.h"
#include "fatbin/fatbin.h"

namespace warpgrind::fatbin {

namespace {

// A size in the header beyond these limits means damage: no compiler's output shrinks a thousandfold, and LZ4 stops at
// 255.
constexpr std::uint64_t kFreeSize = 64u << 20, kHighestRatio = 1000, kLargest = 0x7e000000;

template <class Buffer>
Result<Buffer> unpack(const FatbinEntry& e) {
  const auto failed = [&e](const char* what) {
    const char* kind = e.compression == Compression::zstd ? "zstd" : "LZ4";
    return Error{ErrorKind::bad_input, fmt::format("the fatbin is damaged: {} entry for sm_{}: {}", kind, e.arch, what),
                 "Rebuild the program; the file may be truncated."};
  };
  Buffer out;
  if (e.compression == Compression::none) {
    out.resize(e.payload.size());
    if (!out.empty()) std::memcpy(out.data(), e.payload.data(), out.size());
    return out;
  }
  if (e.size > kFreeSize + kHighestRatio * e.payload.size() || e.size > kLargest) return failed("impossible size");
  if (e.compression == Compression::zstd) {
    const unsigned long long stated = ZSTD_getFrameContentSize(e.payload.data(), e.payload.size());
    if (stated == ZSTD_CONTENTSIZE_ERROR) return failed("not a zstd frame");
    if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated > e.size) return failed("the size does not match");
  }
  out.resize(e.size);
  std::size_t written = 0;
  if (e.compression == Compression::zstd) {
    written = ZSTD_decompress(out.data(), out.size(), e.payload.data(), e.payload.size());
    if (ZSTD_isError(written)) return failed(ZSTD_getErrorName(written));
  } else {
    const int n =
        LZ4_decompress_safe(reinterpret_cast<const char*>(e.payload.data()), reinterpret_cast<char*>(out.data()),
                            static_cast<int>(e.payload.size()), static_cast<int>(out.size()));
    if (n < 0) return failed("cannot be decompressed");
    written = static_cast<std::size_t>(n);
  }
  out.resize(written);
  return out;
}

constexpr std::uint32_t kSymbolTable = 2;  // SHT_SYMTAB

// Function names by symbol index.
std::vector<std::string_view> symbol_names(const ElfImage& elf) {
  struct Symbol {
    std::uint32_t name;
    std::uint8_t info, other;
    std::uint16_t section;
    std::uint64_t value, size;
  };
  std::vector<std::string_view> names;
  for (const ElfSection& s : elf.sections()) {
    if (s.type != kSymbolTable || s.link >= elf.sections().size()) continue;
    const Bytes strings = elf.sections()[s.link].bytes;
    for (std::uint64_t at = 0; at + sizeof(Symbol) <= s.bytes.size(); at += sizeof(Symbol)) {
      names.push_back(text_at(strings, read<Symbol>(s.bytes, at)->name));
    }
    break;
  }
  return names;
}

}  // namespace

Result<std::string> ptx_text(const FatbinEntry& entry) {
  if (entry.kind != EntryKind::ptx) return Error{ErrorKind::bad_input, "the fatbin entry is machine code, not PTX", ""};
  auto text = unpack<std::string>(entry);
  if (!text) return text.error();
  while (!text->empty() && text->back() == '\0') text->pop_back();
  return text;
}

Result<std::vector<std::byte>> cubin_bytes(const FatbinEntry& entry) {
  return unpack<std::vector<std::byte>>(entry);
}

namespace {

// Calls see(attribute, data) for the sized attributes of a section. Attributes: u8 format, u8 attribute, u16 value or
// (format 4) size of the data behind it.
template <class See>
void each_attribute(const ElfSection& section, See see) {
  constexpr std::uint8_t kSized = 4;
  for (std::uint64_t at = 0; at + 4 <= section.bytes.size();) {
    const std::uint8_t format = *read<std::uint8_t>(section.bytes, at),
                       attribute = *read<std::uint8_t>(section.bytes, at + 1);
    const std::uint16_t size = *read<std::uint16_t>(section.bytes, at + 2);
    at += 4;
    if (format != kSized) continue;
    if (const auto data = slice(section.bytes, at, size)) see(attribute, *data);
    at += size;
  }
}

// Attributes whose data is a symbol and a number.
void read_sizes(const ElfSection& info, const std::vector<std::string_view>& names,
                std::map<std::string, MachineCode>& found) {
  constexpr std::uint8_t kFrameSize = 0x11, kMinStackSize = 0x12, kRegisterCount = 0x2f;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> bytes;  // frame, stack
  each_attribute(info, [&](std::uint8_t attribute, Bytes data) {
    const auto symbol = read<std::uint32_t>(data, 0), number = read<std::uint32_t>(data, 4);
    if (!symbol || !number || *symbol >= names.size()) return;
    const std::string name(names[*symbol]);
    if (attribute == kRegisterCount) found[name].registers = *number;
    if (attribute == kFrameSize) bytes[name].first = *number;
    if (attribute == kMinStackSize) bytes[name].second = *number;
  });
  for (auto& [name, code] : found)
    if (const auto it = bytes.find(name); it != bytes.end())
      code.frame_bytes = it->second.first, code.stack_bytes = it->second.second;
}

// Instructions that EIATTR_ANNOTATIONS marks as spills: pairs of a kind (1: spill or reload) and the offset in the
// function's code. Seen with ptxas 13.0: all local loads and stores of 24 kernels that spill, and none of 9 kernels
// with local arrays.
void read_spills(const ElfSection& of_function, std::uint32_t instruction_bytes, MachineCode& code) {
  constexpr std::uint8_t kAnnotations = 0x55;
  constexpr std::uint32_t kSpill = 1;
  each_attribute(of_function, [&](std::uint8_t attribute, Bytes data) {
    if (attribute != kAnnotations) return;
    for (std::uint64_t at = 0; at + 8 <= data.size(); at += 8)
      if (const std::uint32_t index = *read<std::uint32_t>(data, at + 4) / instruction_bytes;
          *read<std::uint32_t>(data, at) == kSpill && index < code.instructions)
        code.spills.push_back(index);
  });
  std::sort(code.spills.begin(), code.spills.end());
}

}  // namespace

Result<std::map<std::string, MachineCode>> machine_code(const FatbinEntry& cubin) {
  if (cubin.kind != EntryKind::cubin)
    return Error{ErrorKind::bad_input, "the fatbin entry is PTX, not machine code", ""};
  auto bytes = cubin_bytes(cubin);
  if (!bytes) return bytes.error();
  const auto elf = ElfImage::open(*bytes);
  if (!elf) return Error{ErrorKind::bad_input, fmt::format("the cubin for sm_{} is not an ELF file", cubin.arch), ""};
  std::map<std::string, MachineCode> found;
  if (const ElfSection* info = elf->section(".nv.info")) read_sizes(*info, symbol_names(*elf), found);
  const std::uint32_t instruction_bytes = cubin.arch >= 70 ? 16 : 8;
  for (auto& [name, code] : found) {
    if (const ElfSection* text = elf->section(".text." + name))
      code.instructions = text->bytes.size() / instruction_bytes;
    if (const ElfSection* info = elf->section(".nv.info." + name)) read_spills(*info, instruction_bytes, code);
  }
  return found;
}

}  // namespace warpgrind::fatbin
