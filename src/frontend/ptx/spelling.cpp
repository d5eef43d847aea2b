// Decoder and printer of opcode suffixes.
#include "ptx/spelling.h"

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace warpgrind::ptx {

namespace {

constexpr unsigned kLongestOpcode = 5;  // parts: cp.async.bulk.prefetch.tensor
constexpr unsigned kMostSuffixes = 31;  // two bits each, behind the leading 1

void push_order(std::uint64_t& order, SuffixKind kind) {
  WG_ASSERT(order >> 62 == 0);  // at most kMostSuffixes
  order = order << 2 | static_cast<std::uint64_t>(kind);
}

struct SpaceSuffix {
  std::string_view text;
  StateSpace space;
  bool refined;  // the text is kept as a modifier too: shared::cta
};

const SpaceSuffix* space_suffix(std::string_view text) {
  static constexpr SpaceSuffix kTable[] = {
      {"global", StateSpace::global, false},         {"shared", StateSpace::shared, false},
      {"local", StateSpace::local, false},           {"const", StateSpace::constant, false},
      {"param", StateSpace::param, false},           {"shared::cta", StateSpace::shared, true},
      {"shared::cluster", StateSpace::shared, true}, {"param::entry", StateSpace::param, true},
      {"param::func", StateSpace::param, true},
  };
  const auto* const it = std::ranges::find(kTable, text, &SpaceSuffix::text);
  return it == std::end(kTable) ? nullptr : it;
}

// Length in bytes of the longest opcode at the start of `text` (0: none).
std::size_t opcode_length(std::string_view text, Opcode& opcode) {
  std::array<std::size_t, 2 * kLongestOpcode> ends;
  std::size_t count = 0, from = 0;
  for (unsigned part = 0; part < kLongestOpcode && from <= text.size(); ++part) {
    const std::size_t end = std::min(text.find('.', from), text.size());
    const std::size_t colons = text.substr(0, end).find("::", from);
    if (colons != std::string_view::npos) ends[count++] = colons;
    ends[count++] = end;
    from = end + 1;
  }
  while (count-- > 0) {
    if (const auto found = opcode_from_text(text.substr(0, ends[count]))) {
      opcode = *found;
      return ends[count];
    }
  }
  return 0;
}

bool add_suffix(std::string_view part, Spelling& s) {
  if (part == "v2" || part == "v4" || part == "v8") {
    if (s.vector != 1) return false;
    s.vector = static_cast<std::uint8_t>(part[1] - '0');
    push_order(s.suffix_order, SuffixKind::vector);
    return true;
  }
  if (const auto type = scalar_type_from_name(part)) {
    s.types.push_back(*type);
    push_order(s.suffix_order, SuffixKind::type);
    return true;
  }
  const SpaceSuffix* space = space_suffix(part);
  if (space && s.space == StateSpace::none) {
    s.space = space->space;
    if (!space->refined) {
      push_order(s.suffix_order, SuffixKind::space);
      return true;
    }
  }
  const auto modifier = modifier_from_text(part);
  if (!modifier) return false;
  s.modifiers.push_back(*modifier);
  push_order(s.suffix_order, SuffixKind::modifier);
  return true;
}

bool is_refined_space(Modifier m) {
  return m == Modifier::shared_cta || m == Modifier::shared_cluster || m == Modifier::param_entry ||
         m == Modifier::param_func;
}

}  // namespace

bool decode(std::string_view text, Spelling& spelling, SpellingError& error) {
  const std::size_t length = opcode_length(text, spelling.opcode);
  if (length == 0) {
    error = {text, "unknown opcode"};
    return false;
  }
  // "tcgen05.wait::ld": the last part of the opcode is also part of the modifier's text.
  std::size_t from = length;
  if (text.substr(length).starts_with("::")) {
    const std::size_t dot = text.rfind('.', length);
    from = dot == std::string_view::npos ? length : dot;
  }
  unsigned count = 0;
  while (from < text.size()) {
    std::size_t end = std::min(text.find('.', from + 1), text.size());
    std::string_view part = text.substr(from + 1, end - from - 1);
    if (++count > kMostSuffixes) {
      error = {part, "too many suffixes"};
      return false;
    }
    from = end;
    if (spelling.opcode == Opcode::mma && part.substr(0, part.find(':')) == "sp") {  // mma.sync.aligned.kind::mxf4.sp
      spelling.opcode = Opcode::mma_sp;
      if (part == "sp") continue;
    }
    if (!add_suffix(part, spelling)) {
      error = {part, "unknown suffix"};
      return false;
    }
  }
  return true;
}

std::string_view space_text(StateSpace space) {
  if (space == StateSpace::none || space == StateSpace::generic) return "";
  return space == StateSpace::texture ? "tex" : warpgrind::name(space);
}

std::string opcode_spelling(const Instruction& i) {
  std::string out(name(i.opcode));
  const auto put = [&out](std::string_view suffix) {
    if (suffix.empty()) return;
    // The modifier "wait::ld" repeats the opcode's last part.
    const std::size_t colons = suffix.find("::");
    const std::size_t dot = out.rfind('.');
    if (colons != std::string_view::npos && dot != std::string::npos &&
        out.substr(dot + 1) == suffix.substr(0, colons)) {
      out.erase(dot);
    }
    out += '.';
    out += suffix;
  };
  std::size_t modifier = 0, type = 0;
  if (i.suffix_order != 0) {
    const int suffixes = (63 - __builtin_clzll(i.suffix_order)) / 2;
    for (int k = suffixes - 1; k >= 0; --k) {
      switch (static_cast<SuffixKind>(i.suffix_order >> (2 * k) & 3)) {
        case SuffixKind::modifier:
          if (modifier < i.modifiers.size()) put(name(i.modifiers[modifier++]));
          break;
        case SuffixKind::type:
          if (type < i.types.size()) put(name(i.types[type++]));
          break;
        case SuffixKind::space:
          put(space_text(i.space));
          break;
        case SuffixKind::vector:
          put("v" + std::to_string(i.vector));
          break;
      }
    }
    return out;
  }
  const bool refined = std::any_of(i.modifiers.begin(), i.modifiers.end(), is_refined_space);
  if (!refined) put(space_text(i.space));
  for (Modifier m : i.modifiers) put(name(m));
  if (i.vector > 1) put("v" + std::to_string(i.vector));
  for (ScalarType t : i.types) put(name(t));
  return out;
}

namespace {
constexpr std::uint32_t kHalfwords = 1u << 31;
}

std::uint32_t selector_from_text(std::string_view text) {
  if (text.size() < 2 || text.size() > 5 || (text[0] != 'b' && text[0] != 'h')) return 0;
  std::uint32_t selector = text[0] == 'h' ? kHalfwords : 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '7') return 0;
    selector |= static_cast<std::uint32_t>(text[i] - '0') << (4 * (i - 1));
  }
  return selector | static_cast<std::uint32_t>(text.size() - 1) << 16;
}

std::string selector_text(std::uint32_t selector) {
  if (selector == 0) return "";
  std::string out(1, selector & kHalfwords ? 'h' : 'b');
  for (unsigned i = 0; i < (selector >> 16 & 15); ++i) out += static_cast<char>('0' + (selector >> (4 * i) & 7));
  return out;
}

}  // namespace warpgrind::ptx
