// Linker: matches symbols by name, renames colliding internal ones, then renumbers all references.
#include "ptx/linker.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/assert.h"
#include "ptx/references.h"

namespace warpgrind::ptx {

namespace {

// Position of a module's parts in the linked module.
struct Placement {
  std::vector<std::uint32_t> functions, variables;  // old index -> new index
  std::uint32_t first_line = 0;                     // lines of text before it
  std::uint32_t first_file = 0;
};

// Strength of a symbol; the highest one is used.
enum class Strength : std::uint8_t { declaration, common, weak, strong };

Strength strength(const Function& f) {
  if (!f.has_body) return Strength::declaration;
  return f.linkage == Linkage::weak ? Strength::weak : Strength::strong;
}

Strength strength(const Variable& v) {
  switch (v.linkage) {
    case Linkage::external:
      return Strength::declaration;
    case Linkage::common:
      return Strength::common;
    case Linkage::weak:
      return Strength::weak;
    default:
      return Strength::strong;
  }
}

// True for a name that other modules can see. An internal function without a body is a forward declaration, or is
// defined elsewhere.
bool is_shared(const Function& f) {
  return f.linkage != Linkage::internal || (!f.has_body && f.alias_of == kNoId);
}
bool is_shared(const Variable& v) {
  return v.linkage != Linkage::internal;
}

class Linker {
 public:
  explicit Linker(const std::vector<std::shared_ptr<Module>>& modules)
      : modules_(modules), placements_(modules.size()) {}

  Result<std::shared_ptr<Module>> run() {
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      add_text(m);
      if (!place(m, modules_[m]->functions, placements_[m].functions, function_names_, function_from_))
        return failure();
      if (!place(m, modules_[m]->variables, placements_[m].variables, variable_names_, variable_from_))
        return failure();
    }
    copy(
        function_from_, [](Module & m) -> auto& { return m.functions; });
    copy(
        variable_from_, [](Module & m) -> auto& { return m.variables; });
    for (std::size_t k = 0; k < function_from_.size(); ++k)
      relocate(out_->functions[k], placements_[function_from_[k].module]);
    for (std::size_t m = 0; m < modules_.size(); ++m)
      WG_ASSERT(placements_[m].functions.size() == modules_[m]->functions.size() &&
                placements_[m].variables.size() == modules_[m]->variables.size());
    for (std::size_t k = 0; k < variable_from_.size(); ++k)
      relocate(out_->variables[k], placements_[variable_from_[k].module]);
    WG_DEBUG_ASSERT(references_hold(*out_));
    return out_;
  }

 private:
  struct From {
    std::size_t module = 0;
    std::uint32_t index = 0;
    std::string name;
  };
  using Names = std::unordered_map<std::string, std::uint32_t>;

  Result<std::shared_ptr<Module>> failure() {
    WG_ASSERT(!clash_.empty());
    return Error{ErrorKind::bad_input, fmt::format("'{}' is defined in {} and in {}", clash_, first_, second_),
                 "Two modules of one program define the same symbol; make one of them static or weak."};
  }

  void add_text(std::size_t index) {
    const Module& m = *modules_[index];
    Placement& p = placements_[index];
    const std::size_t first_byte = out_->text.size();
    p.first_line = lines_;
    p.first_file = static_cast<std::uint32_t>(out_->files.size());
    lines_ += static_cast<std::uint32_t>(std::count(m.text.begin(), m.text.end(), '\n'));
    out_->text += m.text;
    if (!m.text.empty() && m.text.back() != '\n') {
      out_->text += '\n';
      ++lines_;
    }
    add_debug_parts(m, p, first_byte);
    out_->files.insert(out_->files.end(), m.files.begin(), m.files.end());
    if (m.files.empty()) out_->files.emplace_back();
    out_->debug = out_->debug || m.debug;
    if (index == 0) {
      out_->target = m.target;
      out_->name = m.name;
      out_->address_size = m.address_size;
    }
    if (std::pair(m.version_major, m.version_minor) > std::pair(out_->version_major, out_->version_minor)) {
      out_->version_major = m.version_major;
      out_->version_minor = m.version_minor;
    }
  }

  // The sections stay where they are in the text: their readers find functions and variables by their lines.
  void add_debug_parts(const Module& m, const Placement& p, std::size_t first_byte) {
    const std::vector<DebugPart> plain(1);
    for (DebugPart part : m.debug_parts.empty() ? plain : m.debug_parts) {
      part.first_line += p.first_line;
      part.end_line = part.end_line == 0xffffffffu ? lines_ + 1 : part.end_line + p.first_line;
      part.first_file += p.first_file;
      for (DebugSection& section : part.sections) {
        section.begin += first_byte;
        section.end += first_byte;
      }
      out_->debug_parts.push_back(std::move(part));
    }
  }

  // A new name for an internal symbol whose name another module uses too: later stages find symbols by name.
  static std::string fresh_name(const std::string& name, const Names& names) {
    for (unsigned n = 1;; ++n) {
      std::string candidate = fmt::format("{}$module{}", name, n);
      if (!names.contains(candidate)) return candidate;
    }
  }

