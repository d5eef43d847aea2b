// Printer of PTX.
#include "ptx/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "base/assert.h"
#include "ptx/special_registers.h"

namespace warpgrind::ptx {

namespace {

using Buffer = std::back_insert_iterator<std::string>;

// Names of one function as printed: as written, but made unique where nested scopes repeat them.
struct Names {
  std::vector<std::string> registers, variables, labels, tables;
};

std::string constant_text(Literal literal, std::uint64_t bits) {
  if (literal == Literal::f32) return fmt::format("0f{:08X}", static_cast<std::uint32_t>(bits));
  if (literal == Literal::f64) return fmt::format("0d{:016X}", bits);
  return fmt::format("{}", static_cast<std::int64_t>(bits));
}

class InstructionPrinter {
 public:
  InstructionPrinter(const Function& f, const Module& m, const Names* names) : f_(f), m_(m), names_(names) {}

  std::string operand(const Operand& o) const {
    std::string out = o.negated ? (o.kind == OperandKind::reg && is_predicate(o.index) ? "!" : "-") : "";
    switch (o.kind) {
      case OperandKind::none:
        break;
      case OperandKind::reg:
        out += reg(o.index);
        break;
      case OperandKind::sreg:
        out += special_register_text(o.sreg, o.index);
        break;
      case OperandKind::immediate:
        out += constant_text(o.literal, o.bits);
        break;
      case OperandKind::variable:
        out += variable(o) + offset(o.offset, false);
        break;
      case OperandKind::function:
        out += m_.functions[o.index].name;
        break;
      case OperandKind::label:
        out += names_ ? names_->labels[o.index] : f_.labels[o.index].name;
        break;
      case OperandKind::table:
        out += names_ ? names_->tables[o.index] : f_.tables[o.index].name;
        break;
      case OperandKind::address:
        out += address(o);
        break;
      case OperandKind::vector:
        out += '{' + list(o.elements, 0) + '}';
        break;
      case OperandKind::sink:
        out += '_';
        break;
    }
    if (o.selector != 0) out += '.' + selector_text(o.selector);
    return out;
  }

  std::string instruction(const Instruction& i) const {
    std::string out;
    if (i.guard) out += fmt::format("@{}{} ", i.guard.negated ? "!" : "", reg(i.guard.reg));
    out += opcode_spelling(i);
    if (i.opcode == Opcode::call) return out + call(i) + ';';
    for (std::size_t k = 0; k < i.operands.size(); ++k) {
      out += k == 0 ? " " : k == 1 && i.has_second_destination ? "|" : ", ";
      out += operand(i.operands[k]);
    }
    return out + ';';
  }

 private:
  bool is_predicate(RegId id) const { return f_.registers[id].type == ScalarType::pred; }
  const std::string& reg(RegId id) const {
    WG_ASSERT(id < f_.registers.size());
    return names_ ? names_->registers[id] : f_.registers[id].name;
  }

  std::string variable(const Operand& o) const {
    if (o.scope == Scope::module) return m_.variables[o.index].name;
    return names_ ? names_->variables[o.index] : f_.variables[o.index].name;
  }

  static std::string offset(std::int64_t n, bool alone) {
    if (alone) return fmt::format("{}", n);
    return n == 0 ? "" : fmt::format("+{}", n);
  }

  std::string list(const std::vector<Operand>& operands, std::size_t from) const {
    std::string out;
    for (std::size_t k = from; k < operands.size(); ++k) out += (k == from ? "" : ", ") + operand(operands[k]);
    return out;
  }

  std::string address(const Operand& o) const {
    std::string out = "[";
    if (o.base == OperandKind::reg) out += reg(o.index);
    if (o.base == OperandKind::variable) out += variable(o);
    out += offset(o.offset, o.base == OperandKind::none);
    if (o.has_sampler) out += ", " + operand(o.elements[0]);
    if (!o.elements.empty()) out += ", {" + list(o.elements, o.has_sampler ? 1 : 0) + '}';
    return out + ']';
  }

  std::string call(const Instruction& i) const {
    std::string out;
    if (!i.results.empty()) out += " (" + list(i.results, 0) + "),";
    out += ' ' + operand(i.operands[0]);
    if (!i.arguments.empty()) out += ", (" + list(i.arguments, 0) + ')';
    if (i.operands.size() > 1) out += ", " + operand(i.operands[1]);
    return out;
  }

