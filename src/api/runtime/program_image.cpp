// Loaded objects of the process, and the ELF sections and symbols that identify CUDA code and runtimes.
#include "runtime/program_image.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace warpgrind::runtime {

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> out;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        auto& objects = *static_cast<std::vector<LoadedObject>*>(list);
        LoadedObject object;
        object.is_executable = objects.empty();  // the executable comes first
        object.path = object.is_executable ? "/proc/self/exe" : info->dlpi_name ? info->dlpi_name : "";
        object.base = info->dlpi_addr;
        objects.push_back(std::move(object));
        return 0;
      },
      &out);
  // The vDSO has no file, so its name has no '/'. A library may have a relative path.
  std::erase_if(out, [](const LoadedObject& o) { return o.path.find('/') == std::string::npos; });
  return out;
}

std::vector<LoadedObject> NewObjects::operator()() {
  unsigned long long closed = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_subs;
        return 1;
      },
      &closed);
  const auto before = [](const LoadedObject& a, const LoadedObject& b) { return a.path < b.path; };
  std::vector<LoadedObject> all = loaded_objects(), fresh;
  std::vector<LoadedObject> known = closed == closed_ ? std::move(known_) : std::vector<LoadedObject>();
  for (const LoadedObject& object : all) {
    const auto [first, last] = std::equal_range(known.begin(), known.end(), object, before);
    if (std::none_of(first, last, [&](const LoadedObject& k) { return k.base == object.base; }))
      fresh.push_back(object);
  }
  std::sort(all.begin(), all.end(), before);
  known_ = std::move(all);
  closed_ = closed;
  return fresh;
}

ProgramImage::~ProgramImage() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

bool ProgramImage::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info {};
  bool good = ::fstat(fd, &info) == 0 && static_cast<std::size_t>(info.st_size) >= sizeof(Elf64_Ehdr);
  void* map =
      good ? ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (map == MAP_FAILED) return false;
  data_ = static_cast<const std::byte*>(map);
  size_ = static_cast<std::size_t>(info.st_size);
  elf_ = fatbin::ElfImage::open({data_, size_});
  return elf_.has_value();
}

bool ProgramImage::has_cuda_code() const {
  return elf_->section(".nvFatBinSegment") || elf_->section(".nv_fatbin") || elf_->section("__nv_relfatbin");
}

bool ProgramImage::has_symbol_table() const {
  return elf_->section(".symtab") != nullptr;
}

namespace {

// A function that every copy of the runtime defines, since nvcc's constructors call it.
constexpr std::string_view kRegister = "__cudaRegisterFatBinary";

}  // namespace

bool ProgramImage::has_static_runtime() const {
  for (const fatbin::ElfSection& table : elf_->sections()) {
    if (table.type != SHT_SYMTAB || table.link >= elf_->sections().size()) continue;
    // First searches all names at once. A library of 100 MB has 10 MB of names, and reading each symbol takes ten times
    // as long.
    const fatbin::Bytes names = elf_->sections()[table.link].bytes;
    if (::memmem(names.data(), names.size(), kRegister.data(), kRegister.size())) return defines(kRegister);
  }
  return false;
}

bool ProgramImage::needs_shared_runtime() const {
  const std::vector<std::string> needed = fatbin::needed_libraries(*elf_);
  return std::any_of(needed.begin(), needed.end(), [](const std::string& name) {  // may be a full path
    return std::string_view(name).substr(name.rfind('/') + 1).starts_with("libcudart.so");
  });
}

namespace {

// Calls see(name, symbol) for every function that the file defines.
template <class See>
void each_function(const fatbin::ElfImage& elf, See see) {
  for (const fatbin::ElfSection& table : elf.sections()) {
    if ((table.type != SHT_SYMTAB && table.type != SHT_DYNSYM) || table.link >= elf.sections().size()) continue;
    const fatbin::Bytes names = elf.sections()[table.link].bytes;
    for (std::uint64_t at = 0; const auto symbol = fatbin::read<Elf64_Sym>(table.bytes, at); at += sizeof(Elf64_Sym))
      if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0)
        see(fatbin::text_at(names, symbol->st_name), *symbol);
  }
}

}  // namespace

std::vector<ProgramImage::Function> ProgramImage::runtime_functions() const {
  std::vector<Function> out;
  bool registers = false;
  each_function(*elf_, [&](std::string_view name, const Elf64_Sym& symbol) {
    if (!name.starts_with("cuda") && !name.starts_with("__cuda")) return;
    registers |= name == kRegister;
    // Functions start at multiples of 16, so the bytes after a short one up to the next multiple are padding.
    out.push_back({std::string(name), symbol.st_value, (symbol.st_size + 15) & ~std::uint64_t{15}});
  });
  if (!registers) out.clear();
  return out;
}

int ProgramImage::runtime_release(const std::vector<Function>& functions) {
  const auto has = [&](std::string_view name) {
    return std::any_of(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
  };
  if (has("cudaGetDeviceProperties_v2")) return 12;       // added in 12.0, removed in 13.0
  if (!has("cudaBindTexture")) return 13;                 // removed in 12.0
  return has("cudaCtxResetPersistingL2Cache") ? 11 : 10;  // added in 11.0
}

bool ProgramImage::defines(std::string_view function) const {
  bool found = false;
  each_function(*elf_, [&](std::string_view name, const Elf64_Sym&) { found |= name == function; });
  return found;
}

}  // namespace warpgrind::runtime
