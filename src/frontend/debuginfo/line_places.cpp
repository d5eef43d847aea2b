#include "debuginfo/line_places.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "debuginfo/readable_names.h"

namespace warpgrind::debuginfo {

namespace {

constexpr std::int32_t kNotInlined = -1;

// The location around one; kNotInlined: it is the outermost. Locations come behind those around them, so a chain ends.
std::int32_t location_around(const ptx::Function& f, std::int32_t at) {
  const std::int32_t outer = f.locations[static_cast<std::size_t>(at)].inlined_at;
  return outer < at ? outer : kNotInlined;
}

}  // namespace

const ptx::SourceLocation* LinePlaces::location(CodePlace code) const {
  if (code.function >= module_.functions.size()) return nullptr;
  const ptx::Function& f = module_.functions[code.function];
  if (code.instruction >= f.body.size() || f.body[code.instruction].location >= f.locations.size()) return nullptr;
  return &f.locations[f.body[code.instruction].location];
}

SourcePlace LinePlaces::source(const ptx::SourceLocation& l) const {
  return {l.file < module_.files.size() ? module_.files[l.file] : std::string(), l.line, l.column};
}

const ptx::SourceLocation* LinePlaces::shown_location(CodePlace code) const {
  const ptx::SourceLocation* own = location(code);
  if (!own || own->line != 0) return own;
  const std::uint32_t copy = inlined_copy_(code);
  for (CodePlace before = code; before.instruction-- > 0;) {
    const ptx::SourceLocation* l = location(before);
    if (!l || l->inlined_at != own->inlined_at || inlined_copy_(before) != copy) break;
    if (l->line != 0) return l;
  }
  return own;
}

SourcePlace LinePlaces::place(CodePlace code) const {
  const ptx::SourceLocation* l = shown_location(code);
  return l ? source(*l) : SourcePlace{};
}

SourcePlace LinePlaces::outermost_place(CodePlace code) const {
  const ptx::SourceLocation* own = location(code);
  if (!own) return {};
  const ptx::Function& f = module_.functions[code.function];
  auto at = static_cast<std::int32_t>(own - f.locations.data());
  while (location_around(f, at) != kNotInlined) at = location_around(f, at);
  return source(f.locations[static_cast<std::size_t>(at)]);
}

std::vector<Frame> LinePlaces::frames(CodePlace code) const {
  if (code.function >= module_.functions.size()) return {};
  const ptx::Function& f = module_.functions[code.function];
  std::vector<Frame> out;
  const ptx::SourceLocation* own = shown_location(code);
  for (auto at = own ? static_cast<std::int32_t>(own - f.locations.data()) : kNotInlined; at != kNotInlined;
       at = location_around(f, at)) {
    const ptx::SourceLocation& l = f.locations[static_cast<std::size_t>(at)];
    Frame frame;
    frame.place = source(l);
    frame.is_inlined = location_around(f, at) != kNotInlined;
    frame.linkage_name = frame.is_inlined ? l.function : f.name;
    frame.function = frame.linkage_name.empty() ? "?" : readable_name(frame.linkage_name).name;
    out.push_back(std::move(frame));
  }
  if (out.empty()) out.push_back({readable_name(f.name).name, f.name, {}, false});
  return out;
}

// Compilers give the code before the first statement the function's own line, in column 0.
std::uint32_t LinePlaces::body_begin(std::uint32_t function) const {
  if (function >= module_.functions.size()) return 0;
  const auto end = static_cast<std::uint32_t>(module_.functions[function].body.size());
  std::uint32_t at = 0;
  while (at < end && !location({function, at})) ++at;
  if (at == end) return 0;
  const ptx::SourceLocation* first = location({function, at});
  if (first->column != 0 || first->inlined_at != kNotInlined) return at;
  for (; at < end; ++at) {
    const ptx::SourceLocation* l = location({function, at});
    if (l && l != first && l->line != 0) return at;
  }
  return 0;
}

std::vector<std::string> LinePlaces::files() const {
  std::set<std::string> out;
  for (const ptx::Function& f : module_.functions)
    for (const ptx::SourceLocation& l : f.locations)
      if (l.line != 0 && l.file < module_.files.size()) out.insert(module_.files[l.file]);
  return {out.begin(), out.end()};
}

std::vector<bool> LinePlaces::matching_files(std::string_view file) const {
  std::vector<bool> out;
  for (const std::string& f : module_.files) out.push_back(path_matches(f, file));
  return out;
}

bool LinePlaces::has_file(std::uint32_t function, std::string_view file) const {
  std::vector<std::uint32_t> known;  // files that do not match
  for (const ptx::SourceLocation& l : module_.functions[function].locations) {
    if (l.file >= module_.files.size() || std::find(known.begin(), known.end(), l.file) != known.end()) continue;
    if (path_matches(module_.files[l.file], file)) return true;
    known.push_back(l.file);
  }
  return false;
}

void LinePlaces::add_pieces(std::uint32_t function, const std::vector<std::int32_t>& wanted,
                            std::vector<Piece>& out) const {
  const ptx::Function& f = module_.functions[function];
  const std::uint32_t begin = body_begin(function);
  const bool by_lines = has_inlined_names(function);
  // An instruction continues a piece if the one before it is of the same line, call and inlined copy.
  Copy last;
  bool in_piece = false;
  for (std::uint32_t i = 0; i < f.body.size(); ++i) {
    const ptx::SourceLocation* own = location({function, i});
    if (!own || own->line == 0) continue;  // line 0: compilers joined code here
    const std::int32_t at = wanted[f.body[i].location];
    if (at == kNotInlined) {
      in_piece = false;
      continue;
    }
    const ptx::SourceLocation& l = f.locations[static_cast<std::size_t>(at)];
    const Copy copy{l.inlined_at, by_lines ? 0 : inlined_copy_({function, i})};
    if (!in_piece || copy != last) {
      const bool in_prologue = i < begin && l.inlined_at == kNotInlined;
      StopPlace stop{
          {function, in_prologue ? begin : i}, in_prologue ? outermost_place({function, begin}) : source(l), true};
      if (out.empty() || out.back().stop.code != stop.code) out.push_back({std::move(stop), copy, false});
    }
    out.back().has_own_code |= own == &l;
    in_piece = true;
    last = copy;
  }
}

std::vector<StopPlace> LinePlaces::find_line(std::string_view file, std::uint32_t line) const {
  const std::vector<bool> files = matching_files(file);
  std::vector<Piece> pieces;
  for (std::uint32_t k = 0; k < module_.functions.size(); ++k) {
    const ptx::Function& f = module_.functions[k];
    std::vector<std::int32_t> wanted(f.locations.size(), kNotInlined);
    bool any = false;
    for (std::size_t l = 0; l < f.locations.size(); ++l) {
      for (auto at = static_cast<std::int32_t>(l); at != kNotInlined && wanted[l] == kNotInlined;
           at = location_around(f, at)) {
        const ptx::SourceLocation& place = f.locations[static_cast<std::size_t>(at)];
        if (place.line == line && place.file < files.size() && files[place.file]) wanted[l] = at;
      }
      any = any || wanted[l] != kNotInlined;
    }
    if (any) add_pieces(k, wanted, pieces);
  }
  const bool any_own = std::any_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.has_own_code; });
  std::vector<StopPlace> out;
  std::set<std::pair<std::uint32_t, Copy>> known;  // function, copy
  for (Piece& piece : pieces) {
    if (any_own && !piece.has_own_code) continue;
    piece.stop.is_first = known.emplace(piece.stop.code.function, piece.copy).second;
    out.push_back(std::move(piece.stop));
  }
  return out;
}

