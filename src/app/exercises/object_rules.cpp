// Checks of the symbols and the code of an answer's object file.
#include "exercises/object_rules.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/demangle.h"
#include "base/regular_expression.h"
#include "fatbin/elf_image.h"

namespace warpgrind::exercises {

namespace {

struct Symbol {
  std::string name;
  bool defined = false, global = false, weak = false;
  unsigned char type = STT_NOTYPE;
  std::string section;  // of a definition
};

fatbin::Bytes bytes_of(std::string_view object) {
  return {reinterpret_cast<const std::byte*>(object.data()), object.size()};
}

std::vector<Symbol> symbols_of(const fatbin::ElfImage& image) {
  std::vector<Symbol> out;
  for (const fatbin::ElfSection& table : image.sections()) {
    if (table.type != SHT_SYMTAB || table.link >= image.sections().size()) continue;
    const fatbin::Bytes names = image.sections()[table.link].bytes;
    for (std::uint64_t at = 0; const auto s = fatbin::read<Elf64_Sym>(table.bytes, at); at += sizeof(Elf64_Sym)) {
      Symbol symbol;
      symbol.name = fatbin::text_at(names, s->st_name);
      symbol.defined = s->st_shndx != SHN_UNDEF;
      symbol.weak = ELF64_ST_BIND(s->st_info) == STB_WEAK;
      symbol.global = ELF64_ST_BIND(s->st_info) != STB_LOCAL;
      symbol.type = ELF64_ST_TYPE(s->st_info);
      if (symbol.defined && s->st_shndx < image.sections().size()) symbol.section = image.sections()[s->st_shndx].name;
      out.push_back(std::move(symbol));
    }
  }
  return out;
}

// C functions that an answer may call. Mathematical ones are below.
constexpr const char* kAllowed[] = {
    "memcpy", "memmove", "memset", "memcmp", "memchr", "bcmp", "strlen", "strcmp", "strncmp", "strcpy", "strncpy",
    "strcat", "strchr", "strstr", "printf", "puts", "putchar", "fprintf", "fputs", "fputc", "fflush", "snprintf",
    "sprintf", "vsnprintf", "vprintf", "stdout", "stderr", "malloc", "calloc", "realloc", "free", "aligned_alloc",
    "posix_memalign", "abort", "atexit", "rand", "srand", "time", "clock", "clock_gettime", "gettimeofday", "qsort",
    "abs", "labs", "atoi", "atof", "strtol", "strtod", "isdigit", "isalpha", "isspace", "toupper", "tolower",
    // of compilers and their libraries
    "__clang_call_terminate", "_Unwind_Resume", "__gxx_personality_v0", "__dso_handle", "__stack_chk_fail",
    "__assert_fail", "__errno_location", "_GLOBAL_OFFSET_TABLE_", "__start_wg_managed", "__stop_wg_managed",
    "warpgrind_managed_section", "__memcpy_chk", "__memset_chk", "__memmove_chk", "__printf_chk", "__fprintf_chk",
    "__snprintf_chk", "__sprintf_chk", "__udivti3", "__divti3", "__umodti3", "__modti3", "__truncsfhf2",
    "__extendhfsf2", "__truncdfhf2", "__truncsfbf2"};

constexpr const char* kMathematical =
    "^(acos|asin|atan|atan2|ceil|cos|cosh|exp|exp2|exp10|expm1|fabs|floor|fmod|frexp|hypot|ldexp|log|log10|log1p|log2|"
    "lround|llround|lrint|llrint|modf|nearbyint|nextafter|pow|remainder|rint|round|scalbn|sin|sincos|sinh|sqrt|tan|"
    "tanh|trunc|cbrt|erf|erfc|tgamma|lgamma|fma|fmin|fmax|fdim|copysign|acosh|asinh|atanh)[fl]?$";

// Names of the CUDA runtime; of C++'s operators new and delete, its exceptions and type information; of std::.
constexpr const char* kCuda = "^(cuda[A-Z]|__cuda[A-Z])";
constexpr const char* kOfCpp =
    "^(_Zn[wa]|_Zd[la]|__cxa_|_Z(N|NK|NO|NKR|TV|TI|TS|TT|GV)*S[tosaid]|_ZT[VIS]N10__cxxabiv1|_ZT[IS][a-z]$|"
    "_ZT[IS]P|_ZN9__gnu_cxx|_ZNK9__gnu_cxx)";
constexpr const char* kFilesAndThreads =
    "basic_(o|i|)fstream|filebuf|__basic_file|filesystem|6thread|jthread|future|_ZSt5async";
constexpr const char* kLibraries = "^(cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|nvrtc|npp)";

bool is_mathematical(const std::string& name) {
  static const RegularExpression names(kMathematical);
  return names.matches(name);
}

bool is_of_cuda(const std::string& name) {
  static const RegularExpression names(kCuda);
  return names.matches(name);
}

bool is_of_cpp(const std::string& name) {
  static const RegularExpression names(kOfCpp);
  return names.matches(name);
}

bool is_allowed(const std::string& name) {
  if (std::find(std::begin(kAllowed), std::end(kAllowed), name) != std::end(kAllowed)) return true;
  static const RegularExpression files_and_threads(kFilesAndThreads);
  if (is_of_cuda(name) || is_mathematical(name)) return true;
  return is_of_cpp(name) && !files_and_threads.matches(name);
}

// "judge::say(...)", or the name itself.
std::string shown(const std::string& name) {
  std::string out = demangle(name);
  if (const std::size_t stub = out.find("__device_stub__"); stub != std::string::npos) out.erase(stub, 15);
  return out;
}

std::optional<Breach> check_use(const Symbol& s) {
  if (is_allowed(s.name)) return std::nullopt;
  const std::string name = shown(s.name);
  static const RegularExpression libraries(kLibraries);
  if (libraries.matches(s.name))
    return Breach{fmt::format("it calls a library: {}", name), "The exercise asks for your own kernel."};
  if (s.name.find("5judge") != std::string::npos)
    return Breach{fmt::format("it uses {} of the test", name), "An answer knows nothing of its test: remove it."};
  if (s.name.starts_with("_Z") && !is_of_cpp(s.name))
    return Breach{fmt::format("it uses {}, which it does not define", name), "Define it, or remove its use."};
  return Breach{fmt::format("it uses {}, which an answer may not", name),
                "Host code of an answer may use the CUDA runtime, mathematics, memory, printf and the containers and "
                "algorithms of C++: no files, processes, threads or signals, and nothing that ends the program."};
}

std::optional<Breach> check_definition(const Symbol& s, const std::set<std::string>& of_test,
                                       const std::set<std::string>& wanted) {
  const bool mangled = s.name.starts_with("_Z");
  if (s.name == "main")
    return Breach{"it has a main()", "The test has a main() of its own: hand in only what the skeleton has."};
  const bool of_system = dlsym(RTLD_DEFAULT, s.name.c_str()) != nullptr;  // of the C and C++ libraries
  // What compilers add to every object that may unwind.
  if (s.weak && (s.name == "__clang_call_terminate" || s.name.starts_with("DW.ref."))) return std::nullopt;
  const bool function = s.type == STT_FUNC || s.type == STT_GNU_IFUNC;
  const bool replaces = !mangled
                            ? function || of_system || is_of_cuda(s.name) || of_test.contains(s.name)
                            : !s.weak && (is_of_cpp(s.name) || (of_test.contains(s.name) && !wanted.contains(s.name)));
  if (!replaces && s.type != STT_GNU_IFUNC) return std::nullopt;
  if (!mangled && function && !of_system && !is_of_cuda(s.name))
    return Breach{fmt::format("it defines {}() with C linkage", s.name), "Remove extern \"C\"."};
  return Breach{fmt::format("it replaces {}, which belongs to the {}", shown(s.name),
                            is_of_cuda(s.name)                       ? "CUDA runtime"
                            : of_test.contains(s.name) && !of_system ? "test"
                                                                     : "system"),
                "Give your function or variable another name."};
}

bool is_code(const std::string& section) {
  return section.starts_with(".text") || section == ".init" || section == ".fini";
}

// Machine code from inline assembly that enters the kernel: syscall, sysenter, int 0x80. The bytes alone may be a
// constant.
bool makes_system_calls(const fatbin::ElfImage& image, const std::string& source) {
  static const RegularExpression assembly("(^|[^A-Za-z0-9_])(asm|__asm|__asm__)([^A-Za-z0-9_]|$)|##");
  if (!assembly.matches(source)) return false;
  constexpr std::array<std::array<std::byte, 2>, 3> kEntries{
      {{std::byte{0x0f}, std::byte{0x05}}, {std::byte{0x0f}, std::byte{0x34}}, {std::byte{0xcd}, std::byte{0x80}}}};
  for (const fatbin::ElfSection& section : image.sections()) {
    if (!is_code(std::string(section.name))) continue;
    for (std::size_t at = 0; at + 2 <= section.bytes.size(); ++at)
      for (const auto& entry : kEntries)
        if (section.bytes[at] == entry[0] && section.bytes[at + 1] == entry[1]) return true;
  }
  return false;
}

}  // namespace

std::optional<Breach> find_breach(std::string_view answer, std::string_view test, const std::string& source) {
  const auto image = fatbin::ElfImage::open(bytes_of(answer)), test_image = fatbin::ElfImage::open(bytes_of(test));
  if (!image || !test_image) return Breach{"the compiler left no object file", ""};
  std::set<std::string> of_test, wanted, defined;  // wanted: what the answer must define
  for (const Symbol& s : symbols_of(*test_image)) {
    if (!s.global) continue;
    of_test.insert(s.name);
    if (!s.defined && !s.weak && !is_allowed(s.name) && s.name.starts_with("_Z")) wanted.insert(s.name);
  }
  for (const Symbol& s : symbols_of(*image)) {
    if (s.defined && is_code(s.section) && s.type == STT_OBJECT)
      return Breach{fmt::format("its variable {} is in a section for code", shown(s.name)), "Remove the attribute."};
    if (!s.global || s.name.empty()) continue;
    if (s.defined) defined.insert(s.name);
    if (auto breach = s.defined ? check_definition(s, of_test, wanted) : check_use(s)) return breach;
  }
  for (const std::string& name : wanted)
    if (!defined.contains(name) && dlsym(RTLD_DEFAULT, name.c_str()) == nullptr)
      return Breach{fmt::format("it lacks {}", shown(name)),
                    "The test (driver.cu) calls your code: keep the names and parameters of the skeleton."};
  if (makes_system_calls(*image, source))
    return Breach{"its host code has inline assembly with system calls", "An answer needs no assembly on the host."};
  return std::nullopt;
}

}  // namespace warpgrind::exercises
