// Reading of ELF's section table, relocations and dynamic section.
#include "fatbin/elf_image.h"

#include <elf.h>

namespace warpgrind::fatbin {

std::optional<ElfImage> ElfImage::open(Bytes file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!is_elf(file) || !header) return std::nullopt;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  if (header->e_shentsize != sizeof(Elf64_Shdr)) return std::nullopt;
  ElfImage image;
  image.type_ = header->e_type;
  image.machine_ = header->e_machine;
  image.flags_ = header->e_flags;
  std::uint64_t count = header->e_shnum, names = header->e_shstrndx;
  const auto first = read<Elf64_Shdr>(file, header->e_shoff);
  if (!first) return std::nullopt;
  // With more than 65279 sections, section 0 holds the numbers.
  if (count == 0) count = first->sh_size;
  if (names == SHN_XINDEX) names = first->sh_link;
  if (count > file.size() / sizeof(Elf64_Shdr)) return std::nullopt;
  std::vector<Elf64_Shdr> headers;
  for (std::uint64_t k = 0; k < count; ++k) {
    const auto h = read<Elf64_Shdr>(file, header->e_shoff + k * sizeof(Elf64_Shdr));
    if (!h) return std::nullopt;
    headers.push_back(*h);
  }
  const Bytes no_names;
  const Bytes strings =
      names < count ? slice(file, headers[names].sh_offset, headers[names].sh_size).value_or(no_names) : no_names;
  for (const Elf64_Shdr& h : headers) {
    ElfSection s{text_at(strings, h.sh_name), h.sh_type, h.sh_link, h.sh_addr, h.sh_entsize, {}};
    if (h.sh_type != SHT_NOBITS) s.bytes = slice(file, h.sh_offset, h.sh_size).value_or(no_names);
    image.sections_.push_back(s);
  }
  return image;
}

void ElfImage::read_relocations() const {
  auto& relative = relative_.emplace();
  if (is_relocatable() || is_cubin()) return;
  const ElfSection* wanted = section(".nvFatBinSegment");
  if (!wanted) return;
  for (const ElfSection& s : sections_) {
    if (s.type != SHT_RELA) continue;
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Rela) <= s.bytes.size(); offset += sizeof(Elf64_Rela)) {
      const Elf64_Rela r = *read<Elf64_Rela>(s.bytes, offset);
      if (ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE) relative[r.r_offset] = static_cast<std::uint64_t>(r.r_addend);
    }
  }
}

const ElfSection* ElfImage::section(std::string_view name) const {
  for (const ElfSection& s : sections_)
    if (s.name == name) return &s;
  return nullptr;
}

std::optional<Bytes> ElfImage::at(std::uint64_t address) const {
  for (const ElfSection& s : sections_) {
    if (s.address == 0 || address < s.address || address - s.address >= s.bytes.size()) continue;
    return s.bytes.subspan(address - s.address);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfImage::pointer(std::uint64_t address) const {
  if (!relative_) read_relocations();
  if (const auto fixed = relative_->find(address); fixed != relative_->end()) return fixed->second;
  const auto bytes = at(address);
  return bytes ? read<std::uint64_t>(*bytes, 0) : std::nullopt;
}

namespace {

// Calls see(tag, text) for the entries of the dynamic section whose value is a name.
template <class See>
void each_dynamic_name(const ElfImage& image, See see) {
  const ElfSection* dynamic = image.section(".dynamic");
  if (!dynamic || dynamic->link >= image.sections().size()) return;
  const Bytes strings = image.sections()[dynamic->link].bytes;
  for (std::uint64_t at = 0; const auto entry = read<Elf64_Dyn>(dynamic->bytes, at); at += sizeof(Elf64_Dyn)) {
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED || entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH)
      see(entry->d_tag, text_at(strings, entry->d_un.d_val));
  }
}

}  // namespace

std::vector<std::string> run_path(const ElfImage& image) {
  std::vector<std::string> out;
  each_dynamic_name(image, [&](auto tag, std::string_view list) {
    while (tag != DT_NEEDED && !list.empty()) {
      const auto end = list.find(':');
      out.emplace_back(list.substr(0, end));
      list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
    }
  });
  return out;
}

std::vector<std::string> needed_libraries(const ElfImage& image) {
  std::vector<std::string> out;
  each_dynamic_name(image, [&](auto tag, std::string_view name) {
    if (tag == DT_NEEDED) out.emplace_back(name);
  });
  return out;
}

}  // namespace warpgrind::fatbin
