#include "cudart/program_image.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace warpgrind::cudart {

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        auto& objects = *static_cast<std::vector<LoadedObject>*>(list);
        LoadedObject object;
        object.is_executable = objects.empty();  // the executable comes first
        object.path = object.is_executable ? "/proc/self/exe" : info->dlpi_name ? info->dlpi_name : "";
        object.base = info->dlpi_addr;
        objects.push_back(std::move(object));
        return 0;
      },
      &out);
  // The kernel's own object has no file. A library may have been opened by a relative path.
  std::erase_if(out, [](const LoadedObject& o) { return o.path.find('/') == std::string::npos; });
  return out;
}

ProgramImage::~ProgramImage() {
  if (data_) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

bool ProgramImage::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info {};
  bool good = ::fstat(fd, &info) == 0 && static_cast<std::size_t>(info.st_size) >= sizeof(Elf64_Ehdr);
  void* map =
      good ? ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (map == MAP_FAILED) return false;
  data_ = static_cast<const std::uint8_t*>(map);
  size_ = static_cast<std::size_t>(info.st_size);
  Elf64_Ehdr header;
  std::memcpy(&header, data_, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > size_ ||
      (size_ - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum)
    return header.e_shoff == 0;
  std::vector<Elf64_Shdr> raw(header.e_shnum);
  std::memcpy(raw.data(), data_ + header.e_shoff, raw.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& s : raw)
    if (s.sh_type != SHT_NOBITS && (s.sh_offset > size_ || size_ - s.sh_offset < s.sh_size)) return false;
  for (const Elf64_Shdr& s : raw) {
    Section names;
    if (header.e_shstrndx < raw.size()) {
      names.offset = raw[header.e_shstrndx].sh_offset;
      names.size = raw[header.e_shstrndx].sh_size;
    }
    sections_.push_back({string(names, s.sh_name), s.sh_type, s.sh_link, s.sh_offset, s.sh_size, s.sh_entsize});
  }
  return true;
}

const char* ProgramImage::string(const Section& table, std::uint64_t at) const {
  if (at >= table.size) return "";
  const auto* text = reinterpret_cast<const char*>(data_ + table.offset + at);
  return std::memchr(text, 0, table.size - at) ? text : "";
}

const ProgramImage::Section* ProgramImage::section(const char* name) const {
  for (const Section& s : sections_)
    if (s.name == name) return &s;
  return nullptr;
}

bool ProgramImage::has_cuda_code() const {
  return section(".nvFatBinSegment") || section(".nv_fatbin") || section("__nv_relfatbin");
}

bool ProgramImage::has_symbol_table() const {
  return section(".symtab") != nullptr;
}

bool ProgramImage::needs_shared_runtime() const {
  const Section* dynamic = section(".dynamic");
  if (!dynamic || dynamic->link >= sections_.size()) return false;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->size; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, data_ + dynamic->offset + at, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED &&
        std::strncmp(string(sections_[dynamic->link], entry.d_un.d_val), "libcudart.so", 12) == 0)
      return true;
  }
  return false;
}

std::vector<ProgramImage::Function> ProgramImage::runtime_functions() const {
  std::vector<Function> out;
  bool registers = false;
  for (const Section& table : sections_) {
    if ((table.type != SHT_SYMTAB && table.type != SHT_DYNSYM) || table.link >= sections_.size()) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, data_ + table.offset + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
      const char* name = string(sections_[table.link], symbol.st_name);
      if (std::strncmp(name, "cuda", 4) != 0 && std::strncmp(name, "__cuda", 6) != 0) continue;
      registers |= std::strcmp(name, "__cudaRegisterFatBinary") == 0;
      // Functions start at multiples of 16: what follows a short one up to there is padding.
      out.push_back({name, symbol.st_value, (symbol.st_size + 15) & ~std::uint64_t{15}});
    }
  }
  if (!registers) out.clear();
  return out;
}

}  // namespace warpgrind::cudart
