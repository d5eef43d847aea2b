// ELF loader: lays out the sections, maps them, applies relocations and sets the protection of each segment.
#include "jit/compile/object_loader.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.h"

namespace warpgrind::jit {

LoadedObject::~LoadedObject() {
  if (memory_) ::munmap(memory_, bytes_);
}

namespace {

constexpr std::uint64_t kPage = 4096, kStubBytes = 16, kSlotBytes = 8;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;  // reach of relative addresses

std::uint64_t aligned(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

Error bad(const std::string& what) {
  return Error{ErrorKind::environment, "the JIT cannot link a kernel: " + what, ""};
}

// Each protection has its own pages. Code is followed by a stub for each external symbol, since those lie farther away
// than a call reaches. Constants are followed by a slot with the address of each symbol.
enum ObjectSegment : unsigned { kCode, kConstants, kData, kSegments };

struct Section {
  Elf64_Shdr header{};
  std::optional<ObjectSegment> segment;  // none: not loaded
  std::uint64_t at = 0;                  // offset in the mapping
};
struct Symbol {
  std::string name;
  std::uint64_t address = 0;
  bool outside = false;
};

class Loader {
 public:
  explicit Loader(std::string_view object) : object_(object) {}
  Result<LoadedObject> load(std::string_view entry, const std::function<void*(const char*)>& resolve);

 private:
  template <class T>
  bool read(std::uint64_t offset, T& out) const {
    if (offset > object_.size() || object_.size() - offset < sizeof out) return false;
    std::memcpy(&out, object_.data() + offset, sizeof out);
    return true;
  }
  std::string text(std::uint64_t offset) const {
    if (offset >= object_.size()) return {};
    return std::string(object_.substr(offset, object_.find('\0', offset) - offset));
  }
  Status read_sections();
  void place(ObjectSegment segment);
  Status map();
  Status read_symbols(const std::function<void*(const char*)>& resolve);
  Status relocate(const Section& list);
  Status apply(const Elf64_Rela& relocation, const Section& target);
  Status protect() const;

  std::string_view object_;
  std::vector<Section> sections_;
  const Section* symbol_table_ = nullptr;
  std::uint64_t symbol_count_ = 0;
  std::vector<Symbol> symbols_;
  std::array<std::uint64_t, kSegments> begin_{};  // offset of each segment in the mapping
  std::uint64_t stubs_ = 0, slots_ = 0, bytes_ = 0;
  std::uint8_t* memory_ = nullptr;
};

Status Loader::read_sections() {
  Elf64_Ehdr header{};
  if (!read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_REL ||
      header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return bad("no object code for x86-64");
  std::uint64_t count = header.e_shnum;
  Elf64_Shdr first{};
  if (count == 0 && read(header.e_shoff, first)) count = first.sh_size;  // more than a 16-bit count can express
  sections_.resize(std::min<std::uint64_t>(count, object_.size()));
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    Section& s = sections_[i];
    if (!read(header.e_shoff + i * sizeof s.header, s.header)) return bad("the section table is incomplete");
    const Elf64_Shdr& h = s.header;
    if (h.sh_type != SHT_NOBITS && (h.sh_offset > object_.size() || h.sh_size > object_.size() - h.sh_offset))
      return bad("a section is incomplete");
    if (h.sh_type == SHT_SYMTAB) symbol_table_ = &s;
    const bool loaded = (h.sh_flags & SHF_ALLOC) && (h.sh_type == SHT_PROGBITS || h.sh_type == SHT_NOBITS);
    if (h.sh_flags & SHF_TLS) return bad("it has thread-local variables");
    if (!loaded) continue;  // unwind tables are of type SHT_X86_64_UNWIND
    if (h.sh_addralign > kPage || h.sh_size > kMostBytes) return bad("a section is too large");
    s.segment = h.sh_flags & SHF_EXECINSTR ? kCode : h.sh_flags & SHF_WRITE ? kData : kConstants;
  }
  // Some assemblers give .eh_frame the type PROGBITS. It is recognised by name and not loaded.
  const std::uint64_t names = header.e_shstrndx < sections_.size() ? sections_[header.e_shstrndx].header.sh_offset : 0;
  for (Section& s : sections_)
    if (s.segment && text(names + s.header.sh_name) == ".eh_frame") s.segment.reset();
  if (!symbol_table_ || symbol_table_->header.sh_link >= sections_.size()) return bad("it has no symbols");
  symbol_count_ = symbol_table_->header.sh_size / sizeof(Elf64_Sym);
  return Ok{};
}

void Loader::place(ObjectSegment segment) {
  WG_ASSERT(!memory_);
  begin_[segment] = bytes_ = aligned(bytes_, kPage);
  for (Section& s : sections_) {
    if (s.segment != segment) continue;
    s.at = aligned(bytes_, std::max<std::uint64_t>(1, s.header.sh_addralign));  // at most a page
    bytes_ = s.at + s.header.sh_size;
  }
}

Status Loader::map() {
  place(kCode);
  stubs_ = aligned(bytes_, kStubBytes);
  bytes_ = stubs_ + symbol_count_ * kStubBytes;
  place(kConstants);
  slots_ = aligned(bytes_, kSlotBytes);
  bytes_ = slots_ + symbol_count_ * kSlotBytes;
  place(kData);
  bytes_ = aligned(bytes_, kPage);
  if (bytes_ > kMostBytes) return bad("its code has more than 2 GiB");
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return bad("no memory is left for its code");
  memory_ = static_cast<std::uint8_t*>(memory);
  for (const Section& s : sections_)
    if (s.segment && s.header.sh_type != SHT_NOBITS)
      std::memcpy(memory_ + s.at, object_.data() + s.header.sh_offset, s.header.sh_size);
  return Ok{};
}

Status Loader::read_symbols(const std::function<void*(const char*)>& resolve) {
  const Elf64_Shdr& table = symbol_table_->header;
  const std::uint64_t names = sections_[table.sh_link].header.sh_offset;
  WG_ASSERT(memory_ && symbol_table_);
  symbols_.resize(symbol_count_);
  for (std::uint64_t i = 1; i < symbol_count_; ++i) {  // symbol 0 means none
    Elf64_Sym s{};
    (void)read(table.sh_offset + i * sizeof s, s);  // cannot fail: the section was checked
    Symbol& symbol = symbols_[i];
    symbol.name = text(names + s.st_name);
    symbol.outside = s.st_shndx == SHN_UNDEF;
    if (symbol.outside) {
      symbol.address = reinterpret_cast<std::uint64_t>(resolve(symbol.name.c_str()));
      if (!symbol.address) return bad("no function " + symbol.name);
      // jmp *slot(%rip)
      std::uint8_t* stub = memory_ + stubs_ + i * kStubBytes;
      const auto distance = static_cast<std::int32_t>(slots_ + i * kSlotBytes - (stubs_ + i * kStubBytes + 6));
      stub[0] = 0xff;
      stub[1] = 0x25;
      std::memcpy(stub + 2, &distance, sizeof distance);
    } else if (s.st_shndx < sections_.size() && sections_[s.st_shndx].segment) {
      symbol.address = reinterpret_cast<std::uint64_t>(memory_) + sections_[s.st_shndx].at + s.st_value;
    }
    std::memcpy(memory_ + slots_ + i * kSlotBytes, &symbol.address, kSlotBytes);
  }
  return Ok{};
}

Status Loader::relocate(const Section& list) {
  const Elf64_Shdr& h = list.header;
  if (h.sh_info >= sections_.size() || !sections_[h.sh_info].segment) return Ok{};
  for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= h.sh_size; at += sizeof(Elf64_Rela)) {
    Elf64_Rela relocation{};
    (void)read(h.sh_offset + at, relocation);
    if (Status s = apply(relocation, sections_[h.sh_info]); !s) return s;
  }
  return Ok{};
}

// "System V ABI, AMD64 Architecture Processor Supplement", 4.4.1.
Status Loader::apply(const Elf64_Rela& relocation, const Section& target) {
  const std::uint64_t index = ELF64_R_SYM(relocation.r_info), type = ELF64_R_TYPE(relocation.r_info);
  const bool wide = type == R_X86_64_64 || type == R_X86_64_PC64;
  const std::uint64_t size = wide ? 8 : 4;
  if (index >= symbols_.size() || relocation.r_offset > target.header.sh_size ||
      target.header.sh_size - relocation.r_offset < size)
    return bad("a relocation is out of bounds");
  std::uint8_t* place = memory_ + target.at + relocation.r_offset;
  const std::uint64_t here = reinterpret_cast<std::uint64_t>(place), base = reinterpret_cast<std::uint64_t>(memory_);
  const Symbol& symbol = symbols_[index];
  std::uint64_t value = symbol.address;
  switch (type) {
    case R_X86_64_NONE:
      return Ok{};
    case R_X86_64_64:
      break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      if (symbol.outside) value = base + stubs_ + index * kStubBytes;
      value -= here;
      break;
    case R_X86_64_PC64:
      value -= here;
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      value = base + slots_ + index * kSlotBytes - here;
      break;
    default:
      return bad(fmt::format("unknown relocation type {}", type));
  }
  value += static_cast<std::uint64_t>(relocation.r_addend);
  const auto near = static_cast<std::int64_t>(value);
  if (!wide && (near < std::numeric_limits<std::int32_t>::min() || near > std::numeric_limits<std::int32_t>::max()))
    return bad("a relocation target is too far away");
  std::memcpy(place, &value, size);
  return Ok{};
}

Status Loader::protect() const {
  const auto set = [&](ObjectSegment segment, std::uint64_t end, int protection) {
    return end == begin_[segment] || ::mprotect(memory_ + begin_[segment], end - begin_[segment], protection) == 0;
  };
  if (!set(kCode, begin_[kConstants], PROT_READ | PROT_EXEC) || !set(kConstants, begin_[kData], PROT_READ))
    return bad(std::string("the system does not allow new code to run: ") + std::strerror(errno));
  return Ok{};
}

Result<LoadedObject> Loader::load(std::string_view entry, const std::function<void*(const char*)>& resolve) {
  if (Status s = read_sections(); !s) return s.error();
  if (Status s = map(); !s) return s.error();
  LoadedObject out(memory_, bytes_);
  if (Status s = read_symbols(resolve); !s) return s.error();
  for (const Section& s : sections_)
    if (s.header.sh_type == SHT_RELA)
      if (Status done = relocate(s); !done) return done.error();
  if (Status s = protect(); !s) return s.error();
  for (const Symbol& s : symbols_)
    if (!s.outside && s.name == entry) out.entry = reinterpret_cast<const void*>(s.address);
  if (!out.entry) return bad(fmt::format("no function {}", entry));
  return out;
}

}  // namespace

Result<LoadedObject> load_object(std::string_view object, std::string_view entry,
                                 const std::function<void*(const char* name)>& resolve) {
  return Loader(object).load(entry, resolve);
}

}  // namespace warpgrind::jit
