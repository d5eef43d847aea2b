// A kernel in the disk cache belongs to the LLVM that compiled it. The check does not load LLVM.
#include <gtest/gtest.h>

#include <fstream>

#include "jit/compile/kernel_archive.h"

namespace warpgrind::jit {
namespace {

struct Kernel final : CompiledKernel {
  WarpFunction entry() const override { return nullptr; }
  const events::KernelFacts& facts() const override { return own; }
  void store_quick_seconds(double) const override {}
  events::KernelFacts own;
};

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

TEST(KernelArchive, OfOneVersionOfLlvm) {
  const std::string path = testing::TempDir() + "no-llvm.so";
  write(path, "one");
  Kernel kernel, found;
  kernel.own.name = "k";
  kernel.local_bytes = 24;
  const std::string bytes = pack(kernel, FileIdentity::of(path), "object");
  const auto object = unpack(bytes, found, found.own);
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(*object, "object");
  EXPECT_EQ(found.own.name, "k");
  EXPECT_EQ(found.local_bytes, 24u);

  write(path, "a newer one");
  EXPECT_FALSE(unpack(bytes, found, found.own).has_value());
  ASSERT_EQ(std::remove(path.c_str()), 0);
  EXPECT_FALSE(unpack(bytes, found, found.own).has_value());
}

TEST(KernelArchive, CutOff) {
  Kernel kernel, found;
  const std::string bytes = pack(kernel, FileIdentity::of("/nowhere"), "object");
  for (std::size_t n = 0; n + 6 <= bytes.size(); ++n)
    EXPECT_FALSE(unpack(std::string_view(bytes).substr(0, n), found, found.own).has_value()) << n;
}

}  // namespace
}  // namespace warpgrind::jit
