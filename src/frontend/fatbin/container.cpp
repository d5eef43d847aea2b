// Reader of the fatbin container: header, entries, wrappers.
#include <fmt/format.h>

#include "fatbin/bytes.h"
#include "fatbin/fatbin.h"

namespace warpgrind::fatbin {

Error damaged(const char* what) {
  return {ErrorKind::bad_input, fmt::format("the fatbin is damaged: {}", what),
          "Rebuild the program; the file may be truncated."};
}

namespace {

constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;

struct RawEntry {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t payload_size;
  std::uint32_t compressed_size;
  std::uint32_t options_offset;
  std::uint16_t minor, major;
  std::uint32_t arch;
  std::uint32_t name_offset, name_length;
  std::uint64_t flags;
  std::uint64_t zero;
  std::uint64_t uncompressed_size;
};
static_assert(sizeof(RawEntry) == kEntryHeader);

std::string text_in(Bytes header, std::uint64_t offset, std::uint64_t length) {
  const auto part = slice(header, offset, length);
  if (!part) return "";
  std::string text(reinterpret_cast<const char*>(part->data()), part->size());
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

// The entry at `offset`; nullopt for kinds other than PTX and machine code. `end`: the offset behind it.
Result<std::optional<FatbinEntry>> read_entry(Bytes bytes, std::uint64_t offset, std::uint64_t& end) {
  const auto raw = read<RawEntry>(bytes, offset);
  if (!raw) return damaged("the header of an entry is incomplete");
  if (raw->header_size < kEntryHeader) return damaged("an entry's header is too small");
  const auto header = slice(bytes, offset, raw->header_size);
  const auto payload = slice(bytes, offset + raw->header_size, raw->payload_size);
  if (!header || !payload) return damaged("an entry is incomplete");
  end = offset + raw->header_size + raw->payload_size;
  if (raw->kind != 1 && raw->kind != 2) return std::optional<FatbinEntry>{};
  FatbinEntry e;
  e.kind = raw->kind == 1 ? EntryKind::ptx : EntryKind::cubin;
  e.arch = raw->arch;
  e.major = raw->major;
  e.minor = raw->minor;
  e.debug = (raw->flags & kFlagDebug) != 0;
  if (raw->name_length != 0) e.name = text_in(*header, raw->name_offset, raw->name_length);
  if (e.kind == EntryKind::ptx && raw->options_offset != 0) {
    const auto at = read<std::uint32_t>(*header, raw->options_offset),
               length = read<std::uint32_t>(*header, std::uint64_t{raw->options_offset} + 4);
    if (at && length) e.options = text_in(*header, *at, *length);
  }
  if ((raw->flags & kFlagZstd) != 0) e.compression = Compression::zstd;
  if ((raw->flags & kFlagLz4) != 0) e.compression = Compression::lz4;
  if (raw->uncompressed_size == 0 || raw->compressed_size == 0) e.compression = Compression::none;
  e.payload = *payload;
  e.size = payload->size();
  if (e.compression != Compression::none) {
    if (raw->compressed_size > payload->size()) return damaged("a compressed entry is larger than its place");
    e.payload = payload->first(raw->compressed_size);
    e.size = raw->uncompressed_size;
  }
  return std::optional(std::move(e));
}

}  // namespace

Result<std::vector<FatbinEntry>> read_fatbin(Bytes bytes, const std::shared_ptr<const void>& owner,
                                             std::uint32_t first_image) {
  std::vector<FatbinEntry> entries;
  std::uint64_t offset = 0;
  std::uint32_t image = first_image;
  while (offset < bytes.size()) {
    if (bytes.size() - offset < kFatbinHeader) {
      if (offset != 0) break;  // padding
      return damaged("it is shorter than its header");
    }
    const std::uint32_t magic = *read<std::uint32_t>(bytes, offset);
    if (magic == 0 && offset != 0) {  // padding between fatbins of one section
      offset += 8;
      continue;
    }
    if (magic != kFatbinMagic) return damaged("the magic number is wrong");
    const std::uint16_t header_size = *read<std::uint16_t>(bytes, offset + 6);
    const std::uint64_t size = *read<std::uint64_t>(bytes, offset + 8);
    if (header_size < kFatbinHeader) return damaged("the header is too small");
    const auto body = slice(bytes, offset + header_size, size);
    if (!body) return damaged("it is incomplete");
    for (std::uint64_t at = 0; at < body->size();) {
      auto entry = read_entry(*body, at, at);
      if (!entry) return entry.error();
      if (!*entry) continue;
      entry.value()->image = image;
      entry.value()->owner = owner;
      entries.push_back(*entry.take());
    }
    ++image;
    offset += header_size + size;
  }
  return entries;
}

namespace {

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* const* fatbins;
};

Wrapper wrapper_at(const void* address) {
  Wrapper w;
  std::memcpy(&w, address, sizeof w);
  return w;
}

}  // namespace

bool gets_parts_later(const void* wrapper) {
  const Wrapper w = wrapper_at(wrapper);
  return w.magic == kWrapperMagic && w.version == 2;
}

Result<std::vector<FatbinEntry>> read_wrapper(const void* wrapper) {
  const Wrapper w = wrapper_at(wrapper);
  if (w.magic != kWrapperMagic) return damaged("the wrapper's magic number is wrong");
  if (w.version != 1 && w.version != 2) {
    return Error{ErrorKind::unsupported, fmt::format("fatbin wrapper of version {}", w.version), ""};
  }
  std::vector<FatbinEntry> all;
  std::uint32_t image = 0;
  const auto add = [&](const void* fatbin, bool linked) -> Status {
    const auto* start = static_cast<const std::byte*>(fatbin);
    const Bytes header(start, kFatbinHeader);
    if (*read<std::uint32_t>(header, 0) != kFatbinMagic) return damaged("the magic number is wrong");
    auto entries =
        read_fatbin(Bytes(start, *read<std::uint16_t>(header, 6) + *read<std::uint64_t>(header, 8)), nullptr, image++);
    if (!entries) return entries.error();
    for (FatbinEntry& e : *entries) {
      e.linked = linked;
      all.push_back(std::move(e));
    }
    return Ok{};
  };
  if (w.data) {
    if (const Status s = add(w.data, w.version == 2); !s) return s.error();
  }
  for (const void* const* f = w.version == 2 ? w.fatbins : nullptr; f && *f; ++f) {
    if (const Status s = add(*f, false); !s) return s.error();
  }
  return all;
}

}  // namespace warpgrind::fatbin
