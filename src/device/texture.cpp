#include "device/texture.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace warpgrind::device {

namespace {

template <class T>
class Registry {
 public:
  std::uint64_t add(T value) {
    const std::unique_lock lock(mutex_);
    objects_[next_] = std::make_shared<const T>(std::move(value));
    return next_++;
  }
  bool remove(std::uint64_t handle) {
    const std::unique_lock lock(mutex_);
    return objects_.erase(handle) != 0;
  }
  std::shared_ptr<const T> find(std::uint64_t handle) const {
    const std::shared_lock lock(mutex_);
    const auto it = objects_.find(handle);
    return it == objects_.end() ? nullptr : it->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const T>> objects_;
  std::uint64_t next_ = 1;
};

Registry<Texture>& textures() {
  static Registry<Texture> r;
  return r;
}
Registry<Surface>& surfaces() {
  static Registry<Surface> r;
  return r;
}

struct Extents {
  std::int64_t size[3];  // width, height, depth
};

Extents extents_of(const Texture& t) {
  const TextureResource& r = t.resource;
  if (r.kind == TextureResource::Kind::array) {
    const ArrayShape& s = r.array->shape();
    return {{static_cast<std::int64_t>(s.width), static_cast<std::int64_t>(s.rows()),
             static_cast<std::int64_t>(s.slices())}};
  }
  return {{static_cast<std::int64_t>(r.width),
           static_cast<std::int64_t>(r.kind == TextureResource::Kind::pitched ? r.height : 1), 1}};
}

// nullptr: outside the data.
const std::uint8_t* texel_at(const Texture& t, std::int64_t x, std::int64_t y, std::int64_t z) {
  const Extents e = extents_of(t);
  if (x < 0 || y < 0 || z < 0 || x >= e.size[0] || y >= e.size[1] || z >= e.size[2]) return nullptr;
  const TextureResource& r = t.resource;
  const std::uint64_t bytes = t.format().bytes();
  const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y), uz = static_cast<std::uint64_t>(z);
  if (r.kind == TextureResource::Kind::array)
    return r.array->data() + uz * r.array->slice_bytes() + uy * r.array->row_bytes() + ux * bytes;
  return reinterpret_cast<const std::uint8_t*>(r.address) + uy * r.pitch + ux * bytes;
}

float half_value(std::uint16_t h) {
  const float sign = h & 0x8000 ? -1.0f : 1.0f;
  const int exponent = h >> 10 & 31;
  const auto mantissa = static_cast<float>(h & 1023);
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

float from_srgb(float v) {
  return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
}

bool gives_floats(const Texture& t) {
  return t.format().kind == ChannelFormat::Kind::floating || t.description.normalized_float;
}

Texel unpack(const Texture& t, const std::uint8_t* at) {
  const ChannelFormat& f = t.format();
  const bool floats = gives_floats(t);
  Texel out{{0, 0, 0, floats ? std::bit_cast<std::uint32_t>(1.0f) : 1u}};
  unsigned bit = 0;
  for (unsigned c = 0; c < 4; ++c) {
    const unsigned bits = f.bits[c];
    if (!bits) continue;
    std::uint32_t raw = 0;
    std::memcpy(&raw, at + bit / 8, bits / 8);
    bit += bits;
    const std::int32_t value =
        bits < 32 ? static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits) : static_cast<std::int32_t>(raw);
    if (f.kind == ChannelFormat::Kind::floating) {
      out.channel[c] = bits == 16 ? std::bit_cast<std::uint32_t>(half_value(static_cast<std::uint16_t>(raw))) : raw;
    } else if (t.description.normalized_float) {
      float v = 0;
      if (f.kind == ChannelFormat::Kind::unsigned_integer)
        v = static_cast<float>(raw / static_cast<double>(bits == 32 ? 0xffffffffu : (1u << bits) - 1));
      else
        v = std::max(-1.0f, static_cast<float>(value / static_cast<double>((std::int64_t{1} << (bits - 1)) - 1)));
      if (t.description.srgb && c < 3) v = from_srgb(v);
      out.channel[c] = std::bit_cast<std::uint32_t>(v);
    } else {
      out.channel[c] = f.kind == ChannelFormat::Kind::signed_integer ? static_cast<std::uint32_t>(value) : raw;
    }
  }
  return out;
}

Texel border_texel(const Texture& t) {
  Texel out{};
  for (unsigned c = 0; c < 4; ++c)
    out.channel[c] = gives_floats(t) ? std::bit_cast<std::uint32_t>(t.description.border[c])
                                     : static_cast<std::uint32_t>(static_cast<std::int32_t>(t.description.border[c]));
  return out;
}

// Index along one axis after the address mode; -1: border. Wrap and mirror exist for normalised coordinates only.
std::int64_t place(std::int64_t i, std::int64_t n, AddressMode mode, bool normalized) {
  if (!normalized && (mode == AddressMode::wrap || mode == AddressMode::mirror)) mode = AddressMode::clamp;
  switch (mode) {
    case AddressMode::wrap:
      return ((i % n) + n) % n;
    case AddressMode::mirror: {
      const std::int64_t m = ((i % (2 * n)) + 2 * n) % (2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    case AddressMode::clamp:
      return std::clamp<std::int64_t>(i, 0, n - 1);
    default:
      return i < 0 || i >= n ? -1 : i;
  }
}

std::int64_t whole(float x) {
  if (!(x > -9e15f)) return std::int64_t{-1} << 52;  // NaN too
  if (x > 9e15f) return std::int64_t{1} << 52;
  return static_cast<std::int64_t>(std::floor(x));
}

unsigned dimensions(TextureGeometry g) {
  switch (g) {
    case TextureGeometry::d1:
    case TextureGeometry::a1d:
      return 1;
    case TextureGeometry::d3:
      return 3;
    default:
      return 2;
  }
}

Texel texel_or_border(const Texture& t, const std::int64_t* index, unsigned dims, std::int64_t slice) {
  for (unsigned d = 0; d < dims; ++d)
    if (index[d] < 0) return border_texel(t);
  const std::uint8_t* at = texel_at(t, index[0], dims > 1 ? index[1] : 0, dims > 2 ? index[2] : slice);
  return at ? unpack(t, at) : border_texel(t);
}

struct Prepared {
  float position[3];
  std::int64_t n[3], slice;
  unsigned dims;
};

// Cube faces as the guide orders them: +x -x +y -y +z -z.
Prepared prepare(const Texture& t, TextureGeometry g, const float* c, std::int32_t layer) {
  Prepared p{};
  p.dims = dimensions(g);
  const Extents e = extents_of(t);
  for (unsigned d = 0; d < 3; ++d) p.n[d] = std::max<std::int64_t>(1, e.size[d]);
  float u[3] = {c[0], p.dims > 1 ? c[1] : 0, p.dims > 2 ? c[2] : 0};
  const bool cube = g == TextureGeometry::cube || g == TextureGeometry::acube;
  if (g == TextureGeometry::a1d || g == TextureGeometry::a2d) p.slice = std::clamp<std::int64_t>(layer, 0, p.n[2] - 1);
  if (cube) {
    const float x = c[0], y = c[1], z = c[2], ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    int face = 0;
    float s = 0, v = 0, m = 1;
    if (ax >= ay && ax >= az)
      face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, v = -y;
    else if (ay >= az)
      face = y >= 0 ? 2 : 3, m = ay, s = x, v = y >= 0 ? z : -z;
    else
      face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, v = -y;
    u[0] = (s / m + 1) * 0.5f;
    u[1] = (v / m + 1) * 0.5f;
    p.slice =
        std::clamp<std::int64_t>((g == TextureGeometry::acube ? std::int64_t{layer} * 6 : 0) + face, 0, p.n[2] - 1);
  }
  for (unsigned d = 0; d < p.dims; ++d) {
    const bool normalized = t.description.normalized_coordinates || cube;
    p.position[d] = normalized ? u[d] * static_cast<float>(p.n[d]) : u[d];
  }
  return p;
}

std::int64_t placed(const Texture& t, const Prepared& p, unsigned d, std::int64_t i, bool cube) {
  return place(i, p.n[d], cube ? AddressMode::clamp : t.description.address[d], t.description.normalized_coordinates);
}

}  // namespace

std::uint64_t create_texture(const TextureResource& resource, const TextureDescription& description) {
  return textures().add({resource, description});
}
std::uint64_t create_surface(Array* array) {
  return surfaces().add({array});
}
bool destroy_texture(std::uint64_t handle) {
  return textures().remove(handle);
}
bool destroy_surface(std::uint64_t handle) {
  return surfaces().remove(handle);
}
std::shared_ptr<const Texture> find_texture(std::uint64_t handle) {
  return textures().find(handle);
}
std::shared_ptr<const Surface> find_surface(std::uint64_t handle) {
  return surfaces().find(handle);
}

Texel fetch(const Texture& t, TextureGeometry g, const std::int32_t* c, std::int32_t layer) {
  std::int64_t index[3] = {c[0], 0, 0};
  const unsigned dims = dimensions(g);
  for (unsigned d = 1; d < dims; ++d) index[d] = c[d];
  const std::uint8_t* at = texel_at(t, index[0], index[1], dims > 2 ? index[2] : layer);
  return at ? unpack(t, at) : Texel{};
}

Texel sample(const Texture& t, TextureGeometry g, const float* c, std::int32_t layer) {
  const Prepared p = prepare(t, g, c, layer);
  const bool cube = g == TextureGeometry::cube || g == TextureGeometry::acube;
  std::int64_t index[3] = {0, 0, 0};
  if (!t.description.linear_filter || !gives_floats(t)) {
    for (unsigned d = 0; d < p.dims; ++d) index[d] = placed(t, p, d, whole(p.position[d]), cube);
    return texel_or_border(t, index, p.dims, p.slice);
  }
  // Weights have 8 fractional bits (guide, "Linear Filtering": 9-bit fixed point, so that 1.0 is exact).
  std::int64_t low[3];
  float weight[3];
  for (unsigned d = 0; d < p.dims; ++d) {
    const float shifted = p.position[d] - 0.5f;
    low[d] = whole(shifted);
    const float fraction = shifted - std::floor(shifted);
    weight[d] = std::isfinite(fraction) ? std::floor(fraction * 256.0f + 0.5f) / 256.0f : 0;
  }
  float sum[4] = {0, 0, 0, 0};
  for (unsigned corner = 0; corner < 1u << p.dims; ++corner) {
    float w = 1;
    for (unsigned d = 0; d < p.dims; ++d) {
      const bool high = corner >> d & 1;
      w *= high ? weight[d] : 1 - weight[d];
      index[d] = placed(t, p, d, low[d] + high, cube);
    }
    if (w == 0) continue;
    const Texel x = texel_or_border(t, index, p.dims, p.slice);
    for (unsigned k = 0; k < 4; ++k) sum[k] += w * std::bit_cast<float>(x.channel[k]);
  }
  Texel out;
  for (unsigned k = 0; k < 4; ++k) out.channel[k] = std::bit_cast<std::uint32_t>(sum[k]);
  return out;
}

Texel gather4(const Texture& t, const float* c, unsigned component) {
  const Prepared p = prepare(t, TextureGeometry::d2, c, 0);
  const std::int64_t x = whole(p.position[0] - 0.5f), y = whole(p.position[1] - 0.5f);
  const std::int64_t offset[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel out;
  for (unsigned k = 0; k < 4; ++k) {
    const std::int64_t index[2] = {placed(t, p, 0, x + offset[k][0], false), placed(t, p, 1, y + offset[k][1], false)};
    out.channel[k] = texel_or_border(t, index, 2, 0).channel[component & 3];
  }
  return out;
}

std::uint64_t texel_address(const Texture& t, TextureGeometry g, const float* c, std::int32_t layer) {
  const Prepared p = prepare(t, g, c, layer);
  std::int64_t index[3] = {0, 0, 0};
  for (unsigned d = 0; d < p.dims; ++d) index[d] = placed(t, p, d, whole(p.position[d]), false);
  const std::uint8_t* at = texel_at(t, index[0], p.dims > 1 ? index[1] : 0, p.dims > 2 ? index[2] : p.slice);
  return reinterpret_cast<std::uint64_t>(at);
}

}  // namespace warpgrind::device
