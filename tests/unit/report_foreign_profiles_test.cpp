// Profiles from other programs, or damaged ones: values of the wrong type are refused, and no view of the others ends
// the process (src/ is built without exceptions, so a wrong assumption about JSON values would abort).
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "advice/advise.h"
#include "report/diff.h"
#include "report/expectations.h"
#include "report/junit.h"
#include "report/page_data.h"
#include "report/sarif.h"
#include "report/source_view.h"
#include "report/terminal.h"
#include "results/csv.h"
#include "results/json.h"
#include "sanitized.h"

namespace warpgrind::report {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(WARPGRIND_TESTS "/report/profiles/") + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void collect(Json& j, std::vector<Json*>& out) {
  for (Json& member : j) {
    out.push_back(&member);
    if (member.is_structured()) collect(member, out);
  }
}

const std::vector<Json>& wrong_values() {
  static const std::vector<Json> values = {nullptr,
                                           true,
                                           -1,
                                           0.5,
                                           1e300,
                                           -1e300,
                                           4294967295u,
                                           1000000000,
                                           18446744073709551615ull,
                                           "x",
                                           "%s{}\x01",
                                           "\xff not UTF-8",
                                           Json::array(),
                                           Json::object(),
                                           Json::array({nullptr}),
                                           Json::array({1, 2, 3}),
                                           Json::array({Json::object()})};
  return values;
}

void look_at(const std::string& text, const results::Profile& sound) {
  auto read = results::from_json(text, "foreign.json");
  if (!read) {
    EXPECT_NE(read.error().message.find("foreign.json"), std::string::npos) << read.error().message;
    return;
  }
  results::Profile profile = read.take();
  advice::advise(profile);
  const TextOptions options{.each_launch = true};
  profile_text(profile, options);
  source_text_view(profile, options);
  results::to_csv(profile);
  EXPECT_TRUE(results::from_json(results::to_json(profile), "again.json"));
  const std::vector<results::Profile> both{sound, profile};
  std::vector<Expectation> expectations;
  for (const char* condition : {"inst_executed > 0", "transpose*: gpu__time_duration.sum < 5"})
    if (auto parsed = parse_expectation(condition)) expectations.push_back(parsed.take());
  const auto checked = check(expectations, both);
  sarif_json(checked, both, {});
  junit_xml(checked, both, {});
  if (const auto difference = compare(sound, profile, {})) diff_text(*difference, options);
  if (const auto difference = compare(profile, sound, {})) diff_text(*difference, options);
  EXPECT_TRUE(page_data({"t", "1", {text}, {}, {}}));
}

class ForeignProfiles : public testing::TestWithParam<const char*> {};

TEST_P(ForeignProfiles, NoViewEndsTheProcess) {
  const std::string text = text_of(GetParam());
  auto sound = results::from_json(text, GetParam());
  ASSERT_TRUE(sound);
  std::mt19937 random(7);
  constexpr int kRuns = kSanitized ? 30 : 150;
  for (int run = 0; run < kRuns; ++run) {
    Json j = Json::parse(text);
    for (unsigned change = 0; change < 1 + random() % 8; ++change) {
      std::vector<Json*> members;
      collect(j, members);
      *members[random() % members.size()] = wrong_values()[random() % wrong_values().size()];
    }
    look_at(j.dump(-1, ' ', false, Json::error_handler_t::replace), *sound);
  }
  for (int run = 0; run < kRuns; ++run)  // files truncated by a full disk, and damaged bytes
    if (std::string part = text.substr(0, random() % text.size()); !part.empty()) {
      look_at(part, *sound);
      part = text;
      part[random() % part.size()] = static_cast<char>(random());
      look_at(part, *sound);
    }
}

INSTANTIATE_TEST_SUITE_P(Files, ForeignProfiles,
                         testing::Values("advice.json", "findings.json", "no_lines.json", "patterns.json"),
                         [](const auto& info) {
                           const std::string file = info.param;
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace warpgrind::report
