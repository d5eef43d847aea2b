// Calls of the functions that make tensor maps, as lines of text (tests/data/h200/tensor_maps.txt). The test
// (tensor_maps_test.cpp) and the program that recorded a GPU's answers (../h200/tensor_maps.cpp) share them.
//
// A line is the name of a function and those of its arguments that differ from the defaults below:
//
//   tiled rank=2 type=8 sizes=64,64 -> SUCCESS
//
// Enumerators are the numbers of cuda.h. A list may give the first elements only. "null" is a null pointer. `address`
// is an absolute number, or "d+N": N bytes into an allocation on the device. `map` is the offset of the map from an
// address aligned to 128 bytes. `of` is the map that `replace` changes: "tiled", "im2col" or "wide", or bytes that are
// no map: "zeros", "ones".
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

namespace tensor_map_calls {

constexpr std::size_t kMapBytes = 128;
constexpr unsigned char kBefore = 0xcd;  // the map's bytes before a call

struct Functions {
  decltype(&cuTensorMapEncodeTiled) tiled = nullptr;
  decltype(&cuTensorMapEncodeIm2col) im2col = nullptr;
  decltype(&cuTensorMapEncodeIm2colWide) wide = nullptr;
  decltype(&cuTensorMapReplaceAddress) replace = nullptr;
};

// What a call gave: its error, and the map's bytes after it.
struct Answer {
  CUresult error = CUDA_SUCCESS;
  std::array<unsigned char, kMapBytes> bytes{};
  bool changed = false;  // a byte of the map or of those around it
};

// A list of arguments: its numbers, or a null pointer.
template <class T>
class List {
 public:
  List(const std::map<std::string, std::string>& given, const char* name, std::array<T, 5> defaults)
      : numbers_(defaults) {
    const auto found = given.find(name);
    if (found == given.end()) return;
    null_ = found->second == "null";
    std::istringstream text(found->second);
    std::size_t i = 0;
    for (std::string number; !null_ && i < numbers_.size() && std::getline(text, number, ',');)
      numbers_[i++] = static_cast<T>(std::strtoull(number.c_str(), nullptr, 0));  // "-1" is 2^64 - 1
  }
  const T* data() const { return null_ ? nullptr : numbers_.data(); }

 private:
  std::array<T, 5> numbers_;
  bool null_ = false;
};

class Call {
 public:
  // `allocation`: a device address, for "d+N".
  Call(const std::string& line, CUdeviceptr allocation) : allocation_(allocation) {
    std::istringstream words(line.substr(0, line.find(" -> ")));
    words >> function_;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      given_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }

  Answer run(const Functions& functions) const {
    alignas(128) std::array<unsigned char, 3 * kMapBytes> memory;
    memory.fill(kBefore);
    unsigned char* place = memory.data() + kMapBytes + number("map", 0);
    const bool null = given_.contains("map") && given_.at("map") == "null";
    if (function_ == "replace") make_old_map(functions, place);
    const auto before = memory;
    Answer out;
    out.error = call(functions, function_, null ? nullptr : reinterpret_cast<CUtensorMap*>(place));
    std::memcpy(out.bytes.data(), place, kMapBytes);
    out.changed = memory != before;
    return out;
  }

 private:
  long long number(const char* name, long long otherwise) const {
    const auto found = given_.find(name);
    return found == given_.end() ? otherwise : std::strtoll(found->second.c_str(), nullptr, 0);
  }
  template <class Enum>
  Enum enumerator(const char* name, long long otherwise) const {
    return static_cast<Enum>(static_cast<int>(number(name, otherwise)));
  }
  void* address() const {
    const auto found = given_.find("address");
    const std::string text = found == given_.end() ? "d+0" : found->second;
    const bool relative = text.rfind("d+", 0) == 0;
    const std::uint64_t offset = std::strtoull(text.c_str() + (relative ? 2 : 0), nullptr, 0);
    return reinterpret_cast<void*>(relative ? allocation_ + offset : offset);  // NOLINT: an address of the device
  }

  void make_old_map(const Functions& functions, unsigned char* place) const {
    const auto found = given_.find("of");
    const std::string of = found == given_.end() ? "tiled" : found->second;
    if (of == "zeros" || of == "ones") {
      std::memset(place, of == "zeros" ? 0 : 0xff, kMapBytes);
      return;
    }
    alignas(128) std::array<unsigned char, kMapBytes> made{};
    Call encode = *this;
    encode.given_["address"] = "d+0";
    encode.call(functions, of, reinterpret_cast<CUtensorMap*>(made.data()));
    std::memcpy(place, made.data(), kMapBytes);
  }

  CUresult call(const Functions& functions, const std::string& function, CUtensorMap* map) const {
    if (function == "replace") return functions.replace(map, address());
    const auto type = enumerator<CUtensorMapDataType>("type", CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
    const auto rank = static_cast<cuuint32_t>(number("rank", 3));
    const List<cuuint64_t> sizes(given_, "sizes", {256, 64, 16, 8, 4});
    const List<cuuint64_t> strides(given_, "strides", {4096, 262144, 4194304, 33554432, 134217728});
    const List<cuuint32_t> steps(given_, "steps", {1, 1, 1, 1, 1});
    const auto interleave = enumerator<CUtensorMapInterleave>("interleave", 0);
    const auto swizzle = enumerator<CUtensorMapSwizzle>("swizzle", function == "wide" ? 3 : 0);
    const auto promotion = enumerator<CUtensorMapL2promotion>("promotion", 0);
    const auto fill = enumerator<CUtensorMapFloatOOBfill>("fill", 0);
    if (function == "tiled") {
      const List<cuuint32_t> box(given_, "box", {32, 8, 4, 2, 2});
      return functions.tiled(map, type, rank, address(), sizes.data(), strides.data(), box.data(), steps.data(),
                             interleave, swizzle, promotion, fill);
    }
    const auto channels = static_cast<cuuint32_t>(number("channels", 32));
    const auto pixels = static_cast<cuuint32_t>(number("pixels", 64));
    if (function == "wide") {
      const auto mode = enumerator<CUtensorMapIm2ColWideMode>("mode", 0);
      return functions.wide(map, type, rank, address(), sizes.data(), strides.data(),
                            static_cast<int>(number("lower", 0)), static_cast<int>(number("upper", 0)), channels,
                            pixels, steps.data(), interleave, mode, swizzle, promotion, fill);
    }
    const List<int> lower(given_, "lower", {}), upper(given_, "upper", {});
    return functions.im2col(map, type, rank, address(), sizes.data(), strides.data(), lower.data(), upper.data(),
                            channels, pixels, steps.data(), interleave, swizzle, promotion, fill);
  }

  std::string function_;
  std::map<std::string, std::string> given_;
  CUdeviceptr allocation_;
};

}  // namespace tensor_map_calls
