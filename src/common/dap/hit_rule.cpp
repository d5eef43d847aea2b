// Conditions on numbers of hits.
#include "dap/hit_rule.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

namespace warpgrind::dap {

bool HitRule::accepts(std::uint64_t hit) const {
  switch (kind) {
    case Kind::every:
      return true;
    case Kind::exactly:
      return hit == number;
    case Kind::at_least:
      return hit >= number;
    case Kind::more_than:
      return hit > number;
    case Kind::at_most:
      return hit <= number;
    case Kind::less_than:
      return hit < number;
    case Kind::multiple:
      return number != 0 && hit % number == 0;
  }
  return true;
}

Result<HitRule> read_hit_rule(const std::string& text) {
  using Kind = HitRule::Kind;
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {">=", Kind::at_least}, {"<=", Kind::at_most}, {"==", Kind::exactly}, {">", Kind::more_than},
      {"<", Kind::less_than}, {"%", Kind::multiple}, {"=", Kind::exactly}};
  std::string_view rest = text;
  const auto skip = [&] {
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  };
  skip();
  HitRule rule;
  if (rest.empty()) return rule;
  rule.kind = Kind::exactly;  // a number alone
  for (const auto& [sign, kind] : kKinds) {
    if (!rest.starts_with(sign)) continue;
    rule.kind = kind;
    rest.remove_prefix(sign.size());
    break;
  }
  skip();
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), rule.number);
  if (problem != std::errc() || end != rest.data() + rest.size() || rest.empty())
    return Error{ErrorKind::bad_input, fmt::format("'{}' is no hit condition", text),
                 "write a number, or one of >= > == < <= % and a number"};
  return rule;
}

}  // namespace warpgrind::dap
