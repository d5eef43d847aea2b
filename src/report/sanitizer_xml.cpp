#include "report/sanitizer_xml.h"

#include <fmt/format.h>

#include "base/words.h"
#include "report/xml.h"

namespace warpgrind::report {
namespace {

using results::Finding;
using results::FindingAccess;

class Writer {
 public:
  std::string text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";

  void open(const char* name) {
    text += indent() + "<" + name + ">\n";
    ++depth_;
  }
  void close(const char* name) {
    --depth_;
    text += indent() + "</" + name + ">\n";
  }
  void element(const char* name, const std::string& value) {
    text += fmt::format("{}<{}>{}</{}>\n", indent(), name, escaped(value), name);
  }
  void element(const char* name, const Dim3& d) {
    open(name);
    element("x", std::to_string(d.x));
    element("y", std::to_string(d.y));
    element("z", std::to_string(d.z));
    close(name);
  }

 private:
  std::string indent() const { return std::string(depth_ * 2, ' '); }
  std::size_t depth_ = 0;
};

const char* kind_of(const Finding& f) {
  if (!f.error.empty()) return "Api";
  if (is_race(f)) return "Race";
  if (is_leak(f)) return "Leak";
  if (f.kind.starts_with("uninit-")) return "Initcheck";
  return f.group == "barriers" ? "Synccheck" : "Precise";
}

void what(Writer& w, const Finding& f) {
  w.open("what");
  w.element("text", is_race(f) ? f.message : sanitizer_headline(f));
  if (!f.accesses.empty()) {
    const FindingAccess& a = f.accesses[0];
    if (a.of_thread && a.bytes != 0) {
      w.element("space", sanitizer_space(f));
      w.element("size", std::to_string(a.bytes));
      w.element("direction", a.access);
    }
    if (a.of_thread && a.memory) w.element("address", fmt::format("{:#x}", sanitizer_address(a)));
  }
  if (!f.error.empty()) w.element("error", f.error);
  w.close("what");
}

void place(Writer& w, const char* name, const FindingAccess& a, const SanitizerForm& form) {
  w.open(name);
  w.element("func", !a.function.empty() ? a.function : !a.kernel.empty() ? a.kernel : a.access);
  if (a.line != 0) {
    w.element("path", form.whole_paths ? a.file : base_name(a.file));
    w.element("line", std::to_string(a.line));
  }
  if (a.of_thread) w.element("pc", fmt::format("{:#x}", std::uint64_t{a.ptx_line} * 16));
  w.close(name);
}

void record(Writer& w, const Finding& f, const SanitizerForm& form) {
  w.open("record");
  w.element("kind", kind_of(f));
  w.element("level", f.severity == results::Severity::error     ? "Error"
                     : f.severity == results::Severity::warning ? "Warning"
                                                                : "Info");
  const FindingAccess* const first = f.accesses.empty() ? nullptr : &f.accesses[0];
  if (first && first->of_thread) {
    w.open("who");
    w.element("threadIdx", first->thread);
    w.element("blockIdx", first->block);
    w.close("who");
  }
  what(w, f);
  for (const FindingAccess& a : f.accesses)
    if (a.of_thread) place(w, "where", a, form);
  if (first && !first->of_thread && form.host_frames) {
    w.open("hostStack");
    w.element("saveLocation", is_leak(f)                                     ? "cudaMalloc time"
                              : first->access == "launch" && f.error.empty() ? "kernel launch time"
                                                                             : "error");
    for (const FindingAccess& a : f.accesses)
      if (!a.of_thread) place(w, "frame", a, form);
    w.close("hostStack");
  }
  w.close("record");
}

}  // namespace

std::string sanitizer_xml(const std::vector<const Finding*>& findings, const SanitizerForm& form) {
  Writer w;
  w.open("ComputeSanitizerOutput");
  for (const Finding* f : findings) record(w, *f, form);
  w.close("ComputeSanitizerOutput");
  return w.text;
}

}  // namespace warpgrind::report
