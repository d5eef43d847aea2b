// Object code from LLVM, loaded by our own loader: whole, truncated, and with missing symbols.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "jit/compile/compiler.h"
#include "jit/compile/object_loader.h"
#include "ptx/parser.h"

namespace warpgrind::jit {
namespace {

// Division calls no function. Sine calls the host's C library, and has constants.
constexpr const char* kText = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry f(.param .u64 out)
{
  .reg .f32 %f<3>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [out];
  mov.f32 %f0, 0f40490FDB;
  sin.approx.f32 %f1, %f0;
  div.rn.f32 %f2, %f1, %f0;
  st.global.f32 [%rd], %f2;
  ret;
}
)";

std::string object_code() {
  std::string path = testing::TempDir() + "object-XXXXXX";
  const int file = ::mkstemp(path.data());
  EXPECT_GE(file, 0);
  ::close(file);
  CompileOptions options;
  options.dump_object = path;
  options.verify = false;  // the kernel calls the device's functions, which this program does not have
  // The device's functions are not linked here, so linking fails. The file is written before that.
  (void)make_compiler()->compile(**ptx::parse(kText, "test"), 0, options);
  std::string out = read_whole(path).value_or("");
  ::unlink(path.c_str());
  return out;
}

int one() {
  return 1;
}
void* anything(const char*) {
  return reinterpret_cast<void*>(&one);
}

TEST(ObjectLoader, Whole) {
  const std::string object = object_code();
  ASSERT_FALSE(object.empty());
  const Result<LoadedObject> loaded = load_object(object, "kernel", anything);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_NE(loaded->entry, nullptr);
}

TEST(ObjectLoader, SaysWhatIsMissing) {
  const std::string object = object_code();
  const Result<LoadedObject> no_entry = load_object(object, "another", anything);
  ASSERT_FALSE(no_entry.ok());
  EXPECT_NE(no_entry.error().message.find("no function another"), std::string::npos) << no_entry.error().message;
  std::string requested;
  const Result<LoadedObject> unresolved = load_object(object, "kernel", [&](const char* name) -> void* {
    requested = name;
    return nullptr;
  });
  ASSERT_FALSE(unresolved.ok());
  EXPECT_NE(unresolved.error().message.find("no function " + requested), std::string::npos)
      << unresolved.error().message;
}

// The section list is at the end, so no truncated file is valid.
TEST(ObjectLoader, CutOff) {
  const std::string object = object_code();
  for (std::size_t bytes = 0; bytes < object.size(); bytes += 7)
    EXPECT_FALSE(load_object(std::string_view(object).substr(0, bytes), "kernel", anything).ok()) << bytes;
}

// Every byte of the headers is damaged once: the file is refused or loads, but never crashes.
TEST(ObjectLoader, WrongBytes) {
  const std::string object = object_code();
  for (std::size_t at = 0; at < object.size(); ++at) {
    std::string wrong = object;
    wrong[at] = static_cast<char>(~wrong[at]);
    (void)load_object(wrong, "kernel", anything);
  }
}

}  // namespace
}  // namespace warpgrind::jit
