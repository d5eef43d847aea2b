// The little of ELF that finding fatbins and register counts needs: sections by name, bytes by address, relative
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
  Bytes bytes;  // empty for sections without content, or when it lies outside the file
};

class ElfImage {
 public:
  // Nothing when the bytes are no 64-bit little-endian ELF file with a readable section table.
  static std::optional<ElfImage> open(Bytes file);

  bool is_relocatable() const { return type_ == 1; }
  bool is_cubin() const { return machine_ == 190; }  // EM_CUDA
  std::uint32_t flags() const { return flags_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const ElfSection* section(std::string_view name) const;
  // The content from `address` to the end of its section.
  std::optional<Bytes> at(std::uint64_t address) const;
  // The pointer stored at `address`, as the loader would fix it up for load address 0.
  std::optional<std::uint64_t> pointer(std::uint64_t address) const;

 private:
  void read_relocations() const;

  std::uint16_t type_ = 0, machine_ = 0;
  std::uint32_t flags_ = 0;
  std::vector<ElfSection> sections_;
  // address -> value; read when a pointer is first asked for, which most readers never do.
  mutable std::optional<std::unordered_map<std::uint64_t, std::uint64_t>> relative_;
};

// Where the loader looks for a program's libraries before its usual places: DT_RUNPATH, DT_RPATH.
std::vector<std::string> run_path(const ElfImage& image);

// The libraries that the loader must find first: DT_NEEDED, names or whole paths.
std::vector<std::string> needed_libraries(const ElfImage& image);

inline bool is_elf(Bytes bytes) {
  constexpr unsigned char kMagic[] = {0x7f, 'E', 'L', 'F'};
  return bytes.size() >= 4 && std::memcmp(bytes.data(), kMagic, 4) == 0;
}

}  // namespace warpgrind::fatbin
