// Findings and summaries in the text format of compute-sanitizer.
#include "report/sanitizer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/words.h"
#include "report/format.h"

namespace warpgrind::report {
namespace {

using results::Finding;
using results::FindingAccess;

struct BarrierError {
  const char* kind;
  const char* text;
};
// Messages of synccheck. Other kinds of the group keep our messages.
constexpr std::array kBarrierErrors = {
    BarrierError{"barrier-divergent-warp", "Divergent thread(s) in warp."},
    BarrierError{"barrier-divergent-block", "Divergent thread(s) in block."},
    BarrierError{"barrier-count", "Invalid arguments."},
    BarrierError{"barrier-id", "Invalid arguments."},
    BarrierError{"syncwarp-mask", "Invalid arguments."},
    BarrierError{"mbarrier-uninit", "Missing init."},
    BarrierError{"mbarrier-overflow", "Barrier overflow."},
};

struct CudaError {
  const char* name;
  int number;
  const char* text;
};
constexpr CudaError kCudaErrors[] = {
#define WG_ERROR(name, number, text) {#name, number, text},
#include "warpgrind/cuda_errors.inc"
#undef WG_ERROR
};

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

class SanitizerWriter {
 public:
  explicit SanitizerWriter(const SanitizerForm& form) : form_(form) {}
  std::string text;

  void line(const std::string& words, int depth = 0) {
    text += fmt::format("{} {}{}\n", form_.prefix, std::string(static_cast<std::size_t>(depth) * 4, ' '), words);
  }
  std::string file(const std::string& path) const { return form_.whole_paths ? path : base_name(path); }
  // "kernel(int *)+0x90 in file.cu:12"
  std::string place(const FindingAccess& a) const {
    const std::string function = a.function.empty() ? a.kernel : a.function;
    std::string out = fmt::format("{}+{:#x}", function, std::uint64_t{a.ptx_line} * 16);
    if (a.line != 0) out += fmt::format(" in {}:{}", file(a.file), a.line);
    return out;
  }
  void thread(const FindingAccess& a) {
    line("at " + place(a), 1);
    line(fmt::format("by thread {} in block {}", compact_dim3(a.thread), compact_dim3(a.block)), 1);
  }
  void device_frames(const FindingAccess& a) {
    if (!form_.device_frames) return;
    for (const results::InlinedAt& i : a.inlined_at)
      line(fmt::format("Device Frame: {}+{:#x} in {}:{}", i.function.empty() ? a.kernel : i.function,
                       std::uint64_t{a.ptx_line} * 16, file(i.file), i.line),
           2);
  }
  void host_frame(const char* when, const std::string& function, const std::string& path, std::uint32_t at) {
    if (!form_.host_frames || (at == 0 && function.empty())) return;
    line(fmt::format("Saved host backtrace up to driver entry point at {}", when), 1);
    line("Host Frame: " + (at == 0 ? function : fmt::format("{} in {}:{}", function, file(path), at)), 2);
  }

