#include "debuginfo/debug_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/assert.h"
#include "debuginfo/dwarf_part.h"
#include "debuginfo/line_places.h"
#include "debuginfo/readable_names.h"
#include "debuginfo/scope_reader.h"
#include "debuginfo/type_reader.h"

namespace warpgrind::debuginfo {

namespace {

bool covers(const Scope& scope, std::uint32_t instruction) {
  return std::any_of(scope.code.begin(), scope.code.end(),
                     [instruction](const CodeRange& r) { return r.contains(instruction); });
}

// The scopes around an instruction, outermost first.
std::vector<const Scope*> scope_path(const Scope& function, std::uint32_t instruction) {
  std::vector<const Scope*> out = {&function};
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const Scope& inner : out.back()->inner) {
      if (!covers(inner, instruction)) continue;
      out.push_back(&inner);
      deeper = true;
      break;
    }
  }
  return out;
}

// Calls `use` for a scope and all scopes inside it.
template <class F>
void for_scopes(const Scope& scope, const F& use) {
  use(scope);
  for (const Scope& inner : scope.inner) for_scopes(inner, use);
}

std::uint32_t first_instruction(const Scope& scope) {
  std::uint32_t first = ptx::kNoId;
  for (const CodeRange& r : scope.code) first = std::min(first, r.begin);
  return first;
}

}  // namespace

struct DebugInfo::Impl {
  // DWARF of a part, and which entries describe the functions of the module.
  struct Part {
    Part(const ptx::Module& module, std::uint32_t number, std::vector<std::string>& problems, TypeReader& types)
        : dwarf(module, number, problems), scopes(dwarf, types) {
      for (EntryIndex e = 0; e < dwarf.entries().size(); ++e) {
        if (dwarf.entries()[e].tag != dw::tag_subprogram) continue;
        std::uint32_t function = ptx::kNoId;
        if (!dwarf.code(e, function).empty()) functions.try_emplace(function, e);
      }
    }
    DwarfPart dwarf;
    ScopeReader scopes;
    std::unordered_map<std::uint32_t, EntryIndex> functions;
  };

  explicit Impl(std::shared_ptr<const ptx::Module> m)
      : module(std::move(m)),
        lines(*module, [this](CodePlace code) { return inlined_copy(code); }),
        parts(module->debug_parts.size()) {}

  Part& part(std::size_t number) {
    if (!parts[number])
      parts[number] = std::make_unique<Part>(*module, static_cast<std::uint32_t>(number), problems, types);
    return *parts[number];
  }

