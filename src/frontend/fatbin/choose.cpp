// Choice of the PTX to run from an image.
#include <fmt/format.h>

#include <algorithm>
#include <set>

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

// PTX for exactly one architecture: `.target sm_90a`.
bool is_specific(const FatbinEntry& ptx) {
  const auto text = ptx_text(ptx);
  if (!text) return false;
  const std::string target = fmt::format(".target sm_{}", ptx.arch);
  const std::size_t at = text->find(target);
  return at != std::string::npos && text->compare(at + target.size(), 1, "a") == 0;
}

// Of two entries for the same architecture, a GPU of that architecture gets the specific one (sm_90a); a newer GPU gets
// the general one.
bool is_better(const FatbinEntry& e, const FatbinEntry& best, std::uint32_t cc) {
  return e.arch != best.arch ? e.arch > best.arch
                             : is_specific(e) == (e.arch == cc) && is_specific(best) != (e.arch == cc);
}

}  // namespace

Result<Choice> choose_ptx(std::span<const FatbinEntry> entries, std::uint32_t image, std::uint32_t cc, NewerPtx newer) {
  const FatbinEntry* best = nullptr;
  const FatbinEntry* lowest_newer = nullptr;
  std::set<std::uint32_t> ptx_archs, cubin_archs;
  for (const FatbinEntry& e : entries) {
    if (e.image != image) continue;
    (e.kind == EntryKind::ptx ? ptx_archs : cubin_archs).insert(e.arch);
    if (e.kind != EntryKind::ptx) continue;
    if (e.arch <= cc && (!best || is_better(e, *best, cc))) best = &e;
    if (e.arch > cc && (!lowest_newer || e.arch < lowest_newer->arch)) lowest_newer = &e;
  }
  if (best) return Choice{best, false, false};
  if (lowest_newer && newer == NewerPtx::accept) return Choice{lowest_newer, true, runs_machine_code(cubin_archs, cc)};
  if (lowest_newer) {
    return Error{ErrorKind::bad_input,
                 fmt::format("the program holds PTX only for {}, but the GPU is sm_{}", list_of(ptx_archs), cc),
                 "Choose a newer GPU, or compile for this one: nvcc -arch=..."};
  }
  if (cubin_archs.empty())
    return Error{ErrorKind::bad_input, "the program holds no device code",
                 "Was it built by nvcc or clang with kernels inside?"};
  return Error{ErrorKind::bad_input,
               fmt::format("the program holds no PTX, only machine code for {}", list_of(cubin_archs)),
               fmt::format("Compile with PTX: nvcc -arch=sm_{0}, or add -gencode arch=compute_{0},code=compute_{0}",
                           *cubin_archs.rbegin())};
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
