// Reader of fatbins: compressions, choice of code for a GPU, damaged input, wrappers and ELF files.
#include "fatbin/fatbin.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "fatbin/elf_image.h"

namespace warpgrind::fatbin {
namespace {

namespace fs = std::filesystem;

// A fatbin in nvcc's layout: header of 16 bytes, entries of 64 bytes + payload.
class Builder {
 public:
  Builder& add(std::uint16_t kind, std::uint32_t arch, std::string payload,
               Compression compression = Compression::none) {
    std::uint64_t flags = 0x11, unpacked = 0;
    std::uint32_t packed = 0;
    if (compression != Compression::none) {
      unpacked = payload.size();
      std::string out(payload.size() + 1000, '\0');
      if (compression == Compression::zstd) {
        flags |= 0x8000;
        out.resize(ZSTD_compress(out.data(), out.size(), payload.data(), payload.size(), 3));
      } else {
        flags |= 0x2000;
        out.resize(static_cast<std::size_t>(LZ4_compress_default(
            payload.data(), out.data(), static_cast<int>(payload.size()), static_cast<int>(out.size()))));
      }
      payload = out;
      packed = static_cast<std::uint32_t>(payload.size());
    }
    payload.resize((payload.size() + 7) / 8 * 8);
    put<std::uint16_t>(kind);
    put<std::uint16_t>(0x0101);
    put<std::uint32_t>(64);
    put<std::uint64_t>(payload.size());
    put<std::uint32_t>(packed);
    put<std::uint32_t>(0);
    put<std::uint16_t>(0);
    put<std::uint16_t>(9);
    put<std::uint32_t>(arch);
    put<std::uint64_t>(0);
    put<std::uint64_t>(flags);
    put<std::uint64_t>(0);
    put<std::uint64_t>(unpacked);
    body_ += payload;
    return *this;
  }
  std::string build() const {
    std::string head(16, '\0');
    const std::uint32_t magic = 0xBA55ED50;
    const std::uint16_t version = 1, size = 16;
    const std::uint64_t bytes = body_.size();
    std::memcpy(head.data(), &magic, 4);
    std::memcpy(head.data() + 4, &version, 2);
    std::memcpy(head.data() + 6, &size, 2);
    std::memcpy(head.data() + 8, &bytes, 8);
    return head + body_;
  }

 private:
  template <class T>
  void put(T value) {
    body_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string body_;
};

std::span<const std::byte> as_bytes(const std::string& s) {
  return std::as_bytes(std::span(s));
}

const std::string kPtx =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n" + std::string(500, '\n');

TEST(Fatbin, UnpacksAllCompressions) {
  for (Compression c : {Compression::none, Compression::lz4, Compression::zstd}) {
    const std::string bin = Builder().add(1, 90, kPtx + std::string(5, '\0'), c).build();
    const auto entries = read_fatbin(as_bytes(bin));
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 1u);
    EXPECT_EQ(entries->front().compression, c);
    EXPECT_EQ(entries->front().major, 9u);
    const auto text = ptx_text(entries->front());
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, kPtx);
  }
}

TEST(Fatbin, ChoosesTheHighestArchitectureThatFits) {
  const std::string bin = Builder().add(1, 75, kPtx).add(1, 120, kPtx).add(2, 90, "elf").add(1, 80, kPtx).build();
  const auto entries = read_fatbin(as_bytes(bin));
  ASSERT_TRUE(entries);
  EXPECT_EQ(choose_ptx(*entries, 0, 90, UnfitPtx::refuse)->entry->arch, 80u);
  EXPECT_EQ(choose_ptx(*entries, 0, 120, UnfitPtx::refuse)->entry->arch, 120u);
  const auto old = choose_ptx(*entries, 0, 35, UnfitPtx::refuse);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().message, "the program holds PTX only for sm_75, sm_80, sm_120, but the GPU is sm_35");
  const auto anyway = choose_ptx(*entries, 0, 35, UnfitPtx::accept);
  EXPECT_EQ(anyway->entry->arch, 75u);
  EXPECT_TRUE(anyway->unfit);
}

