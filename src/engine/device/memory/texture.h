// Texture and surface objects (CUDA C++ Programming Guide, "Texture and Surface Memory" and appendix "Texture
// Fetching").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/memory/array.h"
#include "jit/texture_operation.h"

namespace warpgrind::device {

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };  // cudaTextureAddressMode 0..3

struct TextureResource {
  enum class Kind : std::uint8_t { array, linear, pitched } kind = Kind::array;
  std::shared_ptr<const Array> array;                // of a mipmapped array: its first level
  std::vector<std::shared_ptr<const Array>> levels;  // of a mipmapped array: all readable levels
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
  // Mipmapped array: the level of detail plus the bias is clamped to the last two.
  bool linear_levels = false;  // blends the two adjacent levels; else the nearest one
  float level_bias = 0, least_level = 0, most_level = 0;
};

struct Texture {
  TextureResource resource;
  TextureDescription description;
  std::vector<std::shared_ptr<const Texture>> levels;  // of a mipmapped array, each as its own texture
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
// Bind a PTX reference (.texref, .surfref) from now on. Its handle is the variable's address.
void bind_texture(std::uint64_t reference, const TextureResource& resource, const TextureDescription& description);
void bind_surface(std::uint64_t reference, std::shared_ptr<Array> array);
bool destroy_texture(std::uint64_t handle);
bool destroy_surface(std::uint64_t handle);
std::shared_ptr<const Texture> find_texture(std::uint64_t handle);
// Changes whenever a handle changes its meaning.
std::uint64_t textures_version();
std::uint64_t surfaces_version();
std::shared_ptr<const Surface> find_surface(std::uint64_t handle);

// One texel as the bits of its channels. Integers are extended to 32 bits, floats are f32 bits. Absent channels are 0,
// absent w is 1.
struct Texel {
  std::uint32_t channel[4];
};
using jit::TextureGeometry;

// Texels that a fetch reads. Texels outside, and those with filter weight 0, are not read.
struct TexelList {
  struct Entry {
    std::uint64_t address;  // on the host
    std::uint64_t layout;   // address in the hardware's layout, for counting sectors: 2D and 3D arrays in tiles of 16
                            // bytes x 2 rows, all else linear
  };
  static constexpr unsigned kMost = 16;  // corners of a cube, in two levels
  unsigned count = 0;
  Entry at[kMost];
};
// coordinates: in PTX order, without the layer. fetch: tex1Dfetch and similar (no filter, no addressing modes). read:
// null if the list is not needed.
Texel sample(const Texture& texture, TextureGeometry geometry, const float* coordinates, std::int32_t layer,
             TexelList* read = nullptr);
Texel fetch(const Texture& texture, TextureGeometry geometry, const std::int32_t* coordinates, std::int32_t layer,
            TexelList* read = nullptr);
// Same, with a level of detail, ignored for textures without mipmaps.
Texel sample_level(const Texture& texture, TextureGeometry geometry, const float* coordinates, std::int32_t layer,
                   float level, TexelList* read = nullptr);
Texel fetch_level(const Texture& texture, TextureGeometry geometry, const std::int32_t* coordinates, std::int32_t layer,
                  std::int32_t level, TexelList* read = nullptr);
// Levels of a mipmapped array that a level of detail reads: `low` and, with a fraction above 0, the next one.
struct LevelPair {
  std::size_t low;
  double fraction;
};
LevelPair levels_at(const Texture& texture, float level);
// Interpolates a channel between two levels with 8 bits of the fraction, as between two texels.
std::uint32_t between_levels(std::uint32_t low, std::uint32_t high, double fraction);
// The level of detail at which the longer of two steps, in normalised coordinates, is one texel.
float level_of_gradients(const Texture& texture, TextureGeometry geometry, const float* dx, const float* dy);
// Channel `component` of the four texels that a bilinear fetch would blend (tld4), in the order (-,+) (+,+) (+,-)
// (-,-).
Texel gather4(const Texture& texture, TextureGeometry geometry, const float* coordinates, std::int32_t layer,
              unsigned component, TexelList* read = nullptr);

}  // namespace warpgrind::device
