// Checked element access. A missing element fails an assertion with our own file and line. The standard library's at()
// would throw, and src/ has no exceptions.
#pragma once

#include "base/assert.h"

namespace warpgrind {

// Element of a map by key, or of a vector by index.
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
