// Reductions on surfaces, held against an H200: tests/data/h200/surface_reductions.txt. One kernel for each form; each
// line runs on an array of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "device/memory/array.h"
#include "device/memory/texture.h"
#include "device_fixture.h"

namespace warpgrind::device {
namespace {

struct SurfaceCase {
  std::string form, format, lanes, result;
  std::uint64_t width = 0, height = 0, depth = 0;
  bool layered = false;
};

std::vector<SurfaceCase> surface_cases() {
  std::istringstream lines(read_file(WARPGRIND_TESTS "/data/h200/surface_reductions.txt"));
  std::vector<SurfaceCase> all;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    SurfaceCase c;
    words >> c.form >> c.format >> c.width >> c.height >> c.depth >> c.layered >> c.lanes >> c.result;
    EXPECT_FALSE(words.fail()) << line;
    all.push_back(c);
  }
  return all;
}

// "b.add.2d.u32.trap" -> "b_add_2d_u32_trap"
std::string kernel_name(std::string form) {
  for (char& c : form)
    if (c == '.') c = '_';
  return form;
}

// Each of the first `count` lanes reads x, y, z and a value of 64 bits from 24 bytes.
std::string kernel_of(const std::string& form) {
  const bool wide = form.find("64") != std::string::npos;
  const char* const coordinates = form.find(".1d.") != std::string::npos   ? "{%x}"
                                  : form.find(".2d.") != std::string::npos ? "{%x, %y}"
                                                                           : "{%x, %y, %z, %z}";
  return ".visible .entry " + kernel_name(form) +
         "(.param .u64 s, .param .u64 lanes, .param .u32 count)\n{\n"
         "  .reg .b32 %x, %y, %z, %t, %n, %w; .reg .b64 %s, %l, %v; .reg .pred %p;\n"
         "  ld.param.u64 %s, [s]; ld.param.u64 %l, [lanes]; ld.param.u32 %n, [count];\n"
         "  mov.u32 %t, %tid.x; setp.ge.u32 %p, %t, %n; @%p ret;\n"
         "  mad.wide.u32 %l, %t, 24, %l;\n"
         "  ld.global.u32 %x, [%l]; ld.global.u32 %y, [%l+4]; ld.global.u32 %z, [%l+8]; ld.global.u64 %v, [%l+16];\n"
         "  cvt.u32.u64 %w, %v;\n"
         "  sured." +
         form + " [%s, " + coordinates + "], " + (wide ? "%v" : "%w") + ";\n  ret;\n}\n";
}

ChannelFormat format_of(const std::string& name) {
  const auto by = name.find('x');
  const unsigned channels = by == std::string::npos ? 1 : static_cast<unsigned>(name[by + 1] - '0');
  ChannelFormat f;
  f.kind = name[0] == 'u'   ? ChannelFormat::Kind::unsigned_integer
           : name[0] == 's' ? ChannelFormat::Kind::signed_integer
                            : ChannelFormat::Kind::floating;
  for (unsigned k = 0; k < channels; ++k) f.bits[k] = static_cast<std::uint8_t>(std::stoi(name.substr(1)));
  return f;
}

std::uint64_t split_mix(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15;
  n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9;
  n = (n ^ n >> 27) * 0x94d049bb133111eb;
  return n ^ n >> 31;
}

struct LaneInput {
  std::int32_t x = 0, y = 0, z = 0, unused = 0;
  std::uint64_t value = 0;
};

std::vector<LaneInput> lanes_of(const std::string& text) {
  std::vector<LaneInput> all;
  std::istringstream lanes(text);
  for (std::string one; std::getline(lanes, one, ';');) {
    LaneInput l;
    EXPECT_EQ(std::sscanf(one.c_str(), "%d,%d,%d,%lx", &l.x, &l.y, &l.z, &l.value), 4) << one;
    all.push_back(l);
  }
  return all;
}

// The result as a line of the file has it.
std::string changes(const std::vector<std::uint8_t>& before, const std::uint8_t* after) {
  std::string out;
  for (std::size_t i = 0; i < before.size(); i += 4) {
    if (std::memcmp(&before[i], after + i, 4) == 0) continue;
    std::uint32_t word = 0;
    std::memcpy(&word, after + i, 4);
    out += fmt::format("{}{}={:08x}", out.empty() ? "" : ";", i, word);
  }
  return out.empty() ? "unchanged" : out;
}

class SurfaceReductions : public testing::Test {
 protected:
  void SetUp() override {
    std::string text = ".version 8.6\n.target sm_90\n.address_size 64\n";
    std::set<std::string> forms;
    for (const SurfaceCase& c : cases) forms.insert(c.form);
    for (const std::string& form : forms) text += kernel_of(form);
    auto parsed = ptx::parse(text, "surface_reductions");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message << parsed.error().detail;
    module = *parsed;
    auto made = gpu.load(module);
    ASSERT_TRUE(made.ok());
    loaded = *made;
    for (std::uint32_t f = 0; f < module->functions.size(); ++f) functions[module->functions[f].name] = f;
  }

  std::string run(const SurfaceCase& c) {
    ArrayShape shape_of;
    shape_of.width = c.width, shape_of.height = c.height, shape_of.depth = c.depth;
    shape_of.layered = c.layered;
    std::shared_ptr<Array> array = Array::create(format_of(c.format), shape_of);
    std::vector<std::uint8_t> before(array->size());
    for (std::size_t i = 0; i < before.size(); ++i)
      before[i] = static_cast<std::uint8_t>(split_mix(i / 8) >> i % 8 * 8);
    std::memcpy(array->data(), before.data(), before.size());
    std::uint64_t surface = create_surface(array);
    const std::vector<LaneInput> lanes = lanes_of(c.lanes);
    auto count = static_cast<std::uint32_t>(lanes.size());
    std::uint64_t input = *gpu.allocate(lanes.size() * sizeof(LaneInput));
    std::memcpy(reinterpret_cast<void*>(input), lanes.data(), lanes.size() * sizeof(LaneInput));
    void* arguments[] = {&surface, &input, &count};
    auto result = gpu.launch(loaded, functions.at(kernel_name(c.form)), shape({1, 1, 1}, {32, 1, 1}), arguments);
    destroy_surface(surface);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    if (!result.ok()) return "";
    if (!result->fault) return changes(before, array->data());
    return result->fault->kind == FaultKind::misaligned_address ? "misaligned" : "outside";
  }

  Device gpu{0, **find_gpu_model("h200"), {}};
  const std::vector<SurfaceCase> cases = surface_cases();
  std::shared_ptr<const ptx::Module> module;
  LoadedModule* loaded = nullptr;
  std::map<std::string, std::uint32_t> functions;
};

TEST_F(SurfaceReductions, GiveWhatAnH200Gave) {
  EXPECT_GT(cases.size(), 400u);
  for (const SurfaceCase& c : cases)
    EXPECT_EQ(run(c), c.result) << c.form << ' ' << c.format << ' ' << c.width << 'x' << c.height << 'x' << c.depth
                                << " lanes " << c.lanes;
}

}  // namespace
}  // namespace warpgrind::device