  const Function& f_;
  const Module& m_;
  const Names* names_;
};

class UniqueNames {
 public:
  std::string operator()(const std::string& name) {
    if (used_.insert(name).second) return name;
    for (unsigned& n = next_.try_emplace(name, 2).first->second;; ++n) {
      std::string candidate = fmt::format("{}${}", name, n);
      if (used_.insert(candidate).second) return candidate;
    }
  }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, unsigned> next_;
};

// The components of a vector register become single registers: "%v.x" -> "%v$x".
std::string flat(std::string name) {
  std::replace(name.begin(), name.end(), '.', '$');
  return name;
}

Names unique_names(const Function& f) {
  Names names;
  UniqueNames unique;
  for (const Variable& v : f.variables) {
    names.variables.push_back(v.name.empty() || v.space == StateSpace::reg ? v.name : unique(v.name));
  }
  for (const Register& r : f.registers) names.registers.push_back(unique(flat(r.name)));
  for (const Label& l : f.labels) names.labels.push_back(unique(l.name));
  for (const Table& t : f.tables) names.tables.push_back(unique(t.name));
  return names;
}

const char* linkage_text(Linkage linkage) {
  switch (linkage) {
    case Linkage::internal:
      return "";
    case Linkage::visible:
      return ".visible ";
    case Linkage::external:
      return ".extern ";
    case Linkage::weak:
      return ".weak ";
    case Linkage::common:
      return ".common ";
  }
  return "";
}

// ".param .align 8 .b8 name[16]"
std::string declaration(const Variable& v, const std::string& name) {
  std::string out = fmt::format(".{}", space_text(v.space));
  if (v.managed) out += " .attribute(.managed)";
  const bool opaque = v.type == ScalarType::texref || v.type == ScalarType::samplerref || v.type == ScalarType::surfref;
  if (v.space != StateSpace::reg && !opaque) out += fmt::format(" .align {}", v.alignment);
  if (v.vector > 1) out += fmt::format(" .v{}", v.vector);
  out += fmt::format(" .{} {}", ptx::name(v.type), name.empty() ? "_" : name);
  const std::uint64_t element = std::uint64_t{bytes(v.type)} * v.vector;
  if (v.unsized) return out + "[]";
  if (v.size != element && element != 0) out += fmt::format("[{}]", v.size / element);
  return out;
}

std::string relocation_text(const Relocation& r, const Module& m) {
  std::string target = r.is_function ? m.functions[r.target].name : m.variables[r.target].name;
  if (r.generic) target = fmt::format("generic({})", target);
  if (r.addend != 0) target += fmt::format("+{}", r.addend);
  return r.mask == ~0ull ? target : fmt::format("mask({}, {:#x})", target, r.mask);
}

void print_initial(const Variable& v, const Module& m, std::string& out) {
  const unsigned size = bytes(v.type);
  if (v.initial.empty() || size == 0) return;
  const std::uint64_t count = v.initial.size() / size;
  const bool array = v.size != size;
  std::size_t last = v.initial.size();  // trailing zeroes are left out
  while (last > 0 && v.initial[last - 1] == 0) --last;
  for (const Relocation& r : v.relocations) last = std::max<std::size_t>(last, r.offset + r.size);
  const std::uint64_t shown = std::max<std::uint64_t>(1, (last + size - 1) / size);
  out += array ? " = {" : " = ";
  std::unordered_map<std::uint64_t, const Relocation*> relocations;
  for (const Relocation& r : v.relocations) relocations[r.offset] = &r;
  for (std::uint64_t k = 0; k < std::min(count, shown); ++k) {
    if (k != 0) out += ", ";
    if (const auto r = relocations.find(k * size); r != relocations.end()) {
      out += relocation_text(*r->second, m);
      continue;
    }
    std::uint64_t bits = 0;
    for (unsigned b = 0; b < size && b < 8; ++b) bits |= std::uint64_t{v.initial[k * size + b]} << (8 * b);
    const Literal literal = v.type == ScalarType::f32   ? Literal::f32
                            : v.type == ScalarType::f64 ? Literal::f64
                                                        : Literal::integer;
    out += constant_text(literal, bits);
  }
  if (array) out += '}';
}

std::string parameters(const Function& f, const Names& names, std::size_t from, std::size_t count) {
  WG_ASSERT(from + count <= f.variables.size());
  std::string out = "(";
  for (std::size_t k = from; k < from + count; ++k) {
    const Variable& v = f.variables[k];
    out += (k == from ? "" : ", ") + declaration(v, v.space == StateSpace::reg ? flat(v.name) : names.variables[k]);
  }
  return out + ")";
}

std::string prototype_text(const std::vector<Variable>& list) {
  std::string out = "(";
  for (std::size_t k = 0; k < list.size(); ++k) out += (k == 0 ? "" : ", ") + declaration(list[k], list[k].name);
  return out + ")";
}

std::string table_text(const Table& t, const std::string& name, const Module& m, const Names& names) {
  std::string out = fmt::format("  {}: ", name);
  if (!t.labels.empty()) {
    out += ".branchtargets ";
    for (std::size_t k = 0; k < t.labels.size(); ++k) out += (k == 0 ? "" : ", ") + names.labels[t.labels[k]];
  } else if (!t.functions.empty()) {
    out += ".calltargets ";
    for (std::size_t k = 0; k < t.functions.size(); ++k) out += (k == 0 ? "" : ", ") + m.functions[t.functions[k]].name;
  } else {
    out += ".callprototype ";
    if (!t.prototype_results.empty()) out += prototype_text(t.prototype_results) + ' ';
    out += "_ " + prototype_text(t.prototype_parameters);
  }
  return out + ";\n";
}

std::string performance_text(const PerformanceDirectives& p) {
  std::string out;
  const auto three = [&out](const char* name, const std::uint32_t(&d)[3]) {
    if (d[0] != 0) out += fmt::format("{} {}, {}, {}\n", name, d[0], d[1], d[2]);
  };
  const auto one = [&out](const char* name, std::uint32_t n) {
    if (n != 0) out += fmt::format("{} {}\n", name, n);
  };
  three(".maxntid", p.maxntid);
  three(".reqntid", p.reqntid);
  three(".reqnctapercluster", p.reqnctapercluster);
  one(".maxnreg", p.maxnreg);
  one(".minnctapersm", p.minnctapersm);
  one(".maxnctapersm", p.maxnctapersm);
  if (p.noreturn) out += ".noreturn\n";
  return out;
}

// Names of inlined functions: `.loc` refers to them by labels of section .debug_str.
class DebugStrings {
 public:
  std::string label(const std::string& text) {
    return fmt::format("$L__info_string{}", indices_.try_emplace(text, indices_.size()).first->second);
  }
  std::string section() const {
    if (indices_.empty()) return "";
    std::vector<const std::string*> texts(indices_.size());
    for (const auto& [text, index] : indices_) texts[index] = &text;
    std::string out = ".section .debug_str\n{\n";
    for (std::size_t k = 0; k < texts.size(); ++k) {
      out += fmt::format("$L__info_string{}:\n.b8 ", k);
      for (char c : *texts[k]) out += fmt::format("{},", static_cast<unsigned char>(c));
      out += "0\n";
    }
    return out + "}\n";
  }