TEST(Fatbin, OneArchitectureAloneOrWithOthers) {
  std::string alone = kPtx;
  alone.insert(alone.find("sm_90") + 5, "a");
  for (const bool first : {true, false}) {
    const std::string bin = Builder().add(1, 90, first ? alone : kPtx).add(1, 90, first ? kPtx : alone).build();
    const auto entries = read_fatbin(as_bytes(bin));
    ASSERT_TRUE(entries);
    const FatbinEntry &plain = (*entries)[first], &specific = (*entries)[!first];
    EXPECT_EQ(choose_ptx(*entries, 0, 90, UnfitPtx::refuse)->entry, &specific);
    EXPECT_EQ(choose_ptx(*entries, 0, 100, UnfitPtx::refuse)->entry, &plain);
  }
}

std::string ptx_for(const std::string& target) {
  std::string text = kPtx;
  return text.replace(text.find("sm_90"), 5, target);
}

// PTX for sm_90a runs on 9.0 alone, PTX for sm_100f on 10.x.
TEST(Fatbin, SpecificPtxRunsOnItsOwnGpusOnly) {
  const std::string bin = Builder()
                              .add(1, 80, ptx_for("sm_80"))
                              .add(1, 90, ptx_for("sm_90a"))
                              .add(1, 100, ptx_for("sm_100f"))
                              .add(1, 100, ptx_for("sm_100a"))
                              .build();
  const auto entries = read_fatbin(as_bytes(bin));
  ASSERT_TRUE(entries);
  const struct {
    unsigned cc;
    std::size_t entry;
  } wanted[] = {{89, 0}, {90, 1}, {100, 3}, {103, 2}, {120, 0}};
  for (const auto& want : wanted) {
    const auto choice = choose_ptx(*entries, 0, want.cc, UnfitPtx::refuse);
    ASSERT_TRUE(choice) << want.cc;
    EXPECT_EQ(choice->entry, &(*entries)[want.entry]) << want.cc;
  }
  EXPECT_EQ(newest_ptx(*entries, 0), 100u);
}

TEST(Fatbin, SpecificPtxAloneIsRefusedAsTheDriverRefusesIt) {
  const std::string bin = Builder().add(1, 90, ptx_for("sm_90a")).build();
  const auto entries = read_fatbin(as_bytes(bin));
  ASSERT_TRUE(entries);
  const auto refused = choose_ptx(*entries, 0, 100, UnfitPtx::refuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the program holds PTX only for sm_90a, but the GPU is sm_100");
  const auto accepted = choose_ptx(*entries, 0, 100, UnfitPtx::accept);
  ASSERT_TRUE(accepted);
  EXPECT_TRUE(accepted->unfit);
}

// nvcc -gencode arch=compute_120a,code=[sm_120a,compute_120a]: neither runs on 12.1, as the manual's section says.
TEST(Fatbin, MachineCodeOfOneGpuRunsOnNoOther) {
  const auto unfit = [](const char* target) {
    const std::string bin = Builder().add(2, 120, "elf").add(1, 120, ptx_for(target)).build();
    const auto entries = read_fatbin(as_bytes(bin));
    const auto choice = choose_ptx(*entries, 0, 121, UnfitPtx::accept);
    return std::pair(choice->unfit, choice->machine_code);
  };
  EXPECT_EQ(unfit("sm_120a"), std::pair(true, false));
  EXPECT_EQ(unfit("sm_120f"), std::pair(false, false));
}

// Like CuPy's binding of CUB: an H200 runs its cubin; a virtual GPU runs the available PTX.
TEST(Fatbin, NewerPtxBesideMachineCodeThatTheGpuRuns) {
  const std::string bin = Builder().add(2, 80, "elf").add(2, 90, "elf").add(1, 120, kPtx).build();
  const auto entries = read_fatbin(as_bytes(bin));
  ASSERT_TRUE(entries);
  const struct {
    unsigned cc;
    bool unfit, machine_code;
  } wanted[] = {{120, false, false}, {90, true, true},  {86, true, true},
                {89, true, true},    {75, true, false}, {100, true, false}};
  for (const auto& want : wanted) {
    const auto choice = choose_ptx(*entries, 0, want.cc, UnfitPtx::accept);
    ASSERT_TRUE(choice) << want.cc;
    EXPECT_EQ(choice->unfit, want.unfit) << want.cc;
    EXPECT_EQ(choice->machine_code, want.machine_code) << want.cc;
  }
}

TEST(Fatbin, MachineCodeAloneIsAClearError) {
  const std::string bin = Builder().add(2, 90, "elf").build();
  const auto entries = read_fatbin(as_bytes(bin));
  const auto choice = choose_ptx(*entries, 0, 90, UnfitPtx::accept);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().message, "the program holds no PTX, only machine code for sm_90");
}

