// Table of the special registers' names.
#include "ptx/special_registers.h"

#include <charconv>
#include <unordered_map>

namespace warpgrind::ptx {

namespace {

using S = SpecialRegister;

struct Row {
  std::string_view text;
  SpecialRegister sreg;
  bool is_vector = false;
};

constexpr Row kRows[] = {
    {"%tid", S::tid_x, true},
    {"%ntid", S::ntid_x, true},
    {"%ctaid", S::ctaid_x, true},
    {"%nctaid", S::nctaid_x, true},
    {"%laneid", S::laneid},
    {"%warpid", S::warpid},
    {"%nwarpid", S::nwarpid},
    {"%smid", S::smid},
    {"%nsmid", S::nsmid},
    {"%gridid", S::gridid},
    {"%lanemask_eq", S::lanemask_eq},
    {"%lanemask_le", S::lanemask_le},
    {"%lanemask_lt", S::lanemask_lt},
    {"%lanemask_ge", S::lanemask_ge},
    {"%lanemask_gt", S::lanemask_gt},
    {"%clock", S::clock},
    {"%clock_hi", S::clock_hi},
    {"%clock64", S::clock64},
    {"%globaltimer", S::globaltimer},
    {"%globaltimer_lo", S::globaltimer_lo},
    {"%globaltimer_hi", S::globaltimer_hi},
    {"%dynamic_smem_size", S::dynamic_smem_size},
    {"%total_smem_size", S::total_smem_size},
    {"%aggr_smem_size", S::aggr_smem_size},
    {"%clusterid", S::clusterid_x, true},
    {"%nclusterid", S::nclusterid_x, true},
    {"%cluster_ctaid", S::cluster_ctaid_x, true},
    {"%cluster_nctaid", S::cluster_nctaid_x, true},
    {"%cluster_ctarank", S::cluster_ctarank},
    {"%cluster_nctarank", S::cluster_nctarank},
    {"%is_explicit_cluster", S::is_explicit_cluster},
    {"%reserved_smem_offset_begin", S::reserved_smem_offset_begin},
    {"%reserved_smem_offset_end", S::reserved_smem_offset_end},
    {"%reserved_smem_offset_cap", S::reserved_smem_offset_cap},
    {"%reserved_smem_offset_0", S::reserved_smem_offset_0},
    {"%reserved_smem_offset_1", S::reserved_smem_offset_1},
    {"%current_graph_exec", S::current_graph_exec},
};

std::optional<std::uint32_t> number_after(std::string_view text, std::string_view prefix, std::string_view suffix,
                                          std::uint32_t limit) {
  if (!text.starts_with(prefix) || !text.ends_with(suffix) || text.size() <= prefix.size() + suffix.size()) return {};
  const std::string_view digits = text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
  std::uint32_t n = 0;
  const auto [rest, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (failure != std::errc{} || rest != digits.data() + digits.size() || n >= limit) return {};
  return n;
}

}  // namespace

std::optional<SpecialRegisterName> special_register_from_text(std::string_view text) {
  static const auto& table = *new auto([] {
    std::unordered_map<std::string_view, SpecialRegisterName> t;
    for (const Row& r : kRows) t.emplace(r.text, SpecialRegisterName{r.sreg, r.is_vector, kNoId});
    return t;
  }());
  if (const auto it = table.find(text); it != table.end()) return it->second;
  if (const auto n = number_after(text, "%envreg", "", 32)) return SpecialRegisterName{S::envreg, false, *n};
  if (const auto n = number_after(text, "%pm", "_64", 8)) return SpecialRegisterName{S::pm64, false, *n};
  if (const auto n = number_after(text, "%pm", "", 8)) return SpecialRegisterName{S::pm, false, *n};
  return std::nullopt;
}

std::string special_register_text(SpecialRegister sreg, std::uint32_t number) {
  if (sreg == S::envreg) return "%envreg" + std::to_string(number);
  if (sreg == S::pm) return "%pm" + std::to_string(number);
  if (sreg == S::pm64) return "%pm" + std::to_string(number) + "_64";
  for (const Row& r : kRows) {
    const int component = static_cast<int>(sreg) - static_cast<int>(r.sreg);
    if (component == 0 && !r.is_vector) return std::string(r.text);
    if (r.is_vector && component >= 0 && component < 3) return std::string(r.text) + '.' + "xyz"[component];
  }
  return "%?";
}

}  // namespace warpgrind::ptx
