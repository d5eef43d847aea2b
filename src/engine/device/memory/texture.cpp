// Texture and surface objects: registries, address modes, filtering and levels of detail, texel by texel.
#include "device/memory/texture.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "device/memory/texel_plane.h"
#include "device/memory/texture_filter.h"
#include "device/memory/texture_format.h"

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
  void put(std::uint64_t handle, T value) {
    const std::unique_lock lock(mutex_);
    objects_[handle] = std::make_shared<const T>(std::move(value));
    version_.fetch_add(1, std::memory_order_release);
  }
  bool remove(std::uint64_t handle) {
    const std::unique_lock lock(mutex_);
    version_.fetch_add(1, std::memory_order_release);
    return objects_.erase(handle) != 0;
  }
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const T> find(std::uint64_t handle) const {
    const std::shared_lock lock(mutex_);
    const auto it = objects_.find(handle);
    return it == objects_.end() ? nullptr : it->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const T>> objects_;
  std::uint64_t next_ = 1;
  std::atomic<std::uint64_t> version_{1};  // counts changes and removals, not additions
};

Registry<Texture>& textures() {
  static auto* all = new Registry<Texture>;  // never destroyed: kernels may run until the process ends
  return *all;
}
Registry<Surface>& surfaces() {
  static auto* all = new Registry<Surface>;
  return *all;
}

// Returns nullptr outside the data.
const std::uint8_t* read_texel(const Texture& t, std::int64_t x, std::int64_t y, std::int64_t z, TexelList* read) {
  const TexelPlane plane(t);
  if (!plane.holds(x, y, z)) return nullptr;
  const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y), uz = static_cast<std::uint64_t>(z);
  const std::uint8_t* const at = plane.at(ux, uy, uz);
  if (read && read->count < TexelList::kMost)
    read->at[read->count++] = {reinterpret_cast<std::uint64_t>(at), plane.layout(ux, uy, uz)};
  return at;
}

// Index along one axis after the address mode; -1: border. Wrap and mirror exist only for normalised coordinates.
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

std::int64_t whole(double x) {
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

Texel texel_or_border(const Texture& t, const std::int64_t* index, unsigned dims, std::int64_t slice, TexelList* read,
                      TexelRange range = TexelRange::clamped) {
  for (unsigned d = 0; d < dims; ++d)
    if (index[d] < 0) return border_texel(t);
  const std::uint8_t* at = read_texel(t, index[0], dims > 1 ? index[1] : 0, dims > 2 ? index[2] : slice, read);
  return at ? unpack(t, at, range) : border_texel(t);
}

// Normalised coordinates have 21 fractional bits (an H200 drops the rest). Those too large for a fraction lie at the
// beginning of a repetition.
double normalized_coordinate(const Texture& t, unsigned d, float u) {
  if (std::fabs(u) < 0x1p24f) return std::floor(double{u} * 0x1p21) * 0x1p-21;
  const AddressMode mode = t.description.address[d];
  return mode == AddressMode::wrap || mode == AddressMode::mirror ? 0 : double{u};
}

struct Prepared {
  double position[3];  // in texels
  std::int64_t n[3], slice;
  unsigned dims;
};

// Cube faces in the guide's order: +x -x +y -y +z -z.
Prepared prepare(const Texture& t, TextureGeometry g, const float* c, std::int32_t layer) {
  Prepared p{};
  p.dims = dimensions(g);
  const TexelPlane e(t);
  for (unsigned d = 0; d < 3; ++d) p.n[d] = std::max<std::int64_t>(1, e.size[d]);
  float u[3] = {c[0], p.dims > 1 ? c[1] : 0, p.dims > 2 ? c[2] : 0};
  const bool cube = g == TextureGeometry::cube || g == TextureGeometry::acube;
  if (g == TextureGeometry::a1d || g == TextureGeometry::a2d)
    p.slice = std::min<std::int64_t>(static_cast<std::uint32_t>(layer), p.n[2] - 1);  // the index is unsigned
  if (cube) {
    const float x = c[0], y = c[1], z = c[2], ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    int face = 0;
    float s = 0, v = 0, m = 1;  // equal magnitudes: z before y before x (an H200)
    if (az >= ax && az >= ay)
      face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, v = -y;
    else if (ay >= ax)
      face = y >= 0 ? 2 : 3, m = ay, s = x, v = y >= 0 ? z : -z;
    else
      face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, v = -y;
    u[0] = (s / m + 1) * 0.5f;
    u[1] = (v / m + 1) * 0.5f;
    const std::int64_t cubes = std::max<std::int64_t>(1, p.n[2] / 6);
    if (g == TextureGeometry::acube) p.slice = std::min<std::int64_t>(static_cast<std::uint32_t>(layer), cubes - 1) * 6;
    p.slice = std::min(p.slice + face, p.n[2] - 1);
  }
  for (unsigned d = 0; d < p.dims; ++d) {
    const bool normalized = t.description.normalized_coordinates || cube;
    if (std::isnan(u[d]) || std::fabs(u[d]) < 0x1p-126f) u[d] = 0;  // like an H200
    p.position[d] = !normalized ? double{u[d]}
                    : cube      ? double{u[d]} * static_cast<double>(p.n[d])
                                : normalized_coordinate(t, d, u[d]) * static_cast<double>(p.n[d]);
  }
  return p;
}

std::int64_t placed(const Texture& t, const Prepared& p, unsigned d, std::int64_t i, bool cube) {
  return place(i, p.n[d], t.description.address[d], t.description.normalized_coordinates || cube);
}

Texture made(const TextureResource& resource, const TextureDescription& description) {
  Texture texture{resource, description, {}};
  for (const std::shared_ptr<const Array>& level : resource.levels) {
    TextureResource one;
    one.array = level;
    texture.levels.push_back(std::make_shared<const Texture>(Texture{one, description, {}}));
  }
  return texture;
}

}  // namespace

