// Where undefined bits come from: from the instruction that uses or stores them back over what its registers are
// computed from, to a load that met undefined bits in this warp, or a register that nothing has written.
#pragma once

#include "device/definedness/tracking.h"
#include "events/events.h"

namespace warpgrind::device {

struct FoundOrigin {
  events::UndefinedOrigin origin;
  std::uint32_t instruction = 0;  // as in events::UndefinedUse
};
FoundOrigin origin_of_use(jit::WarpContext& context, std::uint32_t site, events::UndefinedUse::Use use);
// Of what an instruction stores, with the store as the last step of its way.
events::UndefinedOrigin origin_of_stored(jit::WarpContext& context, std::uint32_t site);
// What an instruction stores is computed: a sum, a product. Not so what is moved, selected or put together of bits.
bool stores_arithmetic(jit::WarpContext& context, std::uint32_t site);
// Of bytes in memory that have been met.
events::UndefinedOrigin origin_of_memory(jit::WarpContext& context, const UndefinedLoad& load);

}  // namespace warpgrind::device
