// Answers of the debug adapter as text.
#include "debug/stop_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/json.h"
#include "hostdebug/host_side.h"

namespace warpgrind::debug {

std::string triple_text(const Json& parent, std::string_view key) {
  const auto found = parent.find(key);
  if (found == parent.end() || !found->is_array() || found->size() != 3) return "(?)";
  std::array<std::int64_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) json::read_value((*found)[i], numbers[i]);
  return fmt::format("({},{},{})", numbers[0], numbers[1], numbers[2]);
}

std::string threads_text(const Json& body, std::int64_t focused) {
  std::string out;
  json::each(body, "threads", [&](const Json& one) {
    const auto id = json::get<std::int64_t>(one, "id");
    const std::string number = id >= hostdebug::kFirstHostId ? "" : fmt::format("{}", id);  // the name has the host's
    out += fmt::format("{} {:<5} {}\n", id == focused ? "*" : " ", number, json::text(one, "name"));
  });
  return out;
}

std::string warps_text(const Json& body) {
  std::string out;
  json::each(body, "blocks", [&](const Json& block) {
    out += fmt::format("block {}\n", triple_text(block, "block"));
    json::each(block, "warps", [&](const Json& warp) {
      const std::string waits = json::text(warp, "waits");
      out += fmt::format("{} warp {:<3} active {}  {}{}\n", json::get<bool>(warp, "focused") ? "*" : " ",
                         json::get<std::int64_t>(warp, "warp"), json::text(warp, "active"), json::text(warp, "place"),
                         waits.empty() ? "" : "  waits for " + waits);
    });
  });
  return out;
}

std::string blocks_text(const Json& body) {
  std::string out;
  json::each(body, "blocks", [&](const Json& block) {
    std::size_t warps = 0, waiting = 0;
    bool focused = false;
    json::each(block, "warps", [&](const Json& warp) {
      ++warps;
      waiting += !json::text(warp, "waits").empty();
      focused |= json::get<bool>(warp, "focused");
    });
    out += fmt::format("{} block {}  {} warp{}, {} waiting\n", focused ? "*" : " ", triple_text(block, "block"), warps,
                       warps == 1 ? "" : "s", waiting);
  });
  return out;
}

std::string lanes_text(const Json& body) {
  std::string out;
  json::each(body, "blocks", [&](const Json& block) {
    json::each(block, "warps", [&](const Json& warp) {
      if (!json::get<bool>(warp, "focused")) return;
      const std::string mask = json::text(warp, "active");
      std::uint32_t bits = 0;
      const char* const digits = mask.c_str() + (mask.starts_with("0x") ? 2 : 0);
      std::from_chars(digits, mask.c_str() + mask.size(), bits, 16);
      out += fmt::format("block {}, warp {}\n", triple_text(block, "block"), json::get<int>(warp, "warp"));
      for (unsigned first = 0; first < 32;) {
        const bool active = (bits >> first & 1) != 0;
        unsigned last = first;
        while (last + 1 < 32 && ((bits >> (last + 1) & 1) != 0) == active) ++last;
        const std::string lanes = first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
        out += fmt::format("  lane{} {:<6} {}\n", first == last ? " " : "s", lanes,
                           active ? json::text(warp, "place") : "inactive");
        first = last + 1;
      }
    });
  });
  return out;
}

std::string launches_text(const Json& body) {
  std::string out;
  constexpr unsigned kMostShown = 20;
  unsigned launches = 0;
  json::each(body, "launches", [&](const Json& one) {
    if (++launches > kMostShown && json::text(one, "state") != "stopped") return;
    const std::string stream = json::text(one, "stream");
    out += fmt::format("{:<4} {}<<<{}, {}>>>{}  {}\n", json::get<std::int64_t>(one, "id"), json::text(one, "kernel"),
                       triple_text(one, "grid"), triple_text(one, "block"), stream.empty() ? "" : "  stream " + stream,
                       json::text(one, "state"));
  });
  if (launches > kMostShown) out += fmt::format("{} launches in all\n", launches);
  const std::string why = json::text(body, "whyNoMore");
  if (!why.empty()) out += fmt::format("No earlier launch can be entered: {}.\n", why);
  return out;
}

}  // namespace warpgrind::debug