std::uint64_t create_texture(const TextureResource& resource, const TextureDescription& description) {
  return textures().add(made(resource, description));
}
void bind_texture(std::uint64_t reference, const TextureResource& resource, const TextureDescription& description) {
  textures().put(reference, made(resource, description));
}
void bind_surface(std::uint64_t reference, std::shared_ptr<Array> array) {
  surfaces().put(reference, {std::move(array)});
}
std::uint64_t create_surface(std::shared_ptr<Array> array) {
  return surfaces().add({std::move(array)});
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
std::uint64_t textures_version() {
  return textures().version();
}
std::uint64_t surfaces_version() {
  return surfaces().version();
}
std::shared_ptr<const Surface> find_surface(std::uint64_t handle) {
  return surfaces().find(handle);
}

Texel fetch(const Texture& t, TextureGeometry g, const std::int32_t* c, std::int32_t layer, TexelList* read) {
  std::int64_t index[3] = {c[0], 0, 0};
  const unsigned dims = dimensions(g);
  for (unsigned d = 1; d < dims; ++d) index[d] = c[d];
  const std::uint8_t* at = read_texel(t, index[0], index[1], dims > 2 ? index[2] : layer, read);
  return at ? unpack(t, at) : Texel{};
}

Texel sample(const Texture& t, TextureGeometry g, const float* c, std::int32_t layer, TexelList* read) {
  Prepared p = prepare(t, g, c, layer);
  const bool cube = g == TextureGeometry::cube || g == TextureGeometry::acube;
  std::int64_t index[3] = {0, 0, 0};
  // The hardware filters a 1D texture as a 2D one of one row at y = 0: half of the result then comes from the border.
  if (g == TextureGeometry::d1 && t.description.linear_filter && t.description.address[1] == AddressMode::border) {
    p.dims = 2;
    p.n[1] = 1;
  }
  if (!t.description.linear_filter || !gives_floats(t)) {
    for (unsigned d = 0; d < p.dims; ++d) index[d] = placed(t, p, d, whole(p.position[d]), cube);
    return texel_or_border(t, index, p.dims, p.slice, read);
  }
  std::int64_t low[3];
  std::uint32_t fraction[3] = {0, 0, 0};
  for (unsigned d = 0; d < p.dims; ++d) {
    const std::int64_t fixed = whole(p.position[d] * 256 - 127.5);
    low[d] = fixed >> 8;
    fraction[d] = static_cast<std::uint32_t>(fixed & 255);
  }
  std::uint32_t weights[8];
  filter_weights(p.dims, fraction, weights);
  Texel corners[8];
  for (unsigned corner = 0; corner < 1u << p.dims; ++corner) {
    if (weights[corner] == 0) continue;
    for (unsigned d = 0; d < p.dims; ++d) index[d] = placed(t, p, d, low[d] + (corner >> d & 1), cube);
    corners[corner] = texel_or_border(t, index, p.dims, p.slice, read, TexelRange::as_stored);
  }
  return filtered_texel(t, corners, weights, 1u << p.dims);
}

LevelPair levels_at(const Texture& t, float level) {
  const TextureDescription& d = t.description;
  const auto last = static_cast<float>(t.levels.size() - 1);
  float at = std::isnan(level) ? 0 : level + d.level_bias;
  at = std::clamp(std::max(d.least_level, std::min(at, d.most_level)), 0.0f, last);
  if (!d.linear_levels || !gives_floats(t)) return {static_cast<std::size_t>(std::floor(at + 0.5f)), 0};
  const double fixed = std::floor(double{at} * 256);
  const auto low = static_cast<std::size_t>(fixed / 256);
  return {low, fixed / 256 - static_cast<double>(low)};
}

std::uint32_t between_levels(std::uint32_t low, std::uint32_t high, double fraction) {
  return std::bit_cast<std::uint32_t>(
      static_cast<float>((1 - fraction) * std::bit_cast<float>(low) + fraction * std::bit_cast<float>(high)));
}

Texel sample_level(const Texture& t, TextureGeometry g, const float* c, std::int32_t layer, float level,
                   TexelList* read) {
  if (t.levels.empty()) return sample(t, g, c, layer, read);
  const auto [low, fraction] = levels_at(t, level);
  Texel out = sample(*t.levels[low], g, c, layer, read);
  if (fraction == 0) return out;
  const Texel high = sample(*t.levels[low + 1], g, c, layer, read);
  for (unsigned k = 0; k < 4; ++k) out.channel[k] = between_levels(out.channel[k], high.channel[k], fraction);
  return out;
}

Texel fetch_level(const Texture& t, TextureGeometry g, const std::int32_t* c, std::int32_t layer, std::int32_t level,
                  TexelList* read) {
  if (t.levels.empty()) return fetch(t, g, c, layer, read);
  if (level < 0 || static_cast<std::size_t>(level) >= t.levels.size()) return Texel{};
  return fetch(*t.levels[static_cast<std::size_t>(level)], g, c, layer, read);
}

// A cube's coordinates are a direction; a face spans 2.
float level_of_gradients(const Texture& t, TextureGeometry g, const float* dx, const float* dy) {
  const bool cube = g == TextureGeometry::cube || g == TextureGeometry::acube;
  const TexelPlane e(t);
  double longest = 0;
  for (const float* step : {dx, dy}) {
    double square = 0;
    for (unsigned k = 0; k < (cube ? 3 : dimensions(g)); ++k) {
      const double texels =
          double{step[k]} * (cube ? static_cast<double>(e.size[0]) / 2 : static_cast<double>(e.size[k]));
      square += texels * texels;
    }
    longest = std::max(longest, square);
  }
  return longest > 0 ? static_cast<float>(std::log2(longest) / 2) : -std::numeric_limits<float>::max();
}

Texel gather4(const Texture& t, TextureGeometry g, const float* c, std::int32_t layer, unsigned component,
              TexelList* read) {
  const Prepared p = prepare(t, g, c, layer);
  const bool cube = g == TextureGeometry::cube || g == TextureGeometry::acube;
  const std::int64_t x = whole(p.position[0] * 256 - 127.5) >> 8, y = whole(p.position[1] * 256 - 127.5) >> 8;
  const std::int64_t offset[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  const bool widens = widens_alone(t, component & 3);
  const bool floats = t.format().kind == ChannelFormat::Kind::floating;
  const bool halves = floats && t.format().bits[component & 3] == 16;
  Texel out;
  for (unsigned k = 0; k < 4; ++k) {
    const std::int64_t index[2] = {placed(t, p, 0, x + offset[k][0], cube), placed(t, p, 1, y + offset[k][1], cube)};
    const Texel texel =
        texel_or_border(t, index, 2, p.slice, read, widens ? TexelRange::as_stored : TexelRange::clamped);
    out.channel[k] = texel.channel[component & 3];
    if (halves && std::isnan(std::bit_cast<float>(out.channel[k]))) out.channel[k] = 0x7fffe000;  // the half 0x7fff
    if (floats && (out.channel[k] & 0x7f800000u) == 0) out.channel[k] &= 0x80000000u;  // subnormals, on an H200
    if (widens) out.channel[k] = widened_alone(t, component & 3, out.channel[k]);
  }
  return out;
}

}  // namespace warpgrind::device
