#include "device/calls/texture_unit.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "device/access/access.h"

namespace warpgrind::device {

std::uint64_t linear_bytes(const Texture& t) {
  const TextureResource& r = t.resource;
  const std::uint64_t rows = r.height ? r.height : 1, row = r.width * r.format.bytes();
  return r.kind == TextureResource::Kind::linear ? row : r.pitch * (rows - 1) + row;
}

bool still_allocated(const Launch& launch, const Texture& t) {
  if (t.resource.kind == TextureResource::Kind::array) return true;
  const std::uint64_t bytes = std::max<std::uint64_t>(1, linear_bytes(t));
  return global_stretch(launch, GenericAddress{t.resource.address}, bytes, false).has_value();
}

const BoundTexture* TextureUnit::find(const Launch& launch, std::uint64_t handle, std::uint32_t code) {
  if (const std::uint64_t now = textures_version(); version_ != now) {
    for (std::unique_ptr<BoundTexture>& kept : bound_) kept.reset();
    version_ = now;
  }
  std::unique_ptr<BoundTexture>& kept = bound_[(handle ^ code ^ code >> 4) % kKept];
  if (kept && kept->handle == handle && kept->code == code) return kept.get();
  std::shared_ptr<const Texture> texture = find_texture(handle);
  if (!texture || !still_allocated(launch, *texture)) return nullptr;
  jit::TextureCall call = jit::TextureCall::decode(code);
  const LaneSampler sampler(*texture, call);
  std::vector<LaneSampler> levels;
  if (std::exchange(call.detail, jit::TextureDetail::base) != jit::TextureDetail::base)
    for (const std::shared_ptr<const Texture>& level : texture->levels) levels.emplace_back(*level, call);
  WG_ASSERT(levels.empty() || levels.size() == texture->levels.size());
  kept = std::make_unique<BoundTexture>(BoundTexture{handle, code, std::move(texture), sampler, std::move(levels)});
  return kept.get();
}

const Surface* TextureUnit::surface(std::uint64_t handle) {
  if (const std::uint64_t now = surfaces_version();
      handle != surface_handle_ || surfaces_version_ != now || !surface_) {
    surface_ = find_surface(handle);
    surface_handle_ = handle;
    surfaces_version_ = now;
  }
  return surface_.get();
}

void TextureUnit::forget() {
  surface_ = nullptr;
  for (std::unique_ptr<BoundTexture>& kept : bound_) kept.reset();
}

}  // namespace warpgrind::device
