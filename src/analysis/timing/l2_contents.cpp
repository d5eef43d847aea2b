#include "timing/l2_contents.h"

#include <algorithm>
#include <iterator>

namespace warpgrind::timing {
namespace {

double length(std::uint64_t begin, std::uint64_t end) {
  return static_cast<double>(end - begin);
}
double density_of(const L2Contents::Span& s) {
  return s.end > s.begin ? std::min(1.0, s.bytes / length(s.begin, s.end)) : 0;
}

}  // namespace

// Of a sparse use before a dense one, only the sparse part is there. Uses of the same density are assumed to touch the
// same sectors.
L2State L2Contents::before(const Spans& spans, const void* kernel) const {
  L2State state{dirty_, 0, 0};
  if (const auto code = code_.find(kernel); code != code_.end())
    state.code = still_there(model_, touched_ - code->second);
  double bytes = 0, there = 0;
  for (const Span& s : spans) {
    const double density = density_of(s);
    bytes += density * length(s.begin, s.end);
    auto region = regions_.upper_bound(s.begin);
    if (region != regions_.begin()) --region;
    for (; region != regions_.end() && region->first < s.end; ++region) {
      const std::uint64_t begin = std::max(s.begin, region->first), end = std::min(s.end, region->second.end);
      if (begin < end)
        there += length(begin, end) * std::min(density, region->second.density) *
                 still_there(model_, touched_ - region->second.used);
    }
  }
  if (bytes > 0) state.resident = std::min(1.0, there / bytes);
  return state;
}

// Denser uses that are still in the cache keep their part of the span.
void L2Contents::touch(const Span& span) {
  const double density = density_of(span);
  if (density <= 0) return;
  auto region = regions_.upper_bound(span.begin);
  if (region != regions_.begin()) --region;
  std::uint64_t from = span.begin;  // the span is entered up to here
  while (region != regions_.end() && region->first < span.end) {
    const std::uint64_t begin = region->first;
    const Region old = region->second;
    if (old.end <= span.begin) {
      ++region;
      continue;
    }
    if (old.density > density && still_there(model_, touched_ - old.used) > 0) {
      if (from < begin) regions_[from] = {begin, touched_, density};
      from = std::max(from, old.end);
      ++region;
      continue;
    }
    region = regions_.erase(region);
    if (begin < span.begin) regions_[begin] = {span.begin, old.used, old.density};
    if (old.end > span.end) region = regions_.insert_or_assign(span.end, Region{old.end, old.used, old.density}).first;
  }
  if (from < span.end) regions_[from] = {span.end, touched_, density};
}

void L2Contents::forget() {
  constexpr std::size_t kMany = 1024;
  if (regions_.size() < kMany) return;
  for (auto region = regions_.begin(); region != regions_.end();)
    region = still_there(model_, touched_ - region->second.used) > 0 ? std::next(region) : regions_.erase(region);
}

void L2Contents::after_launch(const Spans& spans, double bytes, double allocated, const void* kernel) {
  code_[kernel] = touched_;
  for (const Span& s : spans) touch(s);
  forget();
  touched_ += bytes;
  dirty_ = std::max(0.0, dirty_ - allocated);
}

void L2Contents::after_write(const Span& span) {
  touch(span);
  touched_ += span.bytes;
  dirty_ = std::min(model_.timing.dirty_l2_bytes, dirty_ + span.bytes);
}

void L2Contents::after_copy(const Span& from, const Span& to) {
  touch(from);
  touched_ += from.bytes;
  after_write(to);
}

void L2Contents::after_flush() {
  dirty_ = 0;
  code_.clear();
  regions_.clear();
}

}  // namespace warpgrind::timing