 private:
  const SanitizerForm& form_;
};

void write_memory(SanitizerWriter& w, const FindingAccess& a, bool misaligned) {
  const std::uint64_t address = sanitizer_address(a);
  w.line(fmt::format("Access to {:#x} is {}", address, misaligned ? "misaligned" : "out of bounds"), 1);
  if (!a.memory || a.memory->object == 0) return;
  const auto size = static_cast<std::int64_t>(a.memory->object_bytes);
  const std::int64_t offset = a.memory->offset;
  const std::uint64_t low = address - static_cast<std::uint64_t>(offset);
  const auto number = [](std::int64_t n) { return grouped(static_cast<double>(n)); };
  const std::string where = offset < 0       ? number(-offset) + " bytes before"
                            : offset >= size ? number(offset - size + 1) + " bytes after"
                                             : std::string("inside");
  w.line(fmt::format("and is {} the nearest allocation at {:#x} of size {} bytes", where, low, number(size)), 1);
}

std::string race_head(const Finding& f) {
  return fmt::format("{}: {}", sanitizer_level(f), f.kind == "race-warp" ? "(Warp Level Programming) " : "");
}

std::string side(const SanitizerWriter& w, const FindingAccess& a) {
  if (a.of_thread) return fmt::format("{} access at {}", sanitizer_direction(a), w.place(a));
  const std::string what = a.kernel.empty() ? a.access : fmt::format("{} of {}", a.access, a.kernel);
  return a.line == 0 ? what : fmt::format("{} in {}:{}", what, w.file(a.file), a.line);
}

void write_hazard(SanitizerWriter& w, const Finding& f) {
  const FindingAccess &a = f.accesses[0], &b = f.accesses[1];
  w.line(fmt::format("{}Potential {} hazard detected at {} {:#x} in block {} :", race_head(f), sanitizer_hazard(f),
                     sanitizer_space(f), sanitizer_address(a), compact_dim3(a.block)));
  for (const FindingAccess* at : {&a, &b})
    w.line(fmt::format("{} Thread {} at {}", sanitizer_direction(*at), compact_dim3(at->thread), w.place(*at)), 1);
}

void write_race(SanitizerWriter& w, const Finding& f, const SanitizerForm& form) {
  const bool threads = f.accesses[0].of_thread && f.accesses[1].of_thread;
  if (form.hazards && threads) write_hazard(w, f);
  if (!form.analysis && threads) return;
  w.line(fmt::format("{}Race reported between {}", race_head(f), side(w, f.accesses[0])));
  w.line(fmt::format("and {} [{} hazard{}]", side(w, f.accesses[1]), f.count, plural(f.count)), 1);
}

// Bytes of the access, else of the instruction's value type: ".u8", ".f64".
std::uint32_t bytes_of(const FindingAccess& a) {
  constexpr std::uint32_t kRegister = 4;
  if (a.bytes != 0) return a.bytes;
  const std::string opcode = a.ptx.substr(0, a.ptx.find(' '));
  constexpr std::pair<const char*, std::uint32_t> kWidths[] = {{"8", 1}, {"16", 2}, {"64", 8}};
  for (const auto& [bits, bytes] : kWidths)
    for (const char* type : {".u", ".s", ".b", ".f"})
      if (opcode.ends_with(std::string(type) + bits)) return bytes;
  return kRegister;
}

bool is_uninitialised(const Finding& f) {
  return f.kind.starts_with("uninit-");
}

void write_access(SanitizerWriter& w, const Finding& f) {
  const FindingAccess& a = f.accesses[0];
  if (a.of_thread) w.thread(a);
  if (is_uninitialised(f) && a.memory) w.line(fmt::format("Address {:#x}", sanitizer_address(a)), 1);
  if (!is_uninitialised(f) && a.of_thread && a.memory) write_memory(w, a, f.kind == "misaligned");
  w.device_frames(a);
  constexpr std::string_view kLaunched = "launched at ";
  for (const std::string& note : f.notes)
    if (note.starts_with(kLaunched)) w.host_frame("kernel launch time", note.substr(kLaunched.size()), "", 0);
  if (!a.of_thread) {
    const bool of_call = !f.error.empty() || !a.access.starts_with("launch");
    const char* const when = is_leak(f) ? "allocation time" : of_call ? "error" : "kernel launch time";
    w.host_frame(when, a.function.empty() ? a.access : a.function, a.file, a.line);
  }
}

}  // namespace

bool is_race(const Finding& f) {
  return f.kind.starts_with("race-") && f.accesses.size() >= 2;
}

bool is_leak(const Finding& f) {
  return f.kind.starts_with("leak-");
}

bool is_leak_of_memory(const Finding& f) {
  return is_leak(f) && !f.accesses.empty() && f.accesses[0].memory;
}

const char* sanitizer_level(const Finding& f) {
  return f.severity == results::Severity::error     ? "Error"
         : f.severity == results::Severity::warning ? "Warning"
                                                    : "Info";
}

const char* sanitizer_direction(const FindingAccess& a) {
  return a.access == "read" || a.access.starts_with("load") ? "Read" : "Write";
}

const char* sanitizer_hazard(const Finding& f) {
  const auto reads = [&](std::size_t k) { return std::string_view(sanitizer_direction(f.accesses[k])) == "Read"; };
  return reads(0) ? "WAR" : reads(1) ? "RAW" : "WAW";
}

std::string sanitizer_call(const FindingAccess& a) {
  return a.access == "launch" || a.access.empty() ? "cudaLaunchKernel" : a.access;
}

std::string sanitizer_space(const Finding& f) {
  const FindingAccess* const a = f.accesses.empty() ? nullptr : &f.accesses[0];
  std::string space = a && a->memory ? a->memory->space : "global";
  for (const char* word : {"shared", "local", "constant"})
    if (f.kind.find(word) != std::string::npos) space = word;
  return "__" + space + "__";
}

std::uint64_t sanitizer_address(const FindingAccess& a) {
  constexpr std::uint64_t kFirst = 0x7f0000000000, kEach = std::uint64_t{1} << 32;
  if (!a.memory) return 0;
  const std::uint64_t low = a.memory->object == 0 ? 0 : kFirst + a.memory->object * kEach;
  return low + static_cast<std::uint64_t>(a.memory->offset);
}

std::string sanitizer_headline(const Finding& f) {
  const FindingAccess* const a = f.accesses.empty() ? nullptr : &f.accesses[0];
  const bool wrong_free = f.kind == "double-free" || f.kind == "invalid-free";
  // For a call of the host, compute-sanitizer reports only its error.
  const std::string error = wrong_free && a && a->kernel.empty() ? "cudaErrorInvalidValue" : f.error;
  if (!error.empty() && a)
    for (const CudaError& e : kCudaErrors)
      if (error == e.name)
        return fmt::format("Program hit {} (error {}) due to \"{}\" on CUDA API call to {}.", e.name, e.number, e.text,
                           sanitizer_call(*a));
  if (wrong_free)
    return fmt::format("Malloc/Free Error encountered : {}",
                       f.kind == "invalid-free" ? "Invalid pointer to free" : "Device-side double free");
  if (is_leak(f) && a && a->memory)
    return fmt::format("Leaked {} bytes{}", grouped(static_cast<double>(a->memory->object_bytes)),
                       f.kind == "leak-heap" ? " on the device heap" : fmt::format(" at {:#x}", sanitizer_address(*a)));
  if (is_uninitialised(f) && a && !a->of_thread)
    return fmt::format("Host API uninitialized memory access: {}", f.message);
  if (is_uninitialised(f) && a)
    return fmt::format("Uninitialized {} memory read of size {} bytes", sanitizer_space(f), bytes_of(*a));
  if (f.group == "barriers") {
    for (const BarrierError& known : kBarrierErrors)
      if (f.kind == known.kind) return fmt::format("Barrier error detected. {}", known.text);
    return fmt::format("Barrier error detected. {}.", capital(f.message));
  }
  const bool is_access = a && (a->access == "read" || a->access == "write" || a->access == "atomic");
  if (f.group == "memory" && is_access && a->of_thread && a->bytes != 0)
    return fmt::format("Invalid {} {} of size {} bytes", sanitizer_space(f), a->access, a->bytes);
  return capital(f.message);
}

std::string sanitizer_text(const Finding& f, const SanitizerForm& form) {
  SanitizerWriter w(form);
  if (is_race(f)) {
    write_race(w, f, form);
  } else {
    w.line(sanitizer_headline(f));
    if (!f.accesses.empty()) write_access(w, f);
  }
  return w.text + form.prefix + " \n";
}

void SanitizerCounts::add(const Finding& f) {
  // INFO: the end of the context has released the memory. compute-sanitizer counts such leaks, too.
  if (is_leak_of_memory(f)) {
    leaks += f.count;
    leaked_bytes += f.accesses[0].memory->object_bytes;
  }
  if (f.severity == results::Severity::info) return;
  if (is_race(f))
    ++(f.severity == results::Severity::error ? hazard_errors : hazard_warnings);
  else
    ++errors;
}

std::string sanitizer_summary(const SanitizerCounts& c, const SanitizerSummaries& which, const SanitizerForm& form) {
  SanitizerWriter w(form);
  if (which.leaks) w.line(fmt::format("LEAK SUMMARY: {} bytes leaked in {} allocations", c.leaked_bytes, c.leaks));
  if (const std::size_t n = c.hazard_errors + c.hazard_warnings; which.races || n != 0)
    w.line(fmt::format("RACECHECK SUMMARY: {} hazard{} displayed ({} error{}, {} warning{})", n, plural(n),
                       c.hazard_errors, plural(c.hazard_errors), c.hazard_warnings, plural(c.hazard_warnings)));
  if (which.errors || c.errors != 0) w.line(fmt::format("ERROR SUMMARY: {} error{}", c.errors, plural(c.errors)));
  if (c.not_printed != 0)
    w.line(
        fmt::format("ERROR SUMMARY: {} error{} were not printed. Use --print-limit option to adjust the number of "
                    "printed errors",
                    c.not_printed, plural(c.not_printed)));
  return w.text;
}

}  // namespace warpgrind::report
