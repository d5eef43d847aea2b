// JSON members that a detailed run adds to the lab's file (results/members.h).
#pragma once

#include "lab/result.h"
#include "results/member_json.h"
#include "results/profile_members.h"

namespace warpgrind::lab {

template <class V, results::Is<RowKernel> T>
void members(V& v, T& x) {
  using results::Since;
  v.member("name", x.name, Since::first, "demangled");
  v.member("launches", x.launches, Since::first, "in the row's range");
  v.member("sites", x.sites, Since::first, "as in a profile, those with patterns and the most traffic");
  v.member("bounds", x.bounds, Since::later, "of the estimated time, the longest first");
  v.member("sources", x.sources, Since::first, "keys of the topic's sources, the kernel's own first");
}

template <class V, results::Is<SourceText> T>
void members(V& v, T& x) {
  using results::Since;
  v.member("key", x.key, Since::first, "");
  v.member("file", x.file, Since::first, "");
  v.member("line", x.line, Since::first, "of the first line of the text");
  v.member("text", x.text, Since::first, "a function, with its head and the comment above it");
}

}  // namespace warpgrind::lab
