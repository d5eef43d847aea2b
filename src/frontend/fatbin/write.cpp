// Writer of the fatbin container, uncompressed.
#include "fatbin/write.h"

#include <elf.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "fatbin/bytes.h"
#include "fatbin/elf_image.h"

namespace warpgrind::fatbin {

namespace {

constexpr std::uint16_t kKindPtx = 1, kEntryVersion = 0x0101;
constexpr std::uint64_t kFlags64BitLinux = 0x11;
constexpr std::size_t kAlignment = 8;

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void align(std::string& out, std::size_t to) {
  out.append((to - out.size() % to) % to, '\0');
}

// Reads ".version 8.5".
std::pair<std::uint16_t, std::uint16_t> version_of(std::string_view text) {
  constexpr std::string_view kWord = ".version ";
  std::uint16_t major = 0, minor = 0;
  const auto at = text.find(kWord);
  if (at == std::string_view::npos) return {0, 0};
  const char* const end = text.data() + text.size();
  const auto [dot, problem] = std::from_chars(text.data() + at + kWord.size(), end, major);
  if (problem == std::errc() && dot + 1 < end) std::from_chars(dot + 1, end, minor);
  return {major, minor};
}

std::string entry(const PtxCode& code) {
  // The header, then the data that its offsets point to: the options (offset, length, text) and the name.
  const std::string options = code.line_info ? "--generate-line-info" : "";
  std::string tail;
  std::uint32_t options_at = 0, name_at = 0;
  if (!options.empty()) {
    options_at = kEntryHeader;
    put<std::uint32_t>(tail, kEntryHeader + 8);
    put<std::uint32_t>(tail, static_cast<std::uint32_t>(options.size()));
    tail += options;
    align(tail, kAlignment);
  }
  if (!code.source.empty()) {
    name_at = kEntryHeader + static_cast<std::uint32_t>(tail.size());
    tail += code.source;
    align(tail, kAlignment);
  }
  std::string payload = code.text;
  payload += '\0';
  align(payload, kAlignment);
  const auto [major, minor] = version_of(code.text);
  std::string out;
  put<std::uint16_t>(out, kKindPtx);
  put<std::uint16_t>(out, kEntryVersion);
  put<std::uint32_t>(out, kEntryHeader + static_cast<std::uint32_t>(tail.size()));
  put<std::uint64_t>(out, payload.size());
  put<std::uint32_t>(out, 0);  // compressed size
  put<std::uint32_t>(out, options_at);
  put<std::uint16_t>(out, minor);
  put<std::uint16_t>(out, major);
  put<std::uint32_t>(out, code.arch);
  put<std::uint32_t>(out, name_at);
  put<std::uint32_t>(out, static_cast<std::uint32_t>(code.source.size()));
  put<std::uint64_t>(out, kFlags64BitLinux | (code.debug ? kFlagDebug : 0));
  put<std::uint64_t>(out, 0);
  put<std::uint64_t>(out, 0);  // uncompressed size
  return out + tail + payload;
}

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

Error not_an_object(std::string_view what) {
  return {ErrorKind::bad_input, fmt::format("not an object file of this machine: {}", what), ""};
}

}  // namespace

std::string make_fatbin(const std::vector<PtxCode>& codes) {
  std::string body;
  for (const PtxCode& code : codes) body += entry(code);
  std::string out;
  put<std::uint32_t>(out, kFatbinMagic);
  put<std::uint16_t>(out, 1);
  put<std::uint16_t>(out, kFatbinHeader);
  put<std::uint64_t>(out, body.size());
  return out + body;
}

Result<bool> replace_section(std::string& object, std::string_view section, std::string_view content) {
  const auto image = ElfImage::open(bytes_of(object));
  const auto header = read<Elf64_Ehdr>(bytes_of(object), 0);
  if (!image || !image->is_relocatable()) return not_an_object("the host compiler's output");
  std::optional<std::size_t> index;
  for (std::size_t i = 0; i < image->sections().size(); i++) {
    if (image->sections()[i].name != section) continue;
    if (index) return not_an_object(fmt::format("two sections {}", section));
    index = i;
  }
  if (!index) return false;
  const std::uint64_t at = header->e_shoff + *index * sizeof(Elf64_Shdr);
  auto where = *read<Elf64_Shdr>(bytes_of(object), at);
  align(object, std::max<std::size_t>(where.sh_addralign, 1));
  where.sh_offset = object.size();
  where.sh_size = content.size();
  object += content;
  std::memcpy(object.data() + at, &where, sizeof where);
  return true;
}

}  // namespace warpgrind::fatbin