  // The part that has the function's text, and its DWARF entry. nullptr: there is none.
  Part* part_of(std::uint32_t function, EntryIndex& entry) {
    const ptx::SourceRange& range = module->functions[function].range;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const ptx::DebugPart& place = module->debug_parts[k];
      if (range.line < place.first_line || range.line >= place.end_line) continue;
      const auto found = part(k).functions.find(function);
      if (found == part(k).functions.end()) return nullptr;
      entry = found->second;
      return &part(k);
    }
    return nullptr;
  }

  bool has_dwarf(std::uint32_t function) {
    EntryIndex entry = kNoEntry;
    return part_of(function, entry) != nullptr;
  }

  const Scope& scope(std::uint32_t function) {
    WG_ASSERT(function < module->functions.size());
    const auto [known, is_new] = scopes.try_emplace(function);
    if (!is_new) return *known->second;
    known->second = std::make_unique<Scope>();
    Scope& out = *known->second;
    EntryIndex entry = kNoEntry;
    if (Part* p = part_of(function, entry))
      out = p->scopes.function_scope(entry, function);
    else
      lines.add_inlined_scopes(function, out);
    out.kind = ScopeKind::function;
    // The PTX function decides: DWARF may lack the name, or end before the last instruction.
    out.linkage_name = module->functions[function].name;
    if (out.name.empty()) out.name = readable_name(out.linkage_name).name;
    out.code = {{0, static_cast<std::uint32_t>(module->functions[function].body.size())}};
    return out;
  }

  // Inlined calls around an instruction, outermost first, by DWARF.
  std::vector<const Scope*> inlined_path(CodePlace code) {
    std::vector<const Scope*> out;
    for (const Scope* s : scope_path(scope(code.function), code.instruction))
      if (s->kind == ScopeKind::inlined) out.push_back(s);
    return out;
  }

  std::uint32_t inlined_copy(CodePlace code) {
    const std::vector<const Scope*> path = inlined_path(code);
    return path.empty() ? 0 : inlined_copy_of(path.back());
  }
  std::uint32_t inlined_copy_of(const Scope* scope) {
    return copies.try_emplace(scope, static_cast<std::uint32_t>(copies.size() + 1)).first->second;
  }

  // nvcc -G jumps to the first instruction of a call that it inlined. Such a jump is the call: its line is that of
  // the call, whatever the compiler says (often a line of the function that is called). nullptr: it is none.
  const Scope* called_by(CodePlace code) {
    const ptx::Function& f = module->functions[code.function];
    const std::uint32_t next = code.instruction + 1;
    if (next >= f.body.size()) return nullptr;
    const ptx::Instruction& jump = f.body[code.instruction];
    if (jump.opcode != ptx::Opcode::bra || jump.operands.empty() || jump.operands[0].kind != ptx::OperandKind::label ||
        f.labels[jump.operands[0].index].instruction != next)
      return nullptr;
    if (!has_dwarf(code.function) || lines.has_inlined_names(code.function)) return nullptr;
    const std::vector<const Scope*> here = inlined_path(code), behind = inlined_path({code.function, next});
    if (behind.size() <= here.size() || !std::equal(here.begin(), here.end(), behind.begin())) return nullptr;
    return first_instruction(*behind[here.size()]) == next ? behind[here.size()] : nullptr;
  }

  SourcePlace place(CodePlace code) {
    if (code.function < module->functions.size())
      if (const Scope* call = called_by(code)) return call->called;
    return lines.place(code);
  }

  // Calls on a line that were inlined, by DWARF: a breakpoint there stops before them. The compiler's own code of the
  // line may be only what stores the result.
  std::vector<StopPlace> inlined_calls(std::string_view file, std::uint32_t line) {
    std::vector<StopPlace> out;
    for (std::uint32_t f = 0; f < module->functions.size(); ++f) {
      if (!module->functions[f].has_body || !lines.has_file(f, file)) continue;
      if (lines.has_inlined_names(f) || !has_dwarf(f)) continue;
      for_scopes(scope(f), [&](const Scope& s) {
        if (s.kind != ScopeKind::inlined || s.called.line != line || !path_matches(s.called.file, file)) return;
        std::uint32_t first = first_instruction(s);
        if (first == ptx::kNoId) return;
        if (first > 0 && called_by({f, first - 1})) --first;
        out.push_back({{f, first}, s.called, true});
      });
    }
    return out;
  }

  // Number of the inlined copy that has this line; that of a call is around the call.
  std::uint32_t copy_of(const StopPlace& stop) {
    std::vector<const Scope*> path = inlined_path(stop.code);
    while (!path.empty() && path.back()->called == stop.place) path.pop_back();
    return path.empty() ? 0 : inlined_copy_of(path.back());
  }

  std::vector<StopPlace> find_line(std::string_view file, std::uint32_t line) {
    std::vector<StopPlace> out = lines.find_line(file, line);
    const std::vector<StopPlace> calls = inlined_calls(file, line);
    if (calls.empty()) return out;
    out.insert(out.end(), calls.begin(), calls.end());
    std::stable_sort(out.begin(), out.end(), [](const StopPlace& a, const StopPlace& b) { return a.code < b.code; });
    out.erase(
        std::unique(out.begin(), out.end(), [](const StopPlace& a, const StopPlace& b) { return a.code == b.code; }),
        out.end());
    std::set<std::pair<std::uint32_t, std::uint32_t>> known;  // function, copy
    for (StopPlace& stop : out)
      if (!lines.has_inlined_names(stop.code.function))
        stop.is_first = known.emplace(stop.code.function, copy_of(stop)).second;
    return out;
  }

  std::vector<Frame> frames(CodePlace code) {
    std::vector<Frame> by_line = lines.frames(code);
    const std::vector<const Scope*> path = inlined_path(code);
    by_line.back().function = scope(code.function).name;
    if (by_line.size() == 1) by_line.back().place = place(code);
    if (path.size() + 1 <= by_line.size()) return by_line;
    std::vector<Frame> out;
    SourcePlace place = this->place(code);
    for (std::size_t k = path.size(); k-- > 0;) {
      out.push_back({path[k]->name, path[k]->linkage_name, place, true});
      place = path[k]->called;
    }
    out.push_back({by_line.back().function, by_line.back().linkage_name, place, false});
    return out;
  }

  // Inlined copies of functions that `matches` accepts, by DWARF.
  template <class F>
  std::vector<StopPlace> inlined_entries(std::uint32_t function, const F& matches) {
    std::vector<StopPlace> out;
    for_scopes(scope(function), [&](const Scope& s) {
      if (s.kind != ScopeKind::inlined || !matches(s.linkage_name)) return;
      const std::uint32_t first = first_instruction(s);
      if (first != ptx::kNoId) out.push_back({{function, first}, lines.place({function, first}), true});
    });
    return out;
  }

  // The next line with code of the function around `line`; 0: no function is around it.
  std::uint32_t next_line(std::string_view file, std::uint32_t line);

  std::shared_ptr<const ptx::Module> module;
  std::vector<std::string> problems;
  TypeReader types;
  LinePlaces lines;
  std::vector<std::unique_ptr<Part>> parts;
  std::unordered_map<std::uint32_t, std::unique_ptr<Scope>> scopes;
  std::unordered_map<const Scope*, std::uint32_t> copies;
  std::optional<std::vector<Variable>> globals;
};

