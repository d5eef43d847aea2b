// Example accesses, and their transactions and wavefronts on each GPU model.
#include "report/access_rule_table.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "gpu/gpu_model.h"

namespace warpgrind::report {
namespace {

using Json = nlohmann::ordered_json;

struct Example {
  const char* name;
  unsigned bytes;  // per lane
  LaneMask mask;
  std::array<std::int64_t, kWarpSize> offsets;
};

constexpr int kLanes = static_cast<int>(kWarpSize);

template <class F>
Example example(const char* name, unsigned bytes, F&& element, LaneMask mask = kFullMask) {
  Example out{name, bytes, mask, {}};
  for (int lane = 0; lane < kLanes; ++lane) out.offsets[lane] = element(lane) * static_cast<std::int64_t>(bytes);
  return out;
}

// Examples of the figures in the documents: aligned, with gaps, out of order, shifted, strided; words of 4, 8 and 16
// bytes.
std::vector<Example> global_examples() {
  return {example("in order, aligned", 4, [](int l) { return l; }),
          example(
              "lane 5 off", 4, [](int l) { return l; }, kFullMask & ~(1u << 5)),
          example("two lanes swapped", 4, [](int l) { return l < 2 ? 1 - l : l; }),
          example("shifted by 1 float", 4, [](int l) { return l + 1; }),
          example("shifted by 8 floats", 4, [](int l) { return l + 8; }),
          example("stride of 2 floats", 4, [](int l) { return 2 * l; }),
          example("stride of 8 floats", 4, [](int l) { return 8 * l; }),
          example("stride of 32 floats", 4, [](int l) { return 32 * l; }),
          example("one float for all", 4, [](int) { return 0; }),
          example("doubles in order", 8, [](int l) { return l; }),
          example("float4 in order", 16, [](int l) { return l; })};
}

std::vector<Example> shared_examples() {
  return {example("stride of 1 word", 4, [](int l) { return l; }),
          example("stride of 2 words", 4, [](int l) { return 2 * l; }),
          example("stride of 8 words", 4, [](int l) { return 8 * l; }),
          example("stride of 16 words", 4, [](int l) { return 16 * l; }),
          example("stride of 17 words", 4, [](int l) { return 17 * l; }),
          example("stride of 32 words", 4, [](int l) { return 32 * l; }),
          example("stride of 33 words", 4, [](int l) { return 33 * l; }),
          example("one word for all", 4, [](int) { return 0; }),
          example("words 0 and 64", 4, [](int l) { return 64 * (l % 2); }),
          example("doubles in order", 8, [](int l) { return l; })};
}

const char* rule_name(CoalescingRule rule) {
  switch (rule) {
    case CoalescingRule::half_warp_strict:
      return "half-warp, word by word";
    case CoalescingRule::half_warp_segments:
      return "half-warp, segments";
    case CoalescingRule::lines_128:
      return "128-byte lines";
    case CoalescingRule::sectors_32:
      return "32-byte sectors";
  }
  return "";
}

Json json_of(const Example& e) {
  Json addresses = Json::array();
  for (int lane = 0; lane < kLanes; ++lane)
    addresses.push_back(e.mask >> lane & 1 ? Json(e.offsets[lane]) : Json(nullptr));
  return {{"name", e.name}, {"bytes", e.bytes}, {"addresses", std::move(addresses)}};
}

}  // namespace

Json access_rule_table() {
  const std::vector<Example> global = global_examples(), shared = shared_examples();
  Json out = {{"global", Json::array()}, {"shared", Json::array()}, {"models", Json::array()}};
  for (const Example& e : global) out["global"].push_back(json_of(e));
  for (const Example& e : shared) out["shared"].push_back(json_of(e));
  for (const GpuModel& model : gpu_models()) {
    Json pieces = Json::array(), wavefronts = Json::array();
    for (const Example& e : global) {
      Json list = Json::array();
      for (const MemoryTransaction& t :
           global_transactions(model.rules, AccessType::load, e.offsets.data(), e.mask, e.bytes))
        list.push_back({t.offset, t.bytes});
      pieces.push_back(std::move(list));
    }
    for (const Example& e : shared)
      wavefronts.push_back(shared_cost(model.rules, AccessType::load, e.offsets.data(), e.mask, e.bytes).wavefronts);
    out["models"].push_back({{"id", model.id},
                             {"name", model.name},
                             {"architecture", model.architecture},
                             {"cc", fmt::format("{}.{}", model.cc_major, model.cc_minor)},
                             {"rule", rule_name(model.rules.coalescing)},
                             {"banks", model.rules.banks.banks},
                             {"global", std::move(pieces)},
                             {"shared", std::move(wavefronts)}});
  }
  return out;
}

}  // namespace warpgrind::report
