// Reader of numbers and texts from the bytes of a DWARF section. Reading past the end gives 0 and sets `failed`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "debuginfo/section_data.h"

namespace warpgrind::debuginfo {

class ByteCursor {
 public:
  ByteCursor(const SectionData& section, std::uint64_t at, std::uint64_t end)
      : section_(&section), at_(at), end_(end < section.bytes.size() ? end : section.bytes.size()) {
    if (at_ > end_) fail();
  }

  std::uint64_t position() const { return at_; }
  std::uint64_t left() const { return end_ - at_; }
  bool failed() const { return failed_; }
  bool done() const { return failed_ || at_ >= end_; }

  // A number of 1 to 8 bytes, little-endian.
  std::uint64_t number(unsigned size) {
    if (left() < size) return fail();
    std::uint64_t n = 0;
    for (unsigned i = 0; i < size; ++i) n |= std::uint64_t{section_->bytes[at_ + i]} << (8 * i);
    at_ += size;
    return n;
  }
  std::uint64_t uleb() {
    std::uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (done()) return fail();
      const std::uint8_t byte = section_->bytes[at_++];
      if (shift < 64) n |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return n;
    }
  }
  std::int64_t sleb() {
    std::uint64_t n = 0;
    for (unsigned shift = 0;;) {
      if (done()) return static_cast<std::int64_t>(fail());
      const std::uint8_t byte = section_->bytes[at_++];
      if (shift < 64) n |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if (shift < 64 && (byte & 0x40)) n |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(n);
    }
  }
  // A PTX register's name: a ULEB128 number whose bytes, most significant first, are the name's characters.
  std::string register_name() {
    std::string name;  // bytes, least significant first
    unsigned bits = 0, pending = 0;
    for (;;) {
      if (done()) {
        fail();
        return {};
      }
      const std::uint8_t byte = section_->bytes[at_++];
      pending |= (byte & 0x7fu) << bits;
      for (bits += 7; bits >= 8; bits -= 8, pending >>= 8) name.push_back(static_cast<char>(pending & 0xff));
      if (byte >= 0x80) continue;
      if (pending != 0) name.push_back(static_cast<char>(pending));
      break;
    }
    while (!name.empty() && name.back() == 0) name.pop_back();
    return {name.rbegin(), name.rend()};
  }
  std::string_view text() {
    const std::uint64_t start = at_;
    while (at_ < end_ && section_->bytes[at_] != 0) ++at_;
    if (at_ >= end_) {
      fail();
      return {};
    }
    return {reinterpret_cast<const char*>(section_->bytes.data()) + start, at_++ - start};
  }
  void skip(std::uint64_t bytes) {
    if (bytes > left())
      fail();
    else
      at_ += bytes;
  }
  std::uint64_t fail() {
    failed_ = true;
    at_ = end_;
    return 0;
  }

 private:
  const SectionData* section_;
  std::uint64_t at_, end_;
  bool failed_ = false;
};

}  // namespace warpgrind::debuginfo
