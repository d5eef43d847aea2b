// Reader of ELF files, as far as fatbins and register counts need it: sections by name, bytes by address, relative
// relocations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fatbin/bytes.h"

namespace warpgrind::fatbin {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0, link = 0;
  std::uint64_t address = 0;
  std::uint64_t entry_size = 0;
  Bytes bytes;  // empty for a section without content, or with content outside the file
};

class ElfImage {
 public:
  // nullopt if the bytes are not a 64-bit little-endian ELF file with a readable section table.
  static std::optional<ElfImage> open(Bytes file);

  bool is_relocatable() const { return type_ == 1; }
  bool is_cubin() const { return machine_ == 190; }  // EM_CUDA
  std::uint32_t flags() const { return flags_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const ElfSection* section(std::string_view name) const;
  // The content from `address` to the end of its section.
  std::optional<Bytes> at(std::uint64_t address) const;
  // The pointer stored at `address`, as relocated by the loader for load address 0.
  std::optional<std::uint64_t> pointer(std::uint64_t address) const;

 private:
  void read_relocations() const;

  std::uint16_t type_ = 0, machine_ = 0;
  std::uint32_t flags_ = 0;
  std::vector<ElfSection> sections_;
  // address -> value. Read on the first call of pointer(); most users never call it.
  mutable std::optional<std::unordered_map<std::uint64_t, std::uint64_t>> relative_;
};

// Folders that the loader searches for a program's libraries before its usual ones: DT_RUNPATH, DT_RPATH.
std::vector<std::string> run_path(const ElfImage& image);

// Libraries that the loader loads with the image: DT_NEEDED, as names or whole paths.
std::vector<std::string> needed_libraries(const ElfImage& image);

inline bool is_elf(Bytes bytes) {
  constexpr unsigned char kMagic[] = {0x7f, 'E', 'L', 'F'};
  return bytes.size() >= 4 && std::memcmp(bytes.data(), kMagic, 4) == 0;
}

}  // namespace warpgrind::fatbin
