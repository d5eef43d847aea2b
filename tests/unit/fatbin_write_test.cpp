// Writer of fatbins and of the objects that contain them.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "fatbin/elf_image.h"
#include "fatbin/fatbin.h"
#include "fatbin/write.h"

namespace warpgrind::fatbin {
namespace {

const std::string kSmallPtx = ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";

std::span<const std::byte> bytes_of(const std::string& s) {
  return std::as_bytes(std::span(s));
}

TEST(FatbinWrite, WhatIsWrittenIsRead) {
  PtxCode lines{kSmallPtx, 90, "folder/a.cu", false, true};
  PtxCode debug{".version 7.1\n" + std::string(5000, '\n'), 75, "b.cu", true, false};
  const std::string bin = make_fatbin({lines, debug, {kSmallPtx, 80, "", false, false}});
  const auto entries = read_fatbin(bytes_of(bin));
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 3u);
  const FatbinEntry &first = (*entries)[0], &second = (*entries)[1], &third = (*entries)[2];
  EXPECT_EQ(first.arch, 90u);
  EXPECT_EQ(first.major, 8u);
  EXPECT_EQ(first.minor, 5u);
  EXPECT_EQ(first.name, "folder/a.cu");
  EXPECT_EQ(first.options, "--generate-line-info");
  EXPECT_FALSE(first.debug);
  EXPECT_EQ(second.name, "b.cu");
  EXPECT_EQ(second.options, "");
  EXPECT_TRUE(second.debug);
  EXPECT_EQ(second.major, 7u);
  EXPECT_EQ(second.minor, 1u);
  EXPECT_EQ(third.name, "");
  const auto text = ptx_text(first);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, kSmallPtx);
  EXPECT_EQ(*ptx_text(second), debug.text);
}

TEST(FatbinWrite, AnEmptyFatbinIsOne) {
  const auto entries = read_fatbin(bytes_of(make_fatbin({})));
  ASSERT_TRUE(entries);
  EXPECT_TRUE(entries->empty());
}

// A minimal object: section 0, the section names, and the others with one byte each.
std::string object_with(const std::vector<std::string>& sections) {
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  const auto add = [&](const std::string& name) {
    Elf64_Shdr h{};
    h.sh_name = static_cast<Elf64_Word>(names.size());
    h.sh_type = SHT_PROGBITS;
    h.sh_addralign = 8;
    names += name + '\0';
    headers.push_back(h);
  };
  for (const std::string& name : sections) add(name);
  add(".shstrtab");
  std::string content(sizeof(Elf64_Ehdr), '\0');
  for (std::size_t i = 1; i + 1 < headers.size(); i++) {
    headers[i].sh_offset = content.size();
    headers[i].sh_size = 1;
    content += static_cast<char>('a' + i);
  }
  headers.back().sh_offset = content.size();
  headers.back().sh_size = names.size();
  content += names;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_REL;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  header.e_shoff = content.size();
  std::memcpy(content.data(), &header, sizeof header);
  content.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
  return content;
}

TEST(FatbinWrite, ASectionGetsOtherContent) {
  std::string object = object_with({".text", ".nv_fatbin", ".data"});
  const std::string content(12345, 'x');
  const auto replaced = replace_section(object, ".nv_fatbin", content);
  ASSERT_TRUE(replaced && *replaced);
  const auto image = ElfImage::open(bytes_of(object));
  ASSERT_TRUE(image);
  const auto text_of = [&](const char* name) {
    const Bytes bytes = image->section(name)->bytes;
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(text_of(".nv_fatbin"), content);
  EXPECT_EQ(text_of(".text"), "b");
  EXPECT_EQ(text_of(".data"), "d");
}

TEST(FatbinWrite, WhatCannotBeReplacedIsSaid) {
  std::string none = object_with({".text"});
  const auto found = replace_section(none, ".nv_fatbin", "x");
  EXPECT_TRUE(found && !*found);
  std::string two = object_with({".nv_fatbin", ".nv_fatbin"}), text = "no object";
  for (std::string* object : {&two, &text}) {
    const std::string before = *object;
    EXPECT_FALSE(replace_section(*object, ".nv_fatbin", "x"));
    EXPECT_EQ(*object, before);
  }
}

TEST(FatbinWrite, AModuleIsRenamedEverywhere) {
  const std::string before =
      "__cudaRegisterLinkedBinary__nv_844efdf4a0f89a06 __fatbinwrap__nv_844efdf4a0f89a06 __nv_module_id";
  std::string one = before, same = before, other = before;
  rename_module(one, "a");
  rename_module(same, "a");
  rename_module(other, "b");
  EXPECT_EQ(one.size(), before.size());
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
  EXPECT_EQ(one.find("844efdf4a0f89a06"), std::string::npos);
  std::string untouched = "nothing of the kind";
  rename_module(untouched, "a");
  EXPECT_EQ(untouched, "nothing of the kind");
}

}  // namespace
}  // namespace warpgrind::fatbin
