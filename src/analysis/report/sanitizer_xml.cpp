// Findings in the XML format of compute-sanitizer.
#include "report/sanitizer_xml.h"

#include <fmt/format.h>

#include <string_view>

#include "report/xml.h"

namespace warpgrind::report {
namespace {

using results::Finding;
using results::FindingAccess;

class XmlWriter {
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

enum class FindingKind { api, precise, malloc_free, analysis, hazard, leak, initcheck, synccheck };

FindingKind kind_of(const Finding& f, const SanitizerForm& form) {
  if (!f.error.empty()) return FindingKind::api;
  if (is_race(f)) return form.analysis || !form.hazards ? FindingKind::analysis : FindingKind::hazard;
  if (is_leak(f)) return FindingKind::leak;
  if (f.kind.starts_with("uninit-")) return FindingKind::initcheck;
  if (f.group == "barriers") return FindingKind::synccheck;
  return f.kind == "double-free" || f.kind == "invalid-free" ? FindingKind::malloc_free : FindingKind::precise;
}

const char* name_of(FindingKind kind) {
  constexpr const char* kNames[] = {"Api",    "Precise", "Syscall",   "Analysis",
                                    "Hazard", "Leak",    "Initcheck", "Synccheck"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Name without result type and parameters: compute-sanitizer writes none here.
std::string plain_name(std::string name) {
  if (name.starts_with("void ")) name.erase(0, 5);
  return name.substr(0, name.find('('));
}

void place(XmlWriter& w, const char* element, const FindingAccess& a) {
  w.open(element);
  w.element("func", plain_name(!a.function.empty() ? a.function : !a.kernel.empty() ? a.kernel : a.access));
  if (a.line != 0) {
    w.element("path", a.file);
    w.element("line", std::to_string(a.line));
  }
  if (a.of_thread) w.element("pc", fmt::format("{:#x}", std::uint64_t{a.ptx_line} * 16));
  w.close(element);
}

void race_sides(XmlWriter& w, const Finding& f) {
  constexpr const char* kSides[] = {"source", "destination"};
  for (std::size_t side = 0; side < 2; ++side) {
    w.open(kSides[side]);
    w.element("direction", sanitizer_direction(f.accesses[side]));
    place(w, "where", f.accesses[side]);
    if (side == 1) w.element("count", std::to_string(f.count));
    w.close(kSides[side]);
  }
}

void hazard_sides(XmlWriter& w, const Finding& f, const std::string& type) {
  const FindingAccess& first = f.accesses[0];
  w.open("common");
  w.element("type", type);
  if (first.memory) w.element("address", fmt::format("{:#x}", sanitizer_address(first)));
  w.element("blockIdx", first.block);
  w.close("common");
  constexpr const char* kThreads[] = {"thread0", "thread1"};
  for (std::size_t side = 0; side < 2; ++side) {
    w.open(kThreads[side]);
    w.element("access", sanitizer_direction(f.accesses[side]));
    w.element("threadIdx", f.accesses[side].thread);
    place(w, "where", f.accesses[side]);
    w.close(kThreads[side]);
  }
}

void api_call(XmlWriter& w, const Finding& f) {
  w.element("text", sanitizer_headline(f));
  if (!f.accesses.empty()) w.element("api", sanitizer_call(f.accesses[0]));
  w.element("error", f.error);
}

// Record of a finding with one access.
void access(XmlWriter& w, const Finding& f, FindingKind kind) {
  const FindingAccess* const a = f.accesses.empty() ? nullptr : &f.accesses[0];
  std::string text = sanitizer_headline(f);
  const bool bad = kind == FindingKind::precise && a && a->of_thread && a->bytes != 0;
  const char* const error = f.kind == "misaligned" ? "misaligned" : "out of bounds";
  if (bad && a->memory) text += fmt::format(" is {}", error);
  w.element("text", text);
  if (bad) {
    w.element("space", sanitizer_space(f));
    w.element("size", std::to_string(a->bytes));
    w.element("direction", a->access);
    if (a->memory) w.element("error", error);
  }
  if (a && a->of_thread && a->memory) w.element("address", fmt::format("{:#x}", sanitizer_address(*a)));
  if (!bad && a && a->of_thread && a->bytes != 0) w.element("size", std::to_string(a->bytes));
}

void leak(XmlWriter& w, const Finding& f) {
  const FindingAccess* const a = f.accesses.empty() ? nullptr : &f.accesses[0];
  const std::uint64_t bytes = a && a->memory ? a->memory->object_bytes : 0;
  w.element("text", fmt::format("Leaked {} bytes", bytes));
  if (a && a->memory) w.element("address", fmt::format("{:#x}", sanitizer_address(*a)));
  w.element("size", std::to_string(bytes));
  w.element("type", f.kind == "leak-array" ? "array" : "generic");
}

void barrier_error(XmlWriter& w, const Finding& f) {
  constexpr std::string_view kHead = "Barrier error detected. ";
  std::string type = sanitizer_headline(f);
  if (type.starts_with(kHead)) type.erase(0, kHead.size());
  if (type.ends_with('.')) type.pop_back();
  w.element("text", "Barrier error");
  w.element("type", type);
}

void what(XmlWriter& w, const Finding& f, FindingKind kind) {
  w.open("what");
  switch (kind) {
    case FindingKind::api:
      api_call(w, f);
      break;
    case FindingKind::analysis:
      w.element("text", "Race condition");
      race_sides(w, f);
      break;
    case FindingKind::hazard: {
      const std::string type = sanitizer_hazard(f);
      w.element("text", "Potential " + type + " hazard detected");
      hazard_sides(w, f, type);
      break;
    }
    case FindingKind::leak:
      leak(w, f);
      break;
    case FindingKind::synccheck:
      barrier_error(w, f);
      break;
    default:
      access(w, f, kind);
  }
  w.close("what");
}

void host_stack(XmlWriter& w, const Finding& f, FindingKind kind) {
  const FindingAccess& first = f.accesses[0];
  w.open("hostStack");
  w.element("saveLocation", kind == FindingKind::leak                              ? "allocation time"
                            : first.access == "launch" && kind != FindingKind::api ? "kernel launch time"
                                                                                   : "error");
  for (const FindingAccess& a : f.accesses)
    if (!a.of_thread) place(w, "frame", a);
  w.close("hostStack");
}

void record(XmlWriter& w, const Finding& f, const SanitizerForm& form) {
  const FindingKind kind = kind_of(f, form);
  const bool race = kind == FindingKind::analysis || kind == FindingKind::hazard;
  w.open("record");
  w.element("kind", name_of(kind));
  if (kind == FindingKind::precise || kind == FindingKind::malloc_free || kind == FindingKind::analysis)
    w.element("level", sanitizer_level(f));
  const FindingAccess* const first = f.accesses.empty() ? nullptr : &f.accesses[0];
  if (first && first->of_thread && !race) {
    w.open("who");
    w.element("threadIdx", first->thread);
    w.element("blockIdx", first->block);
    w.close("who");
  }
  what(w, f, kind);
  if (first && first->of_thread && !race) place(w, "where", *first);
  if (first && !first->of_thread && form.host_frames) host_stack(w, f, kind);
  w.close("record");
}

}  // namespace

std::string sanitizer_xml(const std::vector<const Finding*>& findings, const SanitizerForm& form) {
  XmlWriter w;
  w.open("ComputeSanitizerOutput");
  for (const Finding* f : findings) record(w, *f, form);
  w.close("ComputeSanitizerOutput");
  return w.text;
}

}  // namespace warpgrind::report