std::uint32_t DebugInfo::Impl::next_line(std::string_view file, std::uint32_t line) {
  // Of functions around each other, such as a lambda in a kernel, the one that begins last.
  std::uint32_t begins = 0, next = 0;
  // With lines only, nothing says where an inlined function begins: its first lines can have no code of their own.
  std::uint32_t following = ptx::kNoId;
  bool is_open = false;
  const auto consider = [&](std::uint32_t first, std::uint32_t last, std::uint32_t n, const SourcePlace& declared) {
    const bool is_known = declared.line != 0 && path_matches(declared.file, file);
    if (n != 0 && n <= following) {
      is_open = (n < following || is_open) && first == n && !is_known;
      following = n;
    }
    if (is_known) first = std::min(first, declared.line);
    if (n == 0 || line < first || line > last || first < begins) return;
    if (first > begins || n < next) next = n;
    begins = first;
  };
  for (std::uint32_t f = 0; f < module->functions.size(); ++f) {
    if (!lines.has_file(f, file)) continue;
    // Source functions in this PTX function, by name.
    std::unordered_map<std::string, SourcePlace> owners;
    std::vector<std::string> owner(module->functions[f].body.size());
    for (std::uint32_t i = 0; i < owner.size(); ++i) {
      const std::vector<const Scope*> path = inlined_path({f, i});
      const std::uint32_t l = module->functions[f].body[i].location;
      SourcePlace declared = path.empty() ? scope(f).declared : path.back()->declared;
      if (path.empty() && !has_dwarf(f)) declared = lines.outermost_place({f, 0});
      if (!path.empty()) {
        owner[i] = path.back()->linkage_name;
      } else if (l != ptx::kNoId && module->functions[f].locations[l].inlined_at >= 0) {
        owner[i] = module->functions[f].locations[l].function;
        declared = {};
      }
      owners.try_emplace(owner[i], std::move(declared));
    }
    for (const auto& [name, declared] : owners) {
      const LinePlaces::LinesAround around =
          lines.lines_around(f, file, line, [&](std::uint32_t i) { return owner[i] == name; });
      if (around.first != 0) consider(around.first, around.last, around.next, declared);
    }
  }
  return next == 0 && is_open ? following : next;
}

DebugInfo::DebugInfo(std::shared_ptr<const ptx::Module> module) : impl_(std::make_unique<Impl>(std::move(module))) {}
DebugInfo::~DebugInfo() = default;

const ptx::Module& DebugInfo::module() const {
  return *impl_->module;
}

const std::vector<std::string>& DebugInfo::problems() const {
  return impl_->problems;
}

Detail DebugInfo::detail(std::uint32_t function) const {
  if (impl_->has_dwarf(function)) return Detail::variables;
  return impl_->lines.has_lines(function) ? Detail::lines : Detail::nothing;
}

std::vector<std::string> DebugInfo::files() const {
  return impl_->lines.files();
}

SourcePlace DebugInfo::place(CodePlace code) const {
  return impl_->place(code);
}

std::vector<Frame> DebugInfo::frames(CodePlace code) const {
  if (code.function >= impl_->module->functions.size()) return {};
  return impl_->frames(code);
}

std::uint32_t DebugInfo::body_begin(std::uint32_t function) const {
  const std::uint32_t begin = impl_->lines.body_begin(function);
  const SourcePlace& declared = impl_->scope(function).declared;
  if (declared.line == 0) return begin;
  // nvcc -G moves code of functions that it inlines from headers in front of the first line, without a word of a call.
  const auto is_own = [&](std::uint32_t i) {
    const SourcePlace place = impl_->lines.outermost_place({function, i});
    return place.line >= declared.line && place.file == declared.file;
  };
  const auto end = static_cast<std::uint32_t>(impl_->module->functions[function].body.size());
  for (std::uint32_t i = begin; i < end; ++i)
    if (is_own(i)) return i;
  return begin;
}

