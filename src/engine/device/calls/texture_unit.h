// Texture cache of a worker: the textures and surfaces of one launch by handle, with data prepared once. Kernels use
// the same few again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/calls/texture_lanes.h"
#include "device/memory/texture.h"

namespace warpgrind::device {

// For textures of linear and pitched memory, which may have been freed meanwhile.
std::uint64_t linear_bytes(const Texture& texture);
bool still_allocated(const Launch& launch, const Texture& texture);

struct BoundTexture {
  std::uint64_t handle;
  std::uint32_t code;  // jit::TextureCall::encode()
  std::shared_ptr<const Texture> texture;
  LaneSampler sampler;
  std::vector<LaneSampler> levels;  // of a mipmapped array, if the code reads levels
};

class TextureUnit {
 public:
  // Returns null if there is none, or it cannot be read (find_texture() and still_allocated() give the reason).
  const BoundTexture* find(const Launch& launch, std::uint64_t handle, std::uint32_t code);
  // Returns null if there is none.
  const Surface* surface(std::uint64_t handle);
  // Called when a launch has ended: between launches only the program keeps textures alive.
  void forget();

 private:
  static constexpr std::size_t kKept = 32;
  std::unique_ptr<BoundTexture> bound_[kKept];
  std::uint64_t version_ = 0;  // of the texture table
  // The last surface used.
  std::shared_ptr<const Surface> surface_;
  std::uint64_t surface_handle_ = 0, surfaces_version_ = 0;
};

}  // namespace warpgrind::device
