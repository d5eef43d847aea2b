// Shadow updates for copies and fills of the host.
#pragma once

#include "device/memory/shadow_memory.h"
#include "events/events.h"
#include "events/observer.h"

namespace warpgrind::device {

// Apply copies and fills of the host to the shadow, before the bytes move. A copy of undefined bytes to the host is an
// event.
void follow(const ShadowMemory& shadow, const events::HostCopy& copy, const events::Audience& observers);
void follow(const ShadowMemory& shadow, const events::HostFill& fill);

}  // namespace warpgrind::device