TEST(Fatbin, EveryTruncationIsAnError) {
  const std::string bin = Builder().add(1, 90, kPtx, Compression::zstd).add(2, 90, "cubin").build();
  for (std::size_t n = 0; n < bin.size(); ++n) {
    const std::string cut = bin.substr(0, n);
    const auto entries = read_fatbin(as_bytes(cut));
    if (n == 0) continue;
    ASSERT_FALSE(entries) << n;
    EXPECT_NE(entries.error().message.find("damaged"), std::string::npos);
  }
}

TEST(Fatbin, DamagedPayloadsAreErrors) {
  for (Compression c : {Compression::lz4, Compression::zstd}) {
    std::string bin = Builder().add(1, 90, kPtx, c).build();
    for (std::size_t k = 16 + 64; k < bin.size(); ++k) bin[k] = static_cast<char>(bin[k] ^ 0x5a);
    const auto entries = read_fatbin(as_bytes(bin));
    ASSERT_TRUE(entries);
    EXPECT_FALSE(ptx_text(entries->front()));
  }
  std::string bomb = Builder().add(1, 90, kPtx, Compression::zstd).build();
  const std::uint64_t claimed = 1ull << 60;
  std::memcpy(bomb.data() + 16 + 56, &claimed, 8);
  EXPECT_FALSE(ptx_text(read_fatbin(as_bytes(bomb))->front()));
}

struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  const void* fatbins = nullptr;
};

TEST(Fatbin, WrappersInMemory) {
  const std::string one = Builder().add(1, 90, kPtx, Compression::zstd).build();
  Wrapper v1;
  v1.data = one.data();
  const auto first = read_wrapper(&v1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 1u);

  const std::string linked = Builder().add(2, 90, "elf").build(), two = Builder().add(1, 80, kPtx).build();
  const void* array[] = {one.data(), two.data(), nullptr};
  Wrapper v2;
  v2.version = 2;
  v2.data = linked.data();
  v2.fatbins = array;
  const auto second = read_wrapper(&v2);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->size(), 3u);
  EXPECT_TRUE(second->front().linked);
  EXPECT_EQ(program_images(*second), (std::vector<std::uint32_t>{1, 2}));

  v2.magic = 1;
  EXPECT_FALSE(read_wrapper(&v2));
}

