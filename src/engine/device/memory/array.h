// CUDA array: opaque texture and surface memory. 1D, 2D, 3D, layered and cubemap. Stored row by row (programs cannot
// observe the hardware's block-linear layout).
#pragma once

#include <cstdint>
#include <memory>

namespace warpgrind::device {

struct ChannelFormat {
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, floating };  // cudaChannelFormatKind 0, 1, 2
  std::uint8_t bits[4] = {0, 0, 0, 0};                                            // x, y, z, w; 0: absent
  Kind kind = Kind::floating;
  unsigned channels() const { return unsigned{bits[0] != 0} + (bits[1] != 0) + (bits[2] != 0) + (bits[3] != 0); }
  unsigned bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8u; }
  friend bool operator==(const ChannelFormat&, const ChannelFormat&) = default;
};

struct ArrayShape {
  std::uint64_t width = 0, height = 0, depth = 0;  // elements; height 0: 1D; depth 0: not 3D. Layered: depth = layers
  bool layered = false, cubemap = false, surface = false, gather = false;
  std::uint64_t rows() const { return height ? height : 1; }
  std::uint64_t slices() const { return depth ? depth : 1; }
};

class Array {
 public:
  // nullptr: out of memory, or the size overflows 64 bits. Contents start as zeroes.
  static std::unique_ptr<Array> create(const ChannelFormat& format, const ArrayShape& shape);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const ChannelFormat& format() const { return format_; }
  const ArrayShape& shape() const { return shape_; }
  std::uint64_t element_bytes() const { return format_.bytes(); }
  std::uint64_t row_bytes() const { return shape_.width * element_bytes(); }
  std::uint64_t slice_bytes() const { return row_bytes() * shape_.rows(); }
  std::uint64_t size() const { return slice_bytes() * shape_.slices(); }
  std::uint8_t* data() { return data_; }
  const std::uint8_t* data() const { return data_; }

 private:
  Array(const ChannelFormat& format, const ArrayShape& shape) : format_(format), shape_(shape) {}
  ChannelFormat format_;
  ArrayShape shape_;
  std::uint8_t* data_ = nullptr;
};

}  // namespace warpgrind::device
