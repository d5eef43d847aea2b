// Parser of the module level.
#include "ptx/module_parser.h"

#include <fmt/format.h>

#include <charconv>

#include "base/assert.h"
#include "base/element.h"
#include "ptx/function_parser.h"
#include "ptx/parser.h"
#include "ptx/references.h"

namespace warpgrind::ptx {

namespace {

constexpr std::uint64_t kMostFiles = 65536;

std::shared_ptr<Module> new_module(std::string text, std::string name) {
  auto m = std::make_shared<Module>();
  m->text = std::move(text);
  m->name = std::move(name);
  return m;
}

std::optional<StateSpace> space_of_directive(std::string_view directive) {
  if (directive == ".global") return StateSpace::global;
  if (directive == ".const") return StateSpace::constant;
  if (directive == ".shared") return StateSpace::shared;
  if (directive == ".local") return StateSpace::local;
  if (directive == ".tex") return StateSpace::texture;
  return std::nullopt;
}

}  // namespace

ModuleParser::ModuleParser(std::string text, std::string name)
    : module_(new_module(std::move(text), std::move(name))),
      t_(module_->text),
      declarations_(t_, symbols_, module_->text.size()) {}

Result<std::shared_ptr<Module>> ModuleParser::run() {
  while (t_.token().kind != TokenKind::end && !t_.gave_up()) statement();
  if (t_.diagnostics().empty() && module_->version_major == 0)
    t_.error({1, 1, 1}, "no .version directive: this is not PTX text");
  if (t_.diagnostics().empty() && module_->target.empty())
    t_.error({1, 1, 1}, "no .target directive with an architecture such as sm_90");
  if (!t_.diagnostics().empty()) {
    const std::size_t n = t_.diagnostics().size();
    return Error{ErrorKind::bad_input,
                 fmt::format("{}: {} {} in the PTX text; the first, line {}: {}", module_->name, n,
                             n == 1 ? "error" : "errors", t_.diagnostics()[0].line, t_.diagnostics()[0].message),
                 render(t_.diagnostics(), module_->text, module_->name)};
  }
  WG_ASSERT(module_->version_major != 0 && !module_->target.empty());
  redirect_aliases();
  resolve_function_names();
  WG_DEBUG_ASSERT(references_hold(*module_));
  return module_;
}

// Reads one directive or declaration. After an error, skips to the next one.
void ModuleParser::statement() {
  const char* before = t_.token().text.data();
  if (directive()) return;
  t_.recover_declaration();
  if (t_.token().text.data() == before && t_.token().kind != TokenKind::end) t_.advance();
}

bool ModuleParser::directive() {
  if (t_.accept(';')) return true;
  if (t_.token().is('@')) {  // `@@DWARF ...` of PTX 1.x
    t_.lexer().skip_line();
    t_.advance();
    return true;
  }
  if (t_.token().kind != TokenKind::directive) return t_.unexpected("a directive");
  Linkage linkage = Linkage::internal;
  for (;;) {
    if (t_.accept_directive(".visible"))
      linkage = Linkage::visible;
    else if (t_.accept_directive(".extern"))
      linkage = Linkage::external;
    else if (t_.accept_directive(".weak"))
      linkage = Linkage::weak;
    else if (t_.accept_directive(".common"))
      linkage = Linkage::common;
    else
      break;
  }
  const Token token = t_.token();
  if (token.kind != TokenKind::directive) return t_.unexpected("a declaration");
  t_.advance();
  if (token.text == ".entry") return function(linkage, true);
  if (token.text == ".func") return function(linkage, false);
  if (const auto space = space_of_directive(token.text)) return variables(*space, linkage);
  if (linkage != Linkage::internal)
    return t_.error(token.range(), "expected .entry, .func or a variable after a linkage directive");
  if (token.text == ".version") return version();
  if (token.text == ".target") return target();
  if (token.text == ".address_size") {
    std::uint64_t bits = 0;
    if (!t_.integer(bits, "32 or 64")) return false;
    if (bits != 64)
      return t_.error(token.range(), "only 64-bit addresses are supported", "compile for a 64-bit machine (-m64)");
    return true;
  }
  if (token.text == ".file") return file();
  if (token.text == ".section") return section();
  if (token.text == ".alias") return alias();
  if (token.text == ".pragma") {
    while (t_.token().kind == TokenKind::string) {
      t_.advance();
      t_.accept(',');
    }
    return t_.expect(';', ".pragma");
  }
  if (token.text == ".loc") {
    FunctionParser reader(*this, nullptr, 0);
    return reader.skip_location();
  }
  return t_.error(token.range(), fmt::format("unknown directive '{}'", token.text.substr(0, 60)));
}

bool ModuleParser::version() {
  const Token token = t_.token();
  const std::string_view text = token.text;
  const std::size_t dot = text.find('.');
  std::uint32_t major = 0, minor = 0;
  bool good = token.kind == TokenKind::real && dot != std::string_view::npos;
  if (good) {
    const char* end = text.data() + text.size();
    good = std::from_chars(text.data(), text.data() + dot, major).ec == std::errc{} && major != 0;
    const auto [rest, failure] = std::from_chars(text.data() + dot + 1, end, minor);
    good = good && failure == std::errc{} && rest == end;
  }
  if (!good) return t_.unexpected("a version such as 9.0");
  module_->version_major = major;
  module_->version_minor = minor;
  t_.advance();
  return true;
}

bool ModuleParser::target() {
  Token word;
  do {
    if (!t_.expect_name(word, "a target such as sm_90")) return false;
    if (word.text.starts_with("sm_") || word.text.starts_with("compute_")) module_->target = word.text;
    if (word.text == "debug") module_->debug = true;
  } while (t_.accept(','));
  return true;
}

bool ModuleParser::use_file(std::uint64_t number, const SourceRange& range) {
  if (number >= kMostFiles) return t_.error(range, "the file number is too large");
  if (number >= module_->files.size()) module_->files.resize(number + 1);
  return true;
}

// .file 1 "a.cu" {, timestamp, size}
bool ModuleParser::file() {
  std::uint64_t number = 0, ignored = 0;
  const Token start = t_.token();
  if (!t_.integer(number, "a file number") || !use_file(number, start.range())) return false;
  if (t_.token().kind != TokenKind::string) return t_.unexpected("a file name");
  module_->files[number] = t_.token().text;
  t_.advance();
  while (t_.accept(',')) {
    if (!t_.integer(ignored, "a number")) return false;
  }
  return true;
}

// .alias name, aliasee;
bool ModuleParser::alias() {
  Token name, aliasee;
  if (!t_.expect_name(name, "a function name") || !t_.expect(',', "the alias")) return false;
  if (!t_.expect_name(aliasee, "a function name") || !t_.expect(';', ".alias")) return false;
  for (const Token& token : {name, aliasee}) {
    const auto found = symbols_.find(token.text);
    if (found == symbols_.end() || found->second.kind != SymbolKind::function) {
      return t_.error(token.range(), fmt::format("'{}' is no declared function", token.text));
    }
  }
  Function& f = module_->functions[element(symbols_, name.text).index];
  const std::uint32_t target = element(symbols_, aliasee.text).index;
  if (f.has_body) return t_.error(name.range(), fmt::format("'{}' has a body and cannot be an alias", f.name));
  if (!module_->functions[target].has_body)
    return t_.error(aliasee.range(), fmt::format("'{}' has no body", aliasee.text));
  f.alias_of = target;
  has_aliases_ = true;
  return true;
}

// .section .debug_str { label: .b8 1,2 ... }. Only .debug_str is read here, for the names of inlined functions. Of the
// others the place is kept: a debugger reads them.
bool ModuleParser::section() {
  const Token name = t_.token();
  if (name.kind != TokenKind::directive && name.kind != TokenKind::identifier) return t_.unexpected("a section name");
  t_.advance();
  // A section name may have dots inside: ".nv.section".
  while (t_.token().kind == TokenKind::directive) t_.advance();
  if (!t_.token().is('{')) return t_.unexpected("'{'");
  const auto offset = [this] { return static_cast<std::size_t>(t_.token().text.data() - module_->text.data()); };
  DebugSection place{std::string(name.text), offset() + 1, 0};
  if (name.text != ".debug_str") {
    t_.lexer().skip_until("}");
    t_.advance();
  } else {
    t_.advance();
    if (!section_data(&debug_strings_, &debug_labels_)) return false;
  }
  place.end = offset();
  if (!t_.expect('}', "the section")) return false;
  if (module_->debug_parts.empty()) module_->debug_parts.emplace_back();
  module_->debug_parts[0].sections.push_back(std::move(place));
  return true;
}

bool ModuleParser::section_data(std::string* bytes, std::unordered_map<std::string_view, std::uint64_t>* labels) {
  while (!t_.token().is('}')) {
    const Token token = t_.token();
    t_.advance();
    if (token.kind == TokenKind::identifier && t_.accept(':')) {
      labels->emplace(token.text, bytes->size());
      continue;
    }
    const auto type = token.kind == TokenKind::directive ? scalar_type_from_name(token.text.substr(1)) : std::nullopt;
    if (!type || !is_bits(*type))
      return t_.error(token.range(), "expected data (.b8, .b16, .b32, .b64) or a label in a section");
    do {
      Constant c;
      if (t_.token().kind == TokenKind::identifier) {
        t_.advance();  // an address: not in strings
      } else if (!t_.constant(c)) {
        return false;
      }
      for (unsigned i = 0; i < ptx::bytes(*type); ++i)
        bytes->push_back(static_cast<char>(i < 8 ? c.bits >> (8 * i) : 0));
    } while (t_.accept(','));
  }
  return true;
}

void ModuleParser::resolve_function_names() {
  for (const FunctionNameReference& r : function_names_) {
    const auto found = debug_labels_.find(r.label);
    if (found == debug_labels_.end() || found->second + r.addend >= debug_strings_.size()) continue;
    const std::size_t start = found->second + r.addend;
    const std::size_t end = std::min(debug_strings_.find('\0', start), debug_strings_.size());
    constexpr std::size_t kLongestName = 4096;
    module_->functions[r.function].locations[r.location].function =
        debug_strings_.substr(start, std::min(end - start, kLongestName));
  }
}

// --- variables ----------------------------------------------------------------------------------------------------

bool ModuleParser::variables(StateSpace space, Linkage linkage) {
  return declarations_.declaration(space, linkage, [this](Declarator& d) {
    if (d.count != 0) return t_.error(d.variable.range, "a range of names is only possible for registers");
    return add_variable(d);
  });
}

bool ModuleParser::add_variable(Declarator& d) {
  Variable& v = d.variable;
  if (v.name.empty()) return t_.error(v.range, "a variable needs a name");
  const auto [entry, is_new] = symbols_.try_emplace(d.name, Symbol{});
  if (is_new) {
    entry->second = {SymbolKind::variable, 1, static_cast<std::uint32_t>(module_->variables.size())};
    module_->variables.push_back(std::move(v));
    return true;
  }
  if (entry->second.kind != SymbolKind::variable)
    return t_.error(v.range, fmt::format("'{}' is declared as a function already", v.name));
  Variable& old = module_->variables[entry->second.index];
  if (old.space != v.space)
    return t_.error(v.range, fmt::format("'{}' is declared in another state space already", v.name));
  if (v.linkage == Linkage::external) return true;  // a repeated declaration
  if (old.linkage != Linkage::external) return t_.error(v.range, fmt::format("'{}' is defined twice", v.name));
  old = std::move(v);
  return true;
}

// --- functions ----------------------------------------------------------------------------------------------------

bool ModuleParser::parameter_list(std::vector<Declarator>& list) {
  if (!t_.expect('(', "a function")) return false;
  if (t_.accept(')')) return true;
  do {
    list.emplace_back();
    if (!declarations_.parameter(list.back())) return false;
  } while (t_.accept(','));
  return t_.expect(')', "the parameters");
}

bool ModuleParser::dimensions(std::uint32_t (&out)[3]) {
  out[0] = out[1] = out[2] = 1;
  for (unsigned i = 0; i < 3; ++i) {
    std::uint64_t n = 0;
    if (!t_.integer(n, "a number of threads")) return false;
    if (n > 0xffffffffu) return t_.error(t_.token().range(), "the number is too large");
    out[i] = static_cast<std::uint32_t>(n);
    if (!t_.accept(',')) break;
  }
  return true;
}

bool ModuleParser::performance_directives(Function& f) {
  PerformanceDirectives& p = f.performance;
  while (t_.token().kind == TokenKind::directive) {
    const Token token = t_.token();
    t_.advance();
    std::uint64_t n = 0;
    if (token.text == ".maxntid") {
      if (!dimensions(p.maxntid)) return false;
    } else if (token.text == ".reqntid") {
      if (!dimensions(p.reqntid)) return false;
    } else if (token.text == ".reqnctapercluster") {
      if (!dimensions(p.reqnctapercluster)) return false;
    } else if (token.text == ".maxnreg" || token.text == ".minnctapersm" || token.text == ".maxnctapersm") {
      if (!t_.integer(n, "a number")) return false;
      (token.text == ".maxnreg"        ? p.maxnreg
       : token.text == ".minnctapersm" ? p.minnctapersm
                                       : p.maxnctapersm) = static_cast<std::uint32_t>(n);
    } else if (token.text == ".noreturn") {
      p.noreturn = true;
    } else if (token.text == ".explicitcluster" || token.text == ".blocksareclusters") {
      // Nothing to store: the launch gives the cluster's shape.
    } else if (token.text == ".maxclusterrank" || token.text == ".abi_preserve" ||
               token.text == ".abi_preserve_control") {
      if (!t_.integer(n, "a number")) return false;
    } else if (token.text == ".pragma") {
      while (t_.token().kind == TokenKind::string) {
        t_.advance();
        t_.accept(',');
      }
      if (!t_.expect(';', ".pragma")) return false;
    } else {
      return t_.error(token.range(), fmt::format("unknown directive '{}' of a function", token.text.substr(0, 60)));
    }
  }
  return true;
}

// Registers the function, or merges it with an earlier declaration. Returns kNoId after an error.
std::uint32_t ModuleParser::declare_function(Function& f, const Token& name) {
  const auto [entry, is_new] = symbols_.try_emplace(name.text, Symbol{});
  if (is_new) {
    const auto index = static_cast<std::uint32_t>(module_->functions.size());
    entry->second = {SymbolKind::function, 1, index};
    module_->functions.emplace_back();
    module_->functions.back().name = f.name;
    return index;
  }
  if (entry->second.kind != SymbolKind::function) {
    t_.error(name.range(), fmt::format("'{}' is declared as a variable already", f.name));
    return kNoId;
  }
  const Function& old = module_->functions[entry->second.index];
  if (old.is_entry != f.is_entry) {
    t_.error(name.range(), fmt::format("'{}' is declared as a kernel and as a function", f.name));
    return kNoId;
  }
  // `.weak .func f;` first, `.func f {}` later: the stronger linkage is kept. A definition is no longer external.
  if (f.linkage == Linkage::internal || f.linkage == Linkage::external) {
    if (old.linkage == Linkage::visible || old.linkage == Linkage::weak) f.linkage = old.linkage;
  }
  return entry->second.index;
}

bool ModuleParser::function(Linkage linkage, bool is_entry) {
  Function f;
  f.linkage = linkage;
  f.is_entry = is_entry;
  std::vector<Declarator> parameters, results;
  while (t_.accept_directive(".attribute")) {
    if (!t_.expect('(', ".attribute")) return false;
    unsigned depth = 1;
    for (; depth != 0; t_.advance()) {
      if (t_.token().kind == TokenKind::end) return t_.unexpected("')'");
      if (t_.token().is('(')) ++depth;
      if (t_.token().is(')')) --depth;
    }
  }
  if (!is_entry && t_.token().is('(') && !parameter_list(results)) return false;
  Token name;
  if (!t_.expect_name(name, "a function name")) return false;
  f.name = name.text;
  f.range = name.range();
  if (t_.token().is('(') && !parameter_list(parameters)) return false;
  if (!performance_directives(f)) return false;
  const std::uint32_t index = declare_function(f, name);
  if (index == kNoId) return false;
  FunctionParser body(*this, &f, index);
  const bool headed = body.declare_parameters(parameters, results);
  if (t_.accept(';')) {
    if (headed && !module_->functions[index].has_body) module_->functions[index] = std::move(f);
    return headed;
  }
  if (!t_.token().is('{')) return t_.unexpected("'{' or ';'");
  if (module_->functions[index].has_body) return t_.error(name.range(), fmt::format("'{}' is defined twice", f.name));
  if (f.linkage == Linkage::external) f.linkage = Linkage::visible;
  t_.advance();
  f.has_body = true;
  const bool good = body.body();
  module_->functions[index] = std::move(f);
  return good;
}

const Spelling* ModuleParser::spelling(const Token& opcode, SpellingError& error) {
  const auto [entry, is_new] = spellings_.try_emplace(opcode.text);
  if (!is_new) return &entry->second;
  if (decode(opcode.text, entry->second, error)) return &entry->second;
  spellings_.erase(entry);
  return nullptr;
}

// Calls and addresses of an alias are redirected to the function behind it. Chains are followed. Cycles are impossible,
// since an alias must name a function with a body.
void ModuleParser::redirect_aliases() {
  if (!has_aliases_) return;
  const auto redirect = [this](std::uint32_t& index) {
    const Function& f = module_->functions[index];
    if (f.alias_of != kNoId) index = f.alias_of;
  };
  for (Function& f : module_->functions) {
    for (Instruction& i : f.body) {
      for (Operand& o : i.operands)
        if (o.kind == OperandKind::function) redirect(o.index);
    }
    for (Table& table : f.tables)
      for (std::uint32_t& index : table.functions) redirect(index);
  }
  for (Variable& v : module_->variables)
    for (Relocation& r : v.relocations)
      if (r.is_function) redirect(r.target);
}

Result<std::shared_ptr<Module>> parse(std::string text, std::string name) {
  return ModuleParser(std::move(text), std::move(name)).run();
}

}  // namespace warpgrind::ptx
