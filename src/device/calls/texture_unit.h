// The textures and surfaces that a worker's warps use in a launch: found by their handles and looked at once, as
// kernels use the same few over and over.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/calls/texture_lanes.h"
#include "device/memory/texture.h"

namespace warpgrind::device {

// Of linear and pitched memory, which may have been freed since.
std::uint64_t linear_bytes(const Texture& texture);
bool still_allocated(const Launch& launch, const Texture& texture);

struct BoundTexture {
  std::uint64_t handle;
  std::uint32_t code;  // jit::TextureCall::encode()
  std::shared_ptr<const Texture> texture;
  LaneSampler sampler;
  std::vector<LaneSampler> levels;  // of a mipmapped array, where the code names one
};

class TextureUnit {
 public:
  // Null: there is none, or it cannot be read (find_texture() and still_allocated() say why).
  const BoundTexture* find(const Launch& launch, std::uint64_t handle, std::uint32_t code);
  // Null: there is none.
  const Surface* surface(std::uint64_t handle);
  // When a launch has ended: nobody but the program keeps textures between launches.
  void forget();

 private:
  static constexpr std::size_t kKept = 32;
  std::unique_ptr<BoundTexture> bound_[kKept];
  std::uint64_t version_ = 0;  // of the table of textures
  // The last one, likewise.
  std::shared_ptr<const Surface> surface_;
  std::uint64_t surface_handle_ = 0, surfaces_version_ = 0;
};

}  // namespace warpgrind::device