TEST(Fatbin, FilesOfOtherKinds) {
  const fs::path folder = fs::temp_directory_path() / "warpgrind_fatbin_test";
  fs::create_directories(folder);
  const auto with = [&folder](const char* name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    return (folder / name).string();
  };
  const auto ptx = read_file(with("a.ptx", kPtx));
  ASSERT_TRUE(ptx);
  EXPECT_EQ(ptx->front().arch, 90u);
  EXPECT_EQ(*ptx_text(ptx->front()), kPtx);
  EXPECT_TRUE(read_file(with("a.fatbin", Builder().add(1, 90, kPtx).build())));
  EXPECT_FALSE(read_file(with("empty", "")));
  EXPECT_FALSE(read_file(with("text", "hello")));
  EXPECT_FALSE(read_file(with("elf",
                              "\x7f"
                              "ELF\2\1\1")));
  EXPECT_FALSE(read_file((folder / "missing").string()));
  EXPECT_FALSE(read_file(folder.string()));
  fs::remove_all(folder);
}

// This test program itself is an ELF file without device code.
TEST(Fatbin, AProgramWithoutDeviceCodeHasNoEntries) {
  const auto entries = read_file("/proc/self/exe");
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_TRUE(entries->empty());
}

// If nvcc is available: its real output in all forms.
TEST(Fatbin, RunPathIsThatOfTheLoader) {
  const fs::path folder = fs::temp_directory_path() / ("warpgrind_run_path_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "a.cpp") << "const char* text = \"/only/text\";\nint main() { return *text == 0; }\n";
  const auto path_of = [&folder](const std::string& options) {
    const std::string command = "cd " + folder.string() + " && c++ a.cpp -o a.out " + options;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream file(folder / "a.out", std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    const auto image = ElfImage::open(std::as_bytes(std::span(content)));
    return image ? run_path(*image) : std::vector<std::string>{"no ELF file"};
  };
  EXPECT_EQ(path_of(""), std::vector<std::string>{});
  EXPECT_EQ(path_of("-Wl,-rpath,/a/b -Wl,-rpath,/c"), (std::vector<std::string>{"/a/b", "/c"}));
  EXPECT_EQ(path_of("-Wl,--disable-new-dtags,-rpath,/d"), std::vector<std::string>{"/d"});
  fs::remove_all(folder);
}

// A cubin as ptxas writes it, with only the sections that are read.
class Cubin {
 public:
  Cubin() { add("", 0, ""); }
  void add(const std::string& name, std::uint32_t type, const std::string& content, std::uint32_t link = 0) {
    sections_.push_back({static_cast<std::uint32_t>(names_.size()), type, content, link});
    names_ += name + '\0';
  }
  std::string take() {
    add(".shstrtab", 3, "");
    sections_.back().content = names_;
    std::string file(64, '\0');
    std::string table;
    for (const Section& s : sections_) {
      table += word(s.name) + word(s.type) + std::string(16, '\0') + word(file.size()) + word(0) +
               word(s.content.size()) + word(0) + word(s.link) + std::string(20, '\0');
      file += s.content;
    }
    std::string head =
        "\x7f"
        "ELF\x02\x01\x01";
    head.resize(16, '\0');
    head += half(2) + half(190) + word(1) + std::string(16, '\0') + word(file.size()) + word(0) + word(0) + half(64) +
            std::string(4, '\0') + half(64) + half(sections_.size()) + half(sections_.size() - 1);
    return file.replace(0, 64, head) + table;
  }
  static std::string word(std::uint64_t n) { return half(n) + half(n >> 16); }
  static std::string half(std::uint64_t n) { return {static_cast<char>(n), static_cast<char>(n >> 8)}; }
  static std::string attribute(unsigned kind, const std::string& data) {
    return half(0x04 | kind << 8) + half(data.size()) + data;
  }

 private:
  struct Section {
    std::uint32_t name = 0, type = 0;
    std::string content;
    std::uint32_t link = 0;
  };
  std::vector<Section> sections_;
  std::string names_;
};

std::map<std::string, MachineCode> code_of(std::string file, std::uint32_t arch = 90) {
  FatbinEntry e;
  e.kind = EntryKind::cubin;
  e.arch = arch;
  e.payload = std::as_bytes(std::span(file.data(), file.size()));
  e.size = file.size();
  auto code = machine_code(e);
  EXPECT_TRUE(code);
  return code ? code.take() : std::map<std::string, MachineCode>();
}

// Attributes of ptxas 13.0 for a kernel with __launch_bounds__(256, 6): 40 registers, 600 bytes of stack, and the
// offsets of the instructions that spill.
TEST(Cubins, RegistersStackAndSpillsAreRead) {
  const auto w = Cubin::word;
  const auto make = [&](const std::string& spills) {
    Cubin cubin;
    cubin.add(".strtab", 3, std::string("\0k\0", 3));
    cubin.add(".symtab", 2, std::string(24, '\0') + w(1) + std::string(20, '\0'), 1);
    cubin.add(".nv.info", 0x70000000,
              Cubin::attribute(0x2f, w(1) + w(40)) + Cubin::attribute(0x11, w(1) + w(592)) +
                  Cubin::attribute(0x12, w(1) + w(600)));
    cubin.add(".nv.info.k", 0x70000000, Cubin::attribute(0x37, w(130)) + Cubin::attribute(0x55, spills));
    cubin.add(".text.k", 1, std::string(64, '\0'));
    return cubin.take();
  };
  // One of another kind, and one behind the code.
  const MachineCode code = code_of(make(w(1) + w(0x20) + w(1) + w(0x10) + w(2) + w(0) + w(1) + w(0x40))).at("k");
  EXPECT_EQ(code.registers, 40u);
  EXPECT_EQ(code.frame_bytes, 592u);
  EXPECT_EQ(code.stack_bytes, 600u);
  EXPECT_EQ(code.instructions, 4u);
  EXPECT_EQ(code.spills, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(code_of(make("")).at("k").spills.empty());
  EXPECT_TRUE(code_of(make(w(1))).at("k").spills.empty());  // damaged
}

class Nvcc : public ::testing::TestWithParam<const char*> {};

TEST_P(Nvcc, ProgramsAreRead) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "nvcc is not installed";
  const fs::path folder = fs::temp_directory_path() / ("warpgrind_fatbin_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "a.cu") << "__global__ void k(int* p) { *p = 3; }\nint main() { k<<<1, 1>>>(nullptr); }\n";
  const std::string output = (folder / "a.out").string();
  const std::string command =
      "cd " + folder.string() + " && nvcc " + GetParam() + " a.cu -o " + output + " > /dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const auto entries = read_file(output);
  ASSERT_TRUE(entries) << entries.error().message;
  const auto images = program_images(*entries);
  ASSERT_EQ(images.size(), 1u);
  const auto choice = choose_ptx(*entries, images[0], 90, UnfitPtx::refuse);
  ASSERT_TRUE(choice) << choice.error().message;
  const auto text = ptx_text(*choice->entry);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find(".visible .entry _Z1kPi("), std::string::npos);
  for (const FatbinEntry& e : *entries) {
    if (e.kind != EntryKind::cubin || e.linked) continue;
    const auto code = machine_code(e);
    ASSERT_TRUE(code) << code.error().message;
    EXPECT_GT(code->at("_Z1kPi").registers, 0u);
    EXPECT_TRUE(code->at("_Z1kPi").spills.empty());
  }
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(
    Fatbin, Nvcc,
    ::testing::Values("-arch=sm_90", "-arch=sm_90 -rdc=true", "-arch=sm_90 -c", "-arch=sm_90 -rdc=true -c",
                      "-arch=sm_90 --compress-mode=speed", "-arch=sm_90 --compress-mode=none",
                      "-arch=sm_90 --compress-mode=size", "-arch=sm_90 -lineinfo -cudart shared", "-arch=sm_90 -G",
                      "-arch=sm_90 -shared -Xcompiler -fPIC",
                      "-gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90",
                      "-arch=sm_90 -Xcompiler -no-pie"));

}  // namespace
}  // namespace warpgrind::fatbin