std::vector<StopPlace> DebugInfo::find_line(std::string_view file, std::uint32_t line) const {
  std::vector<StopPlace> out = impl_->find_line(file, line);
  if (!out.empty()) return out;
  const std::uint32_t next = impl_->next_line(file, line);
  return next == 0 ? out : impl_->find_line(file, next);
}

std::vector<StopPlace> DebugInfo::find_function(std::string_view name) const {
  std::vector<StopPlace> out;
  const auto matches = [name](const std::string& linkage_name) { return name_matches(name, linkage_name); };
  for (std::uint32_t f = 0; f < impl_->module->functions.size(); ++f) {
    const ptx::Function& function = impl_->module->functions[f];
    if (!function.has_body) continue;
    if (matches(function.name)) {
      const CodePlace begin{f, body_begin(f)};
      out.push_back({begin, impl_->lines.outermost_place(begin), true});
    }
    const std::vector<StopPlace> inlined = impl_->lines.has_inlined_names(f) ? impl_->lines.inlined_entries(f, matches)
                                                                             : impl_->inlined_entries(f, matches);
    out.insert(out.end(), inlined.begin(), inlined.end());
  }
  return out;
}

const Scope& DebugInfo::function(std::uint32_t function) const {
  return impl_->scope(function);
}

std::vector<VisibleVariable> DebugInfo::variables(CodePlace code, std::uint32_t frame) const {
  std::vector<VisibleVariable> out;
  if (code.function >= impl_->module->functions.size()) return out;
  const std::vector<const Scope*> path = scope_path(impl_->scope(code.function), code.instruction);
  const std::size_t frames = impl_->frames(code).size();
  if (frame >= frames) return out;
  // Frames count from the inside, and DWARF may know fewer of them than `.loc`: both are counted from the outside.
  const std::size_t wanted = frames - 1 - frame;
  std::size_t level = 0;
  std::vector<const Scope*> of_frame;
  for (const Scope* s : path) {
    if (s->kind == ScopeKind::inlined) ++level;
    if (level == wanted) of_frame.push_back(s);
  }
  std::set<std::string_view> known;
  for (std::size_t k = of_frame.size(); k-- > 0;) {
    for (const Variable& v : of_frame[k]->variables)
      out.push_back({&v, location_at(v, code.instruction), static_cast<std::uint32_t>(of_frame.size() - 1 - k),
                     !known.insert(v.name).second});
  }
  return out;
}

const std::vector<Variable>& DebugInfo::globals() const {
  if (!impl_->globals) {
    impl_->globals.emplace();
    for (std::size_t k = 0; k < impl_->parts.size(); ++k) impl_->part(k).scopes.add_globals(*impl_->globals);
  }
  return *impl_->globals;
}

std::string DebugInfo::why_no_variables(std::uint32_t function) const {
  switch (detail(function)) {
    case Detail::variables:
      return "";
    case Detail::lines:
      if (impl_->lines.outermost_place({function, body_begin(function)}).file.ends_with(".py"))
        return "the compiler wrote lines only, as Numba and Triton do: `info registers` has the values";
      return "the compiler wrote lines only (-lineinfo, or optimised code): compile with -G to see variables";
    case Detail::nothing:
      return "the compiler wrote nothing about the source: compile with -G";
  }
  return "";
}

const Type& DebugInfo::type(TypeId id) const {
  return impl_->types.type(id);
}

std::string DebugInfo::type_name(TypeId id) const {
  return impl_->types.name(id);
}

TypeId DebugInfo::strip(TypeId id) const {
  return impl_->types.strip(id);
}

std::vector<TypeId> DebugInfo::enumerations_with(const std::string& enumerator) const {
  std::vector<TypeId> out;
  for (std::size_t k = 0; k < impl_->parts.size(); ++k) {
    const std::vector<TypeId> found = impl_->types.enumerations_with(impl_->part(k).dwarf, enumerator);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

TypeId DebugInfo::find_type(std::string_view name) const {
  for (std::size_t k = 0; k < impl_->parts.size(); ++k) {
    const TypeId found = impl_->types.find(impl_->part(k).dwarf, name);
    if (found != kVoidType) return found;
  }
  return kVoidType;
}

}  // namespace warpgrind::debuginfo