  template <class T>
  bool place(std::size_t module, const std::vector<T>& items, std::vector<std::uint32_t>& map, Names& names,
             std::vector<From>& from) {
    for (std::uint32_t k = 0; k < items.size(); ++k) {
      const T& item = items[k];
      const auto next = static_cast<std::uint32_t>(from.size());
      if (!is_shared(item)) {
        const bool taken = names.contains(item.name);
        from.push_back({module, k, taken ? fresh_name(item.name, names) : item.name});
        names.emplace(from.back().name, next);
        map.push_back(next);
        continue;
      }
      const auto [entry, is_new] = names.try_emplace(item.name, next);
      if (!is_new && !is_shared(item_at<T>(from[entry->second]))) {
        // An internal symbol was first to use the name: it is renamed.
        From& old = from[entry->second];
        old.name = fresh_name(item.name, names);
        names.emplace(old.name, entry->second);
        entry->second = next;
        from.push_back({module, k, item.name});
        map.push_back(next);
        continue;
      }
      if (is_new) from.push_back({module, k, item.name});
      map.push_back(entry->second);
      if (!is_new && !merge(from[entry->second], item, module, k)) return false;
    }
    return true;
  }

  template <class T>
  const T& item_at(const From& f) const {
    if constexpr (std::is_same_v<T, Function>) {
      return modules_[f.module]->functions[f.index];
    } else {
      return modules_[f.module]->variables[f.index];
    }
  }

  static bool larger_common(const Variable& a, const Variable& b) {
    return strength(a) == Strength::common && strength(b) == Strength::common && a.size > b.size;
  }
  static bool larger_common(const Function&, const Function&) { return false; }

  template <class T>
  bool merge(From& kept, const T& item, std::size_t module, std::uint32_t index) {
    const T& old = item_at<T>(kept);
    if (strength(item) == Strength::strong && strength(old) == Strength::strong) {
      clash_ = item.name;
      first_ = modules_[kept.module]->name;
      second_ = modules_[module]->name;
      return false;
    }
    if (strength(item) > strength(old) || larger_common(item, old)) {
      kept.module = module;
      kept.index = index;
    }
    return true;
  }

  template <class Get>
  void copy(const std::vector<From>& from, Get get) {
    for (const From& f : from) {
      get(*out_).push_back(get(*modules_[f.module])[f.index]);
      get(*out_).back().name = f.name;
    }
  }

  static void relocate(SourceRange& r, const Placement& p) {
    if (r.line != 0) r.line += p.first_line;
  }

  static void relocate(Operand& o, const Placement& p) {
    relocate(o.range, p);
    const bool variable =
        o.kind == OperandKind::variable || (o.kind == OperandKind::address && o.base == OperandKind::variable);
    if (variable && o.scope == Scope::module) o.index = p.variables[o.index];
    if (o.kind == OperandKind::function) o.index = p.functions[o.index];
    for (Operand& element : o.elements) relocate(element, p);
  }

  static void relocate(Variable& v, const Placement& p) {
    relocate(v.range, p);
    for (Relocation& r : v.relocations) r.target = r.is_function ? p.functions[r.target] : p.variables[r.target];
  }

  static void relocate(Function& f, const Placement& p) {
    relocate(f.range, p);
    if (f.alias_of != kNoId) f.alias_of = p.functions[f.alias_of];
    for (Variable& v : f.variables) relocate(v, p);
    for (Table& t : f.tables)
      for (std::uint32_t& index : t.functions) index = p.functions[index];
    for (SourceLocation& l : f.locations) l.file += p.first_file;
    for (UnknownInstruction& u : f.unknown) relocate(u.range, p);
    for (Instruction& i : f.body) {
      relocate(i.range, p);
      for (auto* list : {&i.operands, &i.results, &i.arguments})
        for (Operand& o : *list) relocate(o, p);
    }
  }

  const std::vector<std::shared_ptr<Module>>& modules_;
  std::vector<Placement> placements_;
  std::shared_ptr<Module> out_ = std::make_shared<Module>();
  std::uint32_t lines_ = 0;
  Names function_names_, variable_names_;
  std::vector<From> function_from_, variable_from_;
  std::string clash_, first_, second_;
};

}  // namespace

Result<std::shared_ptr<Module>> link(const std::vector<std::shared_ptr<Module>>& modules) {
  if (modules.size() == 1) return modules[0];
  return Linker(modules).run();
}

std::string join_texts(const std::vector<std::shared_ptr<Module>>& modules) {
  std::string out;
  for (const auto& module : modules) {
    if (!out.empty() && out.back() != '\n') out += '\n';
    out += module->text;
  }
  return out;
}

std::vector<std::string> split_texts(std::string text) {
  constexpr std::string_view kNext = "\n.version ";
  std::vector<std::string> out;
  std::size_t at = 0;
  for (std::size_t end = text.find(".version "); (end = text.find(kNext, end)) != text.npos; ++end) {
    out.push_back(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  out.push_back(at == 0 ? std::move(text) : text.substr(at));
  return out;
}

}  // namespace warpgrind::ptx
