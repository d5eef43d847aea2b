// WG_KEEP(fence, Fence), in the class of an observer with a member `mutex`: stores all events of that kind in a vector
// `fence`.
#pragma once

#include <mutex>
#include <vector>

#include "events/observer.h"

#define WG_KEEP(name, Type)                                      \
  void on_##name(const events::Type& event, unsigned) override { \
    const std::lock_guard lock(mutex);                           \
    name.push_back(event);                                       \
  }                                                              \
  std::vector<events::Type> name;