 private:
  std::unordered_map<std::string, std::size_t> indices_;
};

std::string location_text(const Function& f, std::uint32_t index, DebugStrings& strings) {
  const SourceLocation& l = f.locations[index];
  std::string out = fmt::format("  .loc {} {} {}", l.file, l.line, l.column);
  if (!l.function.empty()) out += ", function_name " + strings.label(l.function);
  if (l.inlined_at >= 0) {
    const SourceLocation& outer = f.locations[static_cast<std::size_t>(l.inlined_at)];
    out += fmt::format(", inlined_at {} {} {}", outer.file, outer.line, outer.column);
  }
  return out + '\n';
}

// The `.loc` lines of an inlining chain, outermost first: each `inlined_at` refers to the latest `.loc` of that place.
std::string location_chain(const Function& f, std::uint32_t index, DebugStrings& strings) {
  std::vector<std::uint32_t> chain;
  for (auto l = static_cast<std::int32_t>(index); l >= 0; l = f.locations[static_cast<std::size_t>(l)].inlined_at) {
    chain.push_back(static_cast<std::uint32_t>(l));
  }
  std::string out;
  for (std::size_t k = chain.size(); k-- > 0;) out += location_text(f, chain[k], strings);
  return out;
}

// `strings`: null to leave out line information.
void print_body(const Function& f, const Module& m, const Names& names, DebugStrings* strings, std::string& out) {
  out += "{\n";
  std::vector<bool> is_parameter(f.registers.size(), false);
  for (std::size_t k = 0; k < std::size_t{f.parameter_count} + f.result_count; ++k) {
    const Variable& v = f.variables[k];
    if (v.space != StateSpace::reg) continue;
    const auto r =
        std::find_if(f.registers.begin(), f.registers.end(), [&](const Register& x) { return x.name == v.name; });
    if (r != f.registers.end()) is_parameter[static_cast<std::size_t>(r - f.registers.begin())] = true;
  }
  for (std::size_t k = 0; k < f.registers.size(); ++k) {
    if (!is_parameter[k]) out += fmt::format("  .reg .{} {};\n", ptx::name(f.registers[k].type), names.registers[k]);
  }
  for (std::size_t k = std::size_t{f.parameter_count} + f.result_count; k < f.variables.size(); ++k) {
    const Variable& v = f.variables[k];
    out += fmt::format("  {}{}", linkage_text(v.linkage), declaration(v, names.variables[k]));
    print_initial(v, m, out);
    out += ";\n";
  }
  for (std::size_t k = 0; k < f.tables.size(); ++k) out += table_text(f.tables[k], names.tables[k], m, names);
  const InstructionPrinter printer(f, m, &names);
  std::unordered_multimap<std::uint32_t, std::size_t> labels;
  for (std::size_t k = 0; k < f.labels.size(); ++k) labels.emplace(f.labels[k].instruction, k);
  std::uint32_t location = kNoId;
  for (std::uint32_t k = 0; k <= f.body.size(); ++k) {
    std::vector<std::size_t> here;
    for (auto [l, end] = labels.equal_range(k); l != end; ++l) here.push_back(l->second);
    std::sort(here.begin(), here.end());
    for (std::size_t l : here) out += names.labels[l] + ":\n";
    if (k == f.body.size()) break;
    if (strings && f.body[k].location != location && f.body[k].location != kNoId)
      out += location_chain(f, f.body[k].location, *strings);
    location = f.body[k].location;
    out += "  " + printer.instruction(f.body[k]) + '\n';
  }
  out += "}\n";
}

// ".visible .entry name(...)" up to the body. A forward declaration has no performance directives.
std::string header(const Function& f, const Names& names, bool forward) {
  std::string out = linkage_text(f.linkage);
  out += f.is_entry ? ".entry " : ".func ";
  if (f.result_count != 0) out += parameters(f, names, f.parameter_count, f.result_count) + ' ';
  out += f.name;
  out += parameters(f, names, 0, f.parameter_count);
  const std::string performance = performance_text(f.performance);
  if (!forward && !performance.empty()) out += '\n' + performance;
  return out;
}

}  // namespace

std::string print(const Operand& operand, const Function& function, const Module& module) {
  return InstructionPrinter(function, module, nullptr).operand(operand);
}

std::string print(const Instruction& instruction, const Function& function, const Module& module) {
  return InstructionPrinter(function, module, nullptr).instruction(instruction);
}

std::string print_code(const Function& f, const Module& m) {
  Names names = unique_names(f);
  // Compilers put the function's number in its module into the names of labels.
  for (std::size_t k = 0; k < names.labels.size(); ++k) names.labels[k] = fmt::format("$L{}", k);
  std::string out = header(f, names, false) + '\n';
  if (f.has_body) print_body(f, m, names, nullptr, out);
  return out;
}

std::string print(const Variable& v, const Module& m) {
  std::string out = linkage_text(v.linkage) + declaration(v, v.name);
  print_initial(v, m, out);
  return out;
}

std::string print(const Module& m) {
  std::string out = fmt::format(".version {}.{}\n.target {}{}\n.address_size {}\n", m.version_major, m.version_minor,
                                m.target, m.debug ? ", debug" : "", m.address_size);
  for (std::size_t k = 0; k < m.files.size(); ++k) {
    if (!m.files[k].empty()) out += fmt::format(".file {} \"{}\"\n", k, m.files[k]);
  }
  // Declarations come first, so that initialisers and calls may name later definitions.
  for (const Function& f : m.functions) out += header(f, unique_names(f), true) + ";\n";
  // Variables whose address is in the initialiser of an earlier one, or in their own.
  std::unordered_set<std::uint32_t> ahead;
  for (std::uint32_t k = 0; k < m.variables.size(); ++k) {
    for (const Relocation& r : m.variables[k].relocations) {
      if (r.is_function || r.target < k || !ahead.insert(r.target).second) continue;
      const Variable& v = m.variables[r.target];
      if (v.linkage != Linkage::internal) out += ".extern " + declaration(v, v.name) + ";\n";
    }
  }
  for (const Variable& v : m.variables) out += print(v, m) + ";\n";
  DebugStrings strings;
  for (const Function& f : m.functions) {
    if (!f.has_body) continue;
    const Names names = unique_names(f);
    out += '\n' + header(f, names, false);
    if (out.back() != '\n') out += '\n';
    print_body(f, m, names, &strings, out);
  }
  for (const Function& f : m.functions) {
    if (f.alias_of != kNoId) out += fmt::format(".alias {}, {};\n", f.name, m.functions[f.alias_of].name);
  }
  return out + strings.section();
}

}  // namespace warpgrind::ptx
