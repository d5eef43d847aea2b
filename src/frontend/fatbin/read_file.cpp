// Search for PTX in files of all supported types.
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "fatbin/bytes.h"
#include "fatbin/elf_image.h"
#include "fatbin/fatbin.h"
#include "fatbin/mapped_file.h"

namespace warpgrind::fatbin {

namespace {

constexpr std::uint64_t kWrapperSize = 24;

using Entries = std::vector<FatbinEntry>;

// Appends the fatbins in `bytes`; numbers their images from `next_image` on.
Status append(Bytes bytes, const std::shared_ptr<const void>& owner, std::uint32_t& next_image, Entries& all) {
  auto entries = read_fatbin(bytes, owner, next_image);
  if (!entries) return entries.error();
  for (FatbinEntry& e : *entries) {
    next_image = std::max(next_image, e.image + 1);
    all.push_back(std::move(e));
  }
  return Ok{};
}

// Appends the fatbin at an address of a program file.
Status append_at(const ElfImage& elf, std::uint64_t address, const std::shared_ptr<const void>& owner,
                 std::uint32_t& next_image, Entries& all) {
  const auto content = elf.at(address);
  if (!content) return damaged("a wrapper points outside the file");
  const auto magic = read<std::uint32_t>(*content, 0);
  const auto header = read<std::uint16_t>(*content, 6);
  const auto size = read<std::uint64_t>(*content, 8);
  if (!magic || !header || !size || *magic != kFatbinMagic) return damaged("a wrapper points to something else");
  const auto body = *size > content->size() ? std::nullopt : slice(*content, 0, *header + *size);
  if (!body) return damaged("it is incomplete");
  return append(*body, owner, next_image, all);
}

bool has_linked_code(const ElfSection& segment) {
  for (std::uint64_t at = 0; at + kWrapperSize <= segment.bytes.size(); at += kWrapperSize) {
    if (*read<std::uint32_t>(segment.bytes, at + 4) == 2) return true;
  }
  return false;
}

// Executables and shared objects: the wrappers hold the addresses of the fatbins.
Status read_wrappers(const ElfImage& elf, const ElfSection& segment, const std::shared_ptr<const void>& owner,
                     Entries& all) {
  const ElfSection* relocatable = elf.section("__nv_relfatbin");
  const bool linked_code = has_linked_code(segment);
  std::uint32_t next_image = 0;
  bool relocatable_read = false;
  std::size_t tagged = 0;  // entries whose wrapper is set
  for (std::uint64_t at = 0; at + kWrapperSize <= segment.bytes.size(); at += kWrapperSize) {
    if (*read<std::uint32_t>(segment.bytes, at) != kWrapperMagic) return damaged("a wrapper's magic number is wrong");
    const std::uint32_t version = *read<std::uint32_t>(segment.bytes, at + 4);
    if (version != 1 && version != 2)
      return Error{ErrorKind::unsupported, fmt::format("fatbin wrapper of version {}", version), ""};
    const auto data = elf.pointer(segment.address + at + 8);
    if (!data) return damaged("a wrapper is incomplete");
    // Each object of -rdc=true has a wrapper too. The program passes its image on through the wrapper of version 2.
    const bool part =
        linked_code && version == 1 && relocatable && *data - relocatable->address < relocatable->bytes.size();
    if (*data != 0 && !part) {
      if (const Status s = append_at(elf, *data, owner, next_image, all); !s) return s;
    }
    const auto tag = [&](bool linked) {
      for (; tagged < all.size(); ++tagged) {
        all[tagged].wrapper = static_cast<std::uint32_t>(at / kWrapperSize);
        all[tagged].linked = linked;
      }
    };
    tag(version == 2);
    if (version == 1) continue;
    // The array of relocatable fatbins is filled when the program starts. In the file, they lie one after the other in
    // a section.
    if (!relocatable || relocatable_read) continue;
    if (const Status s = append(relocatable->bytes, owner, next_image, all); !s) return s;
    relocatable_read = true;
    tag(false);
  }
  return Ok{};
}

Result<Entries> read_elf(const ElfImage& elf, Bytes file, const std::shared_ptr<const void>& owner) {
  Entries all;
  if (elf.is_cubin()) {
    FatbinEntry e;
    e.kind = EntryKind::cubin;
    e.arch = elf.flags() >> 8 & 0xff;
    if (e.arch == 0) e.arch = elf.flags() & 0xff;
    e.payload = file;
    e.size = file.size();
    e.owner = owner;
    all.push_back(std::move(e));
    return all;
  }
  const ElfSection* segment = elf.section(".nvFatBinSegment");
  if (segment && !elf.is_relocatable()) {
    if (const Status s = read_wrappers(elf, *segment, owner, all); !s) return s.error();
    return all;
  }
  std::uint32_t next_image = 0;
  for (const ElfSection& s : elf.sections()) {
    if ((s.name != ".nv_fatbin" && s.name != "__nv_relfatbin") || s.bytes.empty()) continue;
    if (const Status status = append(s.bytes, owner, next_image, all); !status) return status.error();
  }
  return all;
}

// Entry for a .ptx file. Its architecture comes from `.target sm_90`.
FatbinEntry ptx_entry(Bytes file, const std::shared_ptr<const void>& owner, const std::string& path) {
  FatbinEntry e;
  e.kind = EntryKind::ptx;
  e.payload = file;
  e.size = file.size();
  e.owner = owner;
  e.name = path;
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto number_behind = [&text](std::string_view word, std::uint32_t& out) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) return at;
    const char* start = text.data() + at + word.size();
    const auto [end, failure] = std::from_chars(start, text.data() + text.size(), out);
    return failure == std::errc{} ? static_cast<std::size_t>(end - text.data()) : std::string_view::npos;
  };
  number_behind("sm_", e.arch);
  const std::size_t dot = number_behind(".version ", e.major);
  if (dot != std::string_view::npos && dot + 1 < text.size())
    std::from_chars(text.data() + dot + 1, text.data() + text.size(), e.minor);
  return e;
}