LinePlaces::LinesAround LinePlaces::lines_around(std::uint32_t function, std::string_view file, std::uint32_t line,
                                                 const std::function<bool(std::uint32_t)>& is_own) const {
  const ptx::Function& f = module_.functions[function];
  const std::vector<bool> files = matching_files(file);
  LinesAround out;
  for (std::uint32_t i = 0; i < f.body.size(); ++i) {
    const ptx::SourceLocation* l = location({function, i});
    if (!l || l->line == 0 || l->file >= files.size() || !files[l->file] || !is_own(i)) continue;
    if (out.first == 0 || l->line < out.first) out.first = l->line;
    out.last = std::max(out.last, l->line);
    if (l->line > line && (out.next == 0 || l->line < out.next)) out.next = l->line;
  }
  return out;
}

void LinePlaces::add_inlined_scopes(std::uint32_t function, Scope& scope) const {
  const ptx::Function& f = module_.functions[function];
  for (std::uint32_t i = 0; i < f.body.size(); ++i) {
    const ptx::SourceLocation* own = location({function, i});
    std::vector<const ptx::SourceLocation*> calls;  // innermost first
    for (auto at = own ? static_cast<std::int32_t>(own - f.locations.data()) : kNotInlined;
         at != kNotInlined && location_around(f, at) != kNotInlined; at = location_around(f, at))
      calls.push_back(&f.locations[static_cast<std::size_t>(at)]);
    Scope* around = &scope;
    for (; !calls.empty(); calls.pop_back()) {
      const ptx::SourceLocation& l = *calls.back();
      const SourcePlace called = source(f.locations[static_cast<std::size_t>(l.inlined_at)]);
      const auto known = std::find_if(around->inner.begin(), around->inner.end(), [&](const Scope& s) {
        return s.linkage_name == l.function && s.called == called;
      });
      if (known != around->inner.end()) {
        around = &*known;
      } else {
        around = &around->inner.emplace_back();
        around->kind = ScopeKind::inlined;
        around->linkage_name = l.function;
        around->name = l.function.empty() ? "?" : readable_name(l.function).name;
        around->called = called;
      }
      if (!around->code.empty() && around->code.back().end == i)
        around->code.back().end = i + 1;
      else
        around->code.push_back({i, i + 1});
    }
  }
}

bool LinePlaces::has_inlined_names(std::uint32_t function) const {
  const std::vector<ptx::SourceLocation>& all = module_.functions[function].locations;
  return std::any_of(all.begin(), all.end(),
                     [](const ptx::SourceLocation& l) { return l.inlined_at != kNotInlined && !l.function.empty(); });
}

std::vector<StopPlace> LinePlaces::inlined_entries(std::uint32_t function,
                                                   const std::function<bool(const std::string&)>& matches) const {
  const ptx::Function& f = module_.functions[function];
  std::unordered_map<std::string, bool> names;
  std::set<std::int32_t> calls;  // locations of calls that are known
  std::vector<StopPlace> out;
  for (std::uint32_t i = 0; i < f.body.size(); ++i) {
    const ptx::SourceLocation* own = location({function, i});
    for (auto at = own ? static_cast<std::int32_t>(own - f.locations.data()) : kNotInlined; at != kNotInlined;
         at = location_around(f, at)) {
      const ptx::SourceLocation& l = f.locations[static_cast<std::size_t>(at)];
      if (l.inlined_at == kNotInlined || l.function.empty()) continue;
      const auto [name, is_new] = names.try_emplace(l.function, false);
      if (is_new) name->second = matches(l.function);
      if (name->second && calls.insert(l.inlined_at).second) out.push_back({{function, i}, source(l), true});
    }
  }
  return out;
}

}  // namespace warpgrind::debuginfo
