// Texture and surface objects (CUDA C++ Programming Guide, "Texture and Surface Memory" and appendix "Texture
// Fetching").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/memory/array.h"
#include "jit/families/texture_operation.h"

namespace warpgrind::device {

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };  // cudaTextureAddressMode 0..3

struct TextureResource {
  enum class Kind : std::uint8_t { array, linear, pitched } kind = Kind::array;
  std::shared_ptr<const Array> array;                // of a mipmapped array: its first level
  std::vector<std::shared_ptr<const Array>> levels;  // of a mipmapped array: all that may be read
  std::uint64_t address = 0;                         // linear, pitched: device address
  ChannelFormat format;                              // linear, pitched
  std::uint64_t width = 0, height = 0;               // elements; linear: width only
  std::uint64_t pitch = 0;                           // pitched: bytes a row
};

struct TextureDescription {
  std::array<AddressMode, 3> address{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  bool linear_filter = false;
  bool normalized_float = false;  // cudaReadModeNormalizedFloat
  bool normalized_coordinates = false;
  bool srgb = false;
  std::array<float, 4> border{0, 0, 0, 0};
  // Of a mipmapped array: the level of detail plus the bias, between these two.
  bool linear_levels = false;  // blends the two levels beside it; else the nearest one
  float level_bias = 0, least_level = 0, most_level = 0;
};

struct Texture {
  TextureResource resource;
  TextureDescription description;
  std::vector<std::shared_ptr<const Texture>> levels;  // of a mipmapped array, each by itself
  const ChannelFormat& format() const {
    return resource.kind == TextureResource::Kind::array ? resource.array->format() : resource.format;
  }
};

struct Surface {
  std::shared_ptr<Array> array;
};

// Handles are never 0 and never reused; an unknown handle finds nothing. Thread-safe.
std::uint64_t create_texture(const TextureResource& resource, const TextureDescription& description);
std::uint64_t create_surface(std::shared_ptr<Array> array);
// A reference of PTX (.texref, .surfref), whose handle is the variable's address, means this from now on.
void bind_texture(std::uint64_t reference, const TextureResource& resource, const TextureDescription& description);
void bind_surface(std::uint64_t reference, std::shared_ptr<Array> array);
bool destroy_texture(std::uint64_t handle);
bool destroy_surface(std::uint64_t handle);
std::shared_ptr<const Texture> find_texture(std::uint64_t handle);
// Another one when a handle means something else than before.
std::uint64_t textures_version();
std::uint64_t surfaces_version();
std::shared_ptr<const Surface> find_surface(std::uint64_t handle);

// One texel as its channels' bits: integers extended to 32 bits, floats as f32 bits. Absent channels are 0, absent w
// is 1.
struct Texel {
  std::uint32_t channel[4];
};
using jit::TextureGeometry;

// The texels that a fetch reads: those outside, and those whose filter weight is 0, are not read.
struct TexelList {
  struct Entry {
    std::uint64_t address;  // on the host
    std::uint64_t layout;  // where the hardware keeps it, for counting sectors: 2D and 3D arrays in tiles of 16 bytes x
                           // 2 rows, all else as it is
  };
  static constexpr unsigned kMost = 16;  // corners of a cube, in two levels
  unsigned count = 0;
  Entry at[kMost];
};
// coordinates: as PTX orders them, without the layer. integer_coordinates: tex1Dfetch and its like (no filter, no
// addressing). read: null where nobody asks.
Texel sample(const Texture& texture, TextureGeometry geometry, const float* coordinates, std::int32_t layer,
             TexelList* read = nullptr);
Texel fetch(const Texture& texture, TextureGeometry geometry, const std::int32_t* coordinates, std::int32_t layer,
            TexelList* read = nullptr);
// With a level of detail; of what is not mipmapped it means nothing.
Texel sample_level(const Texture& texture, TextureGeometry geometry, const float* coordinates, std::int32_t layer,
                   float level, TexelList* read = nullptr);
Texel fetch_level(const Texture& texture, TextureGeometry geometry, const std::int32_t* coordinates, std::int32_t layer,
                  std::int32_t level, TexelList* read = nullptr);
// Of a mipmapped one, what a level of detail reads: `low` and, with a fraction above 0, the next one.
struct LevelPair {
  std::size_t low;
  double fraction;
};
LevelPair levels_at(const Texture& texture, float level);
// A channel between two levels: 8 bits of the fraction, as between two texels.
std::uint32_t between_levels(std::uint32_t low, std::uint32_t high, double fraction);
// The level of detail at which the longer of two steps, of normalised coordinates, is one texel.
float level_of_gradients(const Texture& texture, TextureGeometry geometry, const float* dx, const float* dy);
// Channel `component` of the four texels a bilinear fetch would blend (tld4): order (-,+) (+,+) (+,-) (-,-).
Texel gather4(const Texture& texture, TextureGeometry geometry, const float* coordinates, std::int32_t layer,
              unsigned component, TexelList* read = nullptr);

}  // namespace warpgrind::device