// Entries of any file, or of an image in memory. `name`: for messages.
Result<Entries> read_bytes(Bytes bytes, const std::shared_ptr<const void>& owner, const std::string& name) {
  const auto named = [&name](Result<Entries> r) -> Result<Entries> {
    if (r) return r;
    Error e = r.error();
    e.message = fmt::format("{}: {}", name, e.message);
    return e;
  };
  if (is_elf(bytes)) {
    const auto elf = ElfImage::open(bytes);
    if (!elf)
      return Error{ErrorKind::bad_input, fmt::format("{}: the ELF file is damaged or not a 64-bit one", name),
                   "Rebuild the program."};
    return named(read_elf(*elf, bytes, owner));
  }
  if (read<std::uint32_t>(bytes, 0) == kFatbinMagic) return named(read_fatbin(bytes, owner));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.find(".version") == std::string_view::npos) {
    return Error{ErrorKind::bad_input, fmt::format("{}: neither a program, a fatbin nor PTX", name),
                 "Give a program built by nvcc, a .fatbin, .o or .ptx file."};
  }
  return Entries{ptx_entry(bytes, owner, name)};
}

// Size in bytes of the ELF file at `memory`: the end of the last part that its headers name.
std::uint64_t elf_size(const std::byte* memory) {
  Elf64_Ehdr header;
  std::memcpy(&header, memory, sizeof header);
  std::uint64_t end = std::max<std::uint64_t>(sizeof header, header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr));
  end = std::max<std::uint64_t>(end, header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr));
  for (std::uint16_t n = 0; n < header.e_shnum; ++n) {
    Elf64_Shdr section;
    std::memcpy(&section, memory + header.e_shoff + n * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max<std::uint64_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

std::uint64_t image_size(const std::byte* memory) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, memory, sizeof magic);
  if (magic == kFatbinMagic) {
    std::uint16_t header = 0;
    std::uint64_t body = 0;
    std::memcpy(&header, memory + 6, sizeof header);
    std::memcpy(&body, memory + 8, sizeof body);
    return header + body;
  }
  if (std::memcmp(memory, ELFMAG, SELFMAG) == 0) return elf_size(memory);
  return std::strlen(reinterpret_cast<const char*>(memory));
}

}  // namespace

Result<std::vector<FatbinEntry>> read_memory(std::span<const std::byte> bytes, const std::string& name) {
  auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  const Bytes all{copy->data(), copy->size()};
  return read_bytes(all, std::move(copy), name);
}

Result<std::vector<FatbinEntry>> read_image(const void* image, const std::string& name) {
  // A text shorter than a magic number is not an image, and no magic number contains a NUL.
  const auto* memory = static_cast<const std::byte*>(image);
  if (std::memchr(memory, 0, 4) != nullptr)
    return Error{ErrorKind::bad_input, fmt::format("{}: neither a fatbin, a cubin nor PTX", name), ""};
  std::uint32_t magic = 0;
  std::memcpy(&magic, memory, sizeof magic);
  if (magic == kWrapperMagic) return read_wrapper(image);
  return read_memory({memory, image_size(memory)}, name);
}

Result<std::vector<FatbinEntry>> read_file(const std::string& path) {
  auto mapping = map_file(path);
  if (!mapping) return mapping.error();
  return read_bytes((*mapping)->bytes(), *mapping, path);
}

}  // namespace warpgrind::fatbin
