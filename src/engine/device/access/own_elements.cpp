// Analysis of own elements: address forms of all global accesses, and a proof that threads do not overlap.
#include "device/access/own_elements.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "device/access/watched.h"
#include "device/module.h"
#include "flow/thread_forms.h"
#include "jit/compile/compiler.h"

namespace warpgrind::device {

namespace {

using flow::ThreadForm;
using flow::ThreadForms;

// A site that may touch global memory: its range, and its address form if known.
struct Reach {
  std::size_t site = 0;
  std::uint64_t low = 0, high = 0;
  std::optional<ThreadForm> form;
  bool writes = false;
};

bool is_plain(const events::Site& s) {
  return (s.kind == SiteKind::load || s.kind == SiteKind::store) && s.order == events::MemoryOrder::weak && !s.at_l2 &&
         !s.non_coherent;
}

// Sites with a known range: plain accesses and atomics, which may conflict with plain ones. Others may be anywhere.
bool is_followed(const events::Site& s) {
  if (s.multimem) return false;  // their memory is elsewhere
  return s.kind == SiteKind::load || s.kind == SiteKind::store || s.kind == SiteKind::atomic ||
         s.kind == SiteKind::reduction;
}

bool may_be_global(const events::Site& s) {
  switch (s.kind) {
    case SiteKind::load:
    case SiteKind::store:
    case SiteKind::atomic:
    case SiteKind::reduction:
    case SiteKind::texture:
    case SiteKind::surface:
    case SiteKind::async_copy:
    case SiteKind::call:
      return s.space != StateSpace::constant && !never_global(s);
    case SiteKind::bulk_copy:  // its space is that of the destination; the source may be global
      return true;
    default:
      return false;
  }
}

flow::LaunchNumbers numbers_of(const Launch& launch, const std::vector<jit::ParameterLayout>& layout) {
  flow::LaunchNumbers numbers{launch.config.grid, launch.config.block, {}};
  numbers.parameter = [&launch, &layout](std::uint32_t index, std::uint64_t offset,
                                         unsigned bytes) -> std::optional<std::uint64_t> {
    if (index >= layout.size() || offset + bytes > layout[index].size) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, launch.parameters + layout[index].offset + offset, bytes);
    return value;
  };
  return numbers;
}

// A step in bytes between neighbours, and their number, along one index.
struct Dimension {
  std::uint64_t step = 0, count = 1;
};

// Whether all combinations of the indexes touch different bytes. Each step must exceed the reach of all smaller ones.
bool are_apart(std::vector<Dimension> dimensions, std::uint64_t bytes) {
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return a.step < b.step; });
  unsigned __int128 reach = bytes;
  for (const Dimension& d : dimensions) {
    if (d.count <= 1) continue;
    if (d.step < reach) return false;
    reach += static_cast<unsigned __int128>(d.step) * (d.count - 1);
  }
  return true;
}

// Same, with several instructions at these offsets: adjacent (a.x, a.y), or at equal distances.
bool are_apart(const std::vector<Dimension>& threads, const std::set<std::int64_t>& offsets, std::uint64_t bytes) {
  const auto width = static_cast<std::uint64_t>(*offsets.rbegin() - *offsets.begin()) + bytes;
  if (are_apart(threads, width)) return true;
  if (offsets.size() < 2) return false;
  const std::int64_t step = *std::next(offsets.begin()) - *offsets.begin();
  for (auto at = std::next(offsets.begin()); at != offsets.end(); ++at)
    if (*at - *std::prev(at) != step) return false;
  std::vector<Dimension> all = threads;
  all.push_back({static_cast<std::uint64_t>(step), offsets.size()});
  return are_apart(std::move(all), bytes);
}

class OwnElements {
 public:
  OwnElements(const Launch& launch, const std::vector<SiteBounds>& bounds)
      : sites_(launch.kernel->code->facts().sites),
        layout_(jit::parameter_layout(launch.kernel->definitions().function)),
        numbers_(numbers_of(launch, layout_)),
        forms_(launch.kernel->definitions(), numbers_) {
    known_ = find_reaches(launch, bounds);
  }

  std::vector<std::uint8_t> find() {
    std::vector<std::uint8_t> own(sites_.size(), 0);
    if (!known_) return own;
    std::sort(reaches_.begin(), reaches_.end(), [](const Reach& a, const Reach& b) { return a.low < b.low; });
    for (std::size_t first = 0, end = 0; first < reaches_.size(); first = end) {
      std::uint64_t high = reaches_[first].high;
      for (end = first + 1; end < reaches_.size() && reaches_[end].low < high; ++end)
        high = std::max(high, reaches_[end].high);
      if (!is_own(first, end)) continue;
      for (std::size_t k = first; k < end; ++k) own[reaches_[k].site] = 1;
    }
    return own;
  }

 private:
  // Returns false if nothing is known about some site.
  bool find_reaches(const Launch& launch, const std::vector<SiteBounds>& bounds) {
    const ptx::Function& kernel = launch.kernel->definitions().function;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      const events::Site& site = sites_[s];
      if (!may_be_global(site)) continue;
      if (!is_followed(site)) return false;
      Reach r{s, bounds[s].memory.low, bounds[s].memory.high, std::nullopt, may_write(site)};
      if (site.function == kernel.name && is_plain(site) && site.space == StateSpace::global)
        r.form = form_of(kernel, site);
      if (bounds[s].memory.origin == nullptr) {
        const auto all = r.form ? ThreadForms::range(*r.form, numbers_) : std::nullopt;
        if (!all || all->low < 0) return false;
        r.low = static_cast<std::uint64_t>(all->low);
        r.high = static_cast<std::uint64_t>(all->high) + site.bytes();
      }
      reaches_.push_back(r);
    }
    return true;
  }

  std::optional<ThreadForm> form_of(const ptx::Function& kernel, const events::Site& site) {
    for (const ptx::Operand& o : kernel.body[site.instruction].operands)
      if (o.kind == ptx::OperandKind::address) return forms_.address(o);
    return std::nullopt;
  }

  // Whether a group of sites that share memory only with each other is safe: all forms are known and have the same
  // steps.
  bool is_own(std::size_t first, std::size_t end) const {
    const auto begin = reaches_.begin() + static_cast<std::ptrdiff_t>(first),
               last = reaches_.begin() + static_cast<std::ptrdiff_t>(end);
    if (std::none_of(begin, last, [](const Reach& r) { return r.writes; })) return false;
    std::set<std::int64_t> offsets;
    std::uint64_t bytes = 0;
    for (auto r = begin; r != last; ++r) {
      if (!r->form || r->form->steps != begin->form->steps) return false;
      offsets.insert(r->form->constant);
      bytes = std::max<std::uint64_t>(bytes, sites_[r->site].bytes());
    }
    std::vector<Dimension> threads;
    const auto extents = numbers_.extents();
    for (unsigned k = 0; k < ThreadForm::kIndexes; ++k) {
      const std::int64_t step = begin->form->steps[k];
      threads.push_back({static_cast<std::uint64_t>(step < 0 ? -step : step), extents[k]});
    }
    return are_apart(threads, offsets, bytes);
  }

  const std::vector<events::Site>& sites_;
  const std::vector<jit::ParameterLayout> layout_;
  const flow::LaunchNumbers numbers_;
  ThreadForms forms_;
  std::vector<Reach> reaches_;
  bool known_ = false;
};

}  // namespace

std::vector<std::uint8_t> own_elements(const Launch& launch, const std::vector<SiteBounds>& bounds) {
  return OwnElements(launch, bounds).find();
}

}  // namespace warpgrind::device
