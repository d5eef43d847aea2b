// Choice of the PTX to run from an image.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "fatbin/fatbin.h"

namespace warpgrind::fatbin {

namespace {

std::string list_of(const std::set<std::uint32_t>& archs) {
  std::string out;
  for (std::uint32_t a : archs) out += fmt::format("{}sm_{}", out.empty() ? "" : ", ", a);
  return out;
}

// libcudadevrt holds device-side launches as cubins for every architecture, and one PTX that defines __cudaCDP2... .
// The device library of the virtual GPU replaces it.
bool is_device_runtime(std::span<const FatbinEntry> entries, std::uint32_t image) {
  std::size_t cubins = 0;
  const FatbinEntry* ptx = nullptr;
  for (const FatbinEntry& e : entries) {
    if (e.image != image) continue;
    if (e.kind == EntryKind::cubin) ++cubins;
    if (e.kind == EntryKind::ptx) ptx = &e;
  }
  constexpr std::size_t kFewestCubins = 4;
  if (cubins < kFewestCubins || !ptx) return false;
  const auto text = ptx_text(*ptx);
  return text && text->find(".func") != std::string::npos &&
         text->find(" __cudaCDP2LaunchDeviceV2(") != std::string::npos &&
         text->find(".extern .func  (.param .b32 func_retval0) __cudaCDP2LaunchDeviceV2") == std::string::npos;
}

bool runs_machine_code(const std::set<std::uint32_t>& archs, std::uint32_t cc) {
  return std::any_of(archs.begin(), archs.end(), [&](std::uint32_t a) { return a <= cc && a / 10 == cc / 10; });
}

// The suffix of the PTX's target: 'a' (`.target sm_90a`), 'f' (`.target sm_100f`), or ' ' for none.
char suffix_of(const FatbinEntry& ptx) {
  constexpr std::uint32_t kFirstWithSuffix = 90;
  if (ptx.arch < kFirstWithSuffix) return ' ';
  const auto text = ptx_text(ptx);
  if (!text) return ' ';
  const std::string target = fmt::format(".target sm_{}", ptx.arch);
  const std::size_t at = text->find(target);
  const char next = at == std::string::npos || at + target.size() >= text->size() ? ' ' : (*text)[at + target.size()];
  return next == 'a' || next == 'f' ? next : ' ';
}

std::string names_of(const std::vector<const FatbinEntry*>& ptx) {
  std::set<std::pair<std::uint32_t, char>> targets;
  for (const FatbinEntry* e : ptx) targets.emplace(e->arch, suffix_of(*e));
  std::string out;
  for (const auto& [arch, suffix] : targets) {
    out += fmt::format("{}sm_{}", out.empty() ? "" : ", ", arch);
    if (suffix != ' ') out += suffix;
  }
  return out;
}

// CUDA C++ Programming Guide, "Feature Set Compiler Targets": plain PTX runs on every later GPU; sm_100f on those of
// the same major and a later minor version; sm_100a on 10.0 only.
bool fits(const FatbinEntry& ptx, std::uint32_t cc) {
  if (ptx.arch >= cc) return ptx.arch == cc;
  const char suffix = suffix_of(ptx);
  return suffix == ' ' || (suffix == 'f' && ptx.arch / 10 == cc / 10);
}

// Of two entries for the same architecture, the more specific one is better: sm_100a, then sm_100f, then sm_100.
bool is_better(const FatbinEntry& e, const FatbinEntry& best) {
  if (e.arch != best.arch) return e.arch > best.arch;
  constexpr std::string_view kOrder = " fa";
  return kOrder.find(suffix_of(e)) > kOrder.find(suffix_of(best));
}

}  // namespace

Result<Choice> choose_ptx(std::span<const FatbinEntry> entries, std::uint32_t image, std::uint32_t cc, UnfitPtx unfit) {
  std::vector<const FatbinEntry*> all;
  std::set<std::uint32_t> cubin_archs;
  for (const FatbinEntry& e : entries) {
    if (e.image != image) continue;
    if (e.kind == EntryKind::ptx)
      all.push_back(&e);
    else
      cubin_archs.insert(e.arch);
  }
  // fits() and is_better() may unpack the text: entries that cannot win are not asked.
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry* e : all)
    if (e->arch <= cc && (!best || e->arch >= best->arch) && fits(*e, cc) && (!best || is_better(*e, *best))) best = e;
  if (best) return Choice{best, false, false};
  if (!all.empty() && unfit == UnfitPtx::accept) {
    const auto lowest = std::min_element(all.begin(), all.end(), [](auto* a, auto* b) { return a->arch < b->arch; });
    // Machine code beside PTX of sm_120a is for sm_120a as well, and runs on no other GPU.
    for (const FatbinEntry* e : all)
      if (e->arch != cc && suffix_of(*e) == 'a') cubin_archs.erase(e->arch);
    return Choice{*lowest, true, runs_machine_code(cubin_archs, cc)};
  }
  if (!all.empty()) {
    return Error{ErrorKind::bad_input,
                 fmt::format("the program holds PTX only for {}, but the GPU is sm_{}", names_of(all), cc),
                 "Choose such a GPU, or compile for this one: nvcc -arch=..."};
  }
  if (cubin_archs.empty())
    return Error{ErrorKind::bad_input, "the program holds no device code",
                 "Was it built by nvcc or clang with kernels inside?"};
  return Error{ErrorKind::bad_input,
               fmt::format("the program holds no PTX, only machine code for {}", list_of(cubin_archs)),
               fmt::format("Compile with PTX: nvcc -arch=sm_{0}, or add -gencode arch=compute_{0},code=compute_{0}",
                           *cubin_archs.rbegin())};
}

std::uint32_t newest_ptx(std::span<const FatbinEntry> entries, std::uint32_t image) {
  std::uint32_t newest = 0;
  for (const FatbinEntry& e : entries)
    if (e.image == image && e.kind == EntryKind::ptx) newest = std::max(newest, e.arch);
  return newest;
}

std::vector<std::uint32_t> program_images(std::span<const FatbinEntry> entries) {
  const bool only_linked = std::all_of(entries.begin(), entries.end(), [](const FatbinEntry& e) { return e.linked; });
  std::set<std::uint32_t> images;
  for (const FatbinEntry& e : entries) {
    // Linked code repeats the relocatable images; without -rdc=true, the device link step leaves an empty image.
    if (!e.linked || only_linked) images.insert(e.image);
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t image : images) {
    if (!is_device_runtime(entries, image)) out.push_back(image);
  }
  return out;
}

}  // namespace warpgrind::fatbin
