// What must be there: an assertion with our own place, where the standard library's at() throws. Exceptions cannot
// leave src.
#pragma once

#include "base/assert.h"

namespace warpgrind {

// Of a map by its key, or of a vector by its index.
template <class Container, class Key>
auto& element(Container& container, const Key& key) {
  if constexpr (requires { typename Container::mapped_type; }) {
    const auto found = container.find(key);
    WG_ASSERT(found != container.end());
    return found->second;
  } else {
    WG_ASSERT(key < container.size());
    return container[key];
  }
}

}  // namespace warpgrind
