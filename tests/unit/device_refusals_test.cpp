// PTX that must be refused, or end in a fault, without harm to the host or to the rest of its module: the files of
// tests/data/refused, each line `// expect: KERNEL refused|fault: TEXT` or `// expect: KERNEL gives: WORD`.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

struct Expectation {
  std::string kernel, outcome, text;
};

std::vector<Expectation> expectations(const std::string& ptx) {
  std::vector<Expectation> all;
  std::istringstream lines(ptx);
  const std::string mark = "// expect: ";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(mark)) continue;
    const std::size_t kernel = mark.size(), outcome = line.find(' ', kernel) + 1, text = line.find(": ", outcome);
    all.push_back(
        {line.substr(kernel, outcome - kernel - 1), line.substr(outcome, text - outcome), line.substr(text + 2)});
  }
  return all;
}

class Refusals : public testing::TestWithParam<std::string> {};

TEST_P(Refusals, EachKernelEndsAsItsFileSays) {
  Options options;
  options.workers = 1;
  Device gpu(0, **find_gpu_model("h200"), options);
  const std::string text = read_file(WARPGRIND_TESTS "/data/refused/" + GetParam());
  auto module = ptx::parse(text, GetParam());
  ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
  auto loaded = gpu.load(*module);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const std::vector<Expectation> all = expectations(text);
  ASSERT_FALSE(all.empty());
  for (const Expectation& e : all) {
    SCOPED_TRACE(e.kernel);
    std::uint32_t f = 0;
    while (f < (*module)->functions.size() && (*module)->functions[f].name != e.kernel) ++f;
    ASSERT_LT(f, (*module)->functions.size());
    auto* out = reinterpret_cast<std::uint32_t*>(*gpu.allocate(128));
    std::memset(out, 0, 128);
    void* arguments[] = {&out, nullptr};
    auto result = gpu.launch(*loaded, f, shape({1, 1, 1}, {32, 1, 1}), arguments);
    if (e.outcome == "refused") {
      ASSERT_FALSE(result.ok());
      EXPECT_NE(result.error().message.find(e.text), std::string::npos) << result.error().message;
      continue;
    }
    ASSERT_TRUE(result.ok()) << result.error().message;
    if (e.outcome == "fault") {
      ASSERT_TRUE(result->fault);
      EXPECT_NE(result->fault->message.find(e.text), std::string::npos) << result->fault->message;
    } else {
      ASSERT_EQ(e.outcome, "gives");
      ASSERT_FALSE(result->fault) << result->fault->message;
      EXPECT_EQ(std::to_string(out[0]), e.text);
    }
  }
}

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(WARPGRIND_TESTS "/data/refused"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, Refusals, testing::ValuesIn(files()),
                         [](const auto& name) { return name.param.substr(0, name.param.find('.')); });

}  // namespace
}  // namespace warpgrind::device
