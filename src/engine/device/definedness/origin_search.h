// Search for the origin of undefined bits. It starts at the instruction that uses or stores them and follows the
// definitions of its registers back. It ends at a load that read undefined bits in this warp, or at a register that was
// never written.
#pragma once

#include "device/definedness/tracking.h"
#include "events/events.h"

namespace warpgrind::device {

struct FoundOrigin {
  events::UndefinedOrigin origin;
  std::uint32_t instruction = 0;  // as in events::UndefinedUse
};
FoundOrigin origin_of_use(jit::WarpContext& context, std::uint32_t site, events::UndefinedUse::Use use);
// Origin of the value that an instruction stores, with the store as the last step of its way.
events::UndefinedOrigin origin_of_stored(jit::WarpContext& context, std::uint32_t site);
// Whether the stored value is the result of arithmetic (a sum, a product). False for values that are only moved,
// selected or assembled from bits.
bool stores_arithmetic(jit::WarpContext& context, std::uint32_t site);
// Origin of undefined bytes in memory that a load has read.
events::UndefinedOrigin origin_of_memory(jit::WarpContext& context, const UndefinedLoad& load);

}  // namespace warpgrind::device
