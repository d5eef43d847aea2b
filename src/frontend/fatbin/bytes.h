// Bounds-checked reading of little-endian numbers from bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace warpgrind::fatbin {

using Bytes = std::span<const std::byte>;

template <class T>
std::optional<T> read(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The part [offset, offset + size); nullopt if it does not lie inside.
inline std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

// The NUL-terminated text at `offset`; empty if that lies outside.
inline std::string_view text_at(Bytes bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const auto* start = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {start, strnlen(start, bytes.size() - offset)};
}

// Magic numbers and sizes of the container format, as nvcc writes it.
inline constexpr std::uint32_t kFatbinMagic = 0xBA55ED50, kWrapperMagic = 0x466243b1;
inline constexpr std::uint32_t kFatbinHeader = 16, kEntryHeader = 64;  // without name and options
inline constexpr std::uint64_t kFlagDebug = 0x2;

Error damaged(const char* what);  // "the fatbin is damaged: WHAT"

}  // namespace warpgrind::fatbin
