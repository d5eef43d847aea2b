// The outcome of kernels in tests/data/outcomes. Each line is `// expect: KERNEL refused|fault: TEXT` or `// expect:
// KERNEL gives: WORD` (the first word of `out`). A refused or faulting kernel does not affect the rest of its module.
// Kernels take (out), or (out, texture, surface): arrays of 4 x 4 floats 0 to 15 and of 4 x 4 words 0.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "device/memory/array.h"
#include "device/memory/texture.h"
#include "device_fixture.h"
#include "jit/compile/compiler.h"

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

class Outcomes : public testing::TestWithParam<std::string> {};

struct Images {
  Images() {
    ChannelFormat format;
    format.bits[0] = 32;
    ArrayShape shape;
    shape.width = shape.height = 4;
    format.kind = ChannelFormat::Kind::unsigned_integer;
    surface = create_surface(Array::create(format, shape));
    format.kind = ChannelFormat::Kind::floating;
    Texture t;
    const std::shared_ptr<Array> array = Array::create(format, shape);
    t.resource.array = array;
    for (unsigned k = 0; k < 16; ++k) {
      const auto value = static_cast<float>(k);
      std::memcpy(array->data() + 4 * k, &value, 4);
    }
    texture = create_texture(t.resource, t.description);
  }
  ~Images() {
    destroy_texture(texture);
    destroy_surface(surface);
  }
  Images(const Images&) = delete;
  Images& operator=(const Images&) = delete;
  std::uint64_t texture = 0, surface = 0;
};

TEST_P(Outcomes, EachKernelEndsAsItsFileSays) {
  Options options;
  options.workers = 1;
  Device gpu(0, **find_gpu_model("h200"), options);
  const std::string text = read_file(WARPGRIND_TESTS "/data/outcomes/" + GetParam());
  auto module = ptx::parse(text, GetParam());
  ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
  auto loaded = gpu.load(*module);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const std::vector<Expectation> all = expectations(text);
  const std::unique_ptr<jit::Compiler> compiler = jit::make_compiler();
  Images images;
  ASSERT_FALSE(all.empty());
  for (const Expectation& e : all) {
    SCOPED_TRACE(e.kernel);
    std::uint32_t f = 0;
    while (f < (*module)->functions.size() && (*module)->functions[f].name != e.kernel) ++f;
    ASSERT_LT(f, (*module)->functions.size());
    // The refusals that `warpgrind scan` reports without running anything.
    EXPECT_EQ(!compiler->refusals(**module, f, {}).empty(), e.outcome == "refused");
    auto* out = reinterpret_cast<std::uint32_t*>(*gpu.allocate(128));
    std::memset(out, 0, 128);
    void* arguments[] = {&out, &images.texture, &images.surface};
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
  for (const auto& entry : std::filesystem::directory_iterator(WARPGRIND_TESTS "/data/outcomes"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, Outcomes, testing::ValuesIn(files()),
                         [](const auto& name) { return name.param.substr(0, name.param.find('.')); });

}  // namespace
}  // namespace warpgrind::device
