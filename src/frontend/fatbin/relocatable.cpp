// Symbols in objects of -rdc=true by which the device link step links them.
#include <ar.h>
#include <elf.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "base/digest.h"
#include "base/file.h"
#include "fatbin/elf_image.h"
#include "fatbin/write.h"

namespace warpgrind::fatbin {

namespace {

constexpr std::string_view kRegister = "__cudaRegisterLinkedBinary";
constexpr std::string_view kModule = "__nv_";  // clang's prefix; at most sixteen hexadecimal digits follow

void read_object(Bytes file, bool in_archive, std::vector<RelocatablePart>& out) {
  const auto image = ElfImage::open(file);
  if (!image || !image->is_relocatable()) return;
  RelocatablePart part;
  part.in_archive = in_archive;
  for (const ElfSection& table : image->sections()) {
    if (table.type != SHT_SYMTAB || table.link >= image->sections().size()) continue;
    const Bytes names = image->sections()[table.link].bytes;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = *read<Elf64_Sym>(table.bytes, at);
      const std::string_view name = text_at(names, symbol.st_name);
      if (!name.starts_with(kRegister)) continue;
      if (symbol.st_shndx == SHN_UNDEF) part.registers = name;
      if (symbol.st_shndx != SHN_UNDEF) part.defines.emplace_back(name);
    }
  }
  if (const ElfSection* section = image->section("__nv_relfatbin"))
    part.fatbin.assign(reinterpret_cast<const char*>(section->bytes.data()), section->bytes.size());
  if (!part.registers.empty() || !part.defines.empty()) out.push_back(std::move(part));
}

// Archive members follow each other. Each has a header with its size in decimal.
void read_archive(Bytes file, std::vector<RelocatablePart>& out) {
  std::uint64_t at = SARMAG;
  while (const auto header = slice(file, at, sizeof(ar_hdr))) {
    const std::string_view digits(reinterpret_cast<const char*>(header->data()) + offsetof(ar_hdr, ar_size),
                                  sizeof(ar_hdr::ar_size));
    std::uint64_t size = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc()) return;
    at += sizeof(ar_hdr);
    const auto member = slice(file, at, size);
    if (!member) return;
    read_object(*member, true, out);
    at += size + size % 2;
  }
}

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

}  // namespace

void rename_module(std::string& object, std::string_view unique) {
  const std::string name = std::string(kRegister) + std::string(kModule);
  const auto found = object.find(name);
  if (found == std::string::npos) return;
  const std::size_t begin = found + name.size();
  std::size_t end = begin;
  while (end < object.size() && is_hexadecimal(object[end])) end++;
  const std::string old = std::string(kModule) + object.substr(begin, end - begin);
  const std::string digits = digest(unique).substr(0, end - begin);
  if (digits.size() != end - begin) return;
  for (std::size_t at = object.find(old); at != std::string::npos; at = object.find(old, at + old.size()))
    object.replace(at + kModule.size(), digits.size(), digits);
}

Result<std::vector<RelocatablePart>> relocatable_parts(const std::string& path) {
  const std::optional<std::string> content = read_whole(path, kLargestProgram);
  if (!content) return Error{ErrorKind::bad_input, fmt::format("cannot read {}", path), ""};
  return relocatable_parts_of(*content);
}

std::vector<RelocatablePart> relocatable_parts_of(std::string_view file) {
  const Bytes bytes(reinterpret_cast<const std::byte*>(file.data()), file.size());
  std::vector<RelocatablePart> out;
  if (file.starts_with(ARMAG)) {
    read_archive(bytes, out);
  } else {
    read_object(bytes, false, out);
  }
  return out;
}

}  // namespace warpgrind::fatbin
