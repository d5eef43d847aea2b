// Parser of function bodies: statements, directives, `.loc`, labels and tables.
#include "ptx/function_parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpgrind::ptx {

FunctionParser::FunctionParser(ModuleParser& module, Function* function, std::uint32_t index)
    : m_(module), t_(module.tokens()), f_(function), index_(index), scopes_(1) {}

bool FunctionParser::body() {
  std::size_t open = 1;  // braces still to be closed
  const Token begin = t_.token();
  while (open != 0) {
    if (t_.token().kind == TokenKind::end) {
      return t_.error(t_.token().range(), fmt::format("the text ends inside '{}'", f_->name));
    }
    if (t_.gave_up()) return false;
    if (t_.accept('}')) {
      close_scope();
      --open;
    } else if (t_.token().is('{')) {
      if (open_scope()) {
        t_.advance();
        ++open;
      } else {
        t_.recover_declaration();
      }
    } else if (const char* before = t_.token().text.data(); !statement()) {
      t_.recover_statement();
      const bool stuck = t_.token().text.data() == before && t_.token().kind != TokenKind::end && !t_.token().is('}');
      if (stuck) t_.advance();
    }
  }
  if (f_->body.empty()) {  // legal, but later stages need an instruction
    Instruction end;
    end.opcode = Opcode::ret;
    end.range = begin.range();
    f_->body.push_back(std::move(end));
  }
  resolve_labels();
  return true;  // errors inside are recorded; the module continues behind this function
}

bool FunctionParser::statement() {
  const Token& token = t_.token();
  if (t_.accept(';')) return true;
  if (token.kind == TokenKind::directive) return directive();
  if (token.is('@')) return instruction();
  if (token.kind != TokenKind::identifier) return t_.unexpected("an instruction");
  char following = 0;
  if (t_.lexer().peek(&following) == ':' && following != ':') {
    const Token name = token;
    t_.advance();
    t_.advance();
    return label(name);
  }
  return instruction();
}

bool FunctionParser::directive() {
  const Token token = t_.token();
  t_.advance();
  const auto variables = [this](StateSpace space) {
    return m_.declarations().declaration(space, Linkage::internal,
                                         [this](Declarator& d) { return declare_variable(d); });
  };
  if (token.text == ".loc") return location();
  if (token.text == ".reg") return variables(StateSpace::reg);
  if (token.text == ".param") return variables(StateSpace::param);
  if (token.text == ".local") return variables(StateSpace::local);
  if (token.text == ".shared") return variables(StateSpace::shared);
  if (token.text == ".global") return variables(StateSpace::global);
  if (token.text == ".const") return variables(StateSpace::constant);
  if (token.text == ".extern") {  // `.extern .shared` inside a function
    if (!t_.accept_directive(".shared")) return t_.unexpected("'.shared'");
    return m_.declarations().declaration(StateSpace::shared, Linkage::external,
                                         [this](Declarator& d) { return declare_variable(d); });
  }
  if (token.text == ".pragma") return pragma();
  if (token.text == ".noreturn") return true;
  return t_.error(token.range(), fmt::format("unknown directive '{}' in a function", token.text.substr(0, 60)));
}

bool FunctionParser::pragma() {
  do {
    if (t_.token().kind != TokenKind::string) return t_.unexpected("a string");
    if (t_.token().text.find("nounroll") != std::string_view::npos)
      for (Label& label : f_->labels) label.no_unroll |= label.instruction == f_->body.size();
    t_.advance();
  } while (t_.accept(','));
  return t_.expect(';', ".pragma");
}

// --- .loc ---------------------------------------------------------------------------------------------------------

struct FunctionParser::LocationText {
  std::uint64_t place[3] = {}, inlined[3] = {};
  bool is_inlined = false;
  std::string_view label;  // function_name
  std::uint64_t addend = 0;
};

// 1 20 3 {, function_name label {+ n}} {, inlined_at 1 40 5}
bool FunctionParser::location_text(LocationText& l) {
  static constexpr const char* kParts[] = {"a file number", "a line number", "a column"};
  const SourceRange start = t_.token().range();
  for (int i = 0; i < 3; ++i)
    if (!t_.integer(l.place[i], kParts[i])) return false;
  while (t_.accept(',')) {
    if (t_.accept_word("function_name")) {
      Token label;
      if (!t_.expect_name(label, "a label of .debug_str")) return false;
      l.label = label.text;
      if (t_.accept('+') && !t_.integer(l.addend, "an offset")) return false;
    } else if (t_.accept_word("inlined_at")) {
      l.is_inlined = true;
      for (int i = 0; i < 3; ++i)
        if (!t_.integer(l.inlined[i], kParts[i])) return false;
    } else {
      return t_.unexpected("function_name or inlined_at");
    }
  }
  for (const std::uint64_t* place : {l.place, l.inlined}) {
    if (!m_.use_file(place[0], start)) return false;
    if (place[1] > 0xffffffffu || place[2] > 0xffffffffu) return t_.error(start, "the line number is too large");
  }
  return true;
}

bool FunctionParser::skip_location() {
  LocationText l;
  return location_text(l);
}

bool FunctionParser::location() {
  LocationText l;
  if (!location_text(l)) return false;
  const auto as_place = [](const std::uint64_t(&p)[3]) {
    return Place{static_cast<std::uint32_t>(p[0]), static_cast<std::uint32_t>(p[1]), static_cast<std::uint32_t>(p[2])};
  };
  const auto add = [this](const Place& place, std::int32_t inlined_at, std::string_view label, std::uint64_t addend) {
    const auto [known, is_new] = known_locations_.try_emplace({place, inlined_at, label, addend},
                                                              static_cast<std::uint32_t>(f_->locations.size()));
    if (is_new) {
      f_->locations.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), inlined_at, {}});
      if (!label.empty()) m_.function_names().push_back({index_, known->second, label, addend});
    }
    last_at_place_[place] = known->second;
    return known->second;
  };
  std::int32_t inlined_at = -1;
  if (l.is_inlined) {
    // The call's place: the latest .loc there, which holds the next link of the chain.
    const Place caller = as_place(l.inlined);
    const auto known = last_at_place_.find(caller);
    inlined_at = static_cast<std::int32_t>(known != last_at_place_.end() ? known->second : add(caller, -1, {}, 0));
  }
  location_ = add(as_place(l.place), inlined_at, l.label, l.addend);
  return true;
}

// --- labels and tables --------------------------------------------------------------------------------------------

bool FunctionParser::label(const Token& name) {
  const std::string_view directive = t_.token().kind == TokenKind::directive ? t_.token().text : std::string_view{};
  if (directive == ".branchtargets" || directive == ".calltargets" || directive == ".callprototype") return table(name);
  const auto id = static_cast<LabelId>(f_->labels.size());
  if (!scopes_.back().labels.try_emplace(name.text, id).second) {
    t_.error(name.range(), fmt::format("label '{}' is defined twice in this scope", name.text.substr(0, 60)));
    return true;
  }
  f_->labels.push_back({std::string(name.text), static_cast<std::uint32_t>(f_->body.size()), false});
  return true;
}

bool FunctionParser::table(const Token& name) {
  const Token kind = t_.token();
  t_.advance();
  Table table;
  table.name = name.text;
  if (kind.text == ".callprototype") {
    if (!prototype(table)) return false;
  } else {
    do {
      Token entry;
      if (!t_.expect_name(entry, "a name")) return false;
      if (kind.text == ".branchtargets") {
        table.labels.push_back(label_reference(entry));
        continue;
      }
      Symbol symbol;
      Scope where{};
      if (!lookup(entry.text, symbol, where)) return not_declared(entry);
      if (symbol.kind != SymbolKind::function)
        return t_.error(entry.range(), fmt::format("'{}' is not a function", entry.text.substr(0, 60)));
      table.functions.push_back(symbol.index);
    } while (t_.accept(','));
  }
  if (!t_.expect(';', "the table")) return false;
  const Symbol symbol{SymbolKind::table, 1, static_cast<std::uint32_t>(f_->tables.size())};
  if (!scopes_.back().names.try_emplace(name.text, symbol).second) {
    return t_.error(name.range(), fmt::format("'{}' is declared twice in this scope", name.text.substr(0, 60)));
  }
  f_->tables.push_back(std::move(table));
  return true;
}

bool FunctionParser::prototype_list(std::vector<Variable>& list) {
  if (!t_.expect('(', ".callprototype")) return false;
  if (t_.accept(')')) return true;
  do {
    Declarator d;
    if (!m_.declarations().parameter(d)) return false;
    list.push_back(std::move(d.variable));
  } while (t_.accept(','));
  return t_.expect(')', "the parameters");
}

// (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) {.noreturn} {.abi_preserve n}
bool FunctionParser::prototype(Table& table) {
  Token name;
  if (t_.token().is('(') && !prototype_list(table.prototype_results)) return false;
  if (!t_.expect_name(name, "'_'")) return false;
  if (t_.token().is('(') && !prototype_list(table.prototype_parameters)) return false;
  while (t_.token().kind == TokenKind::directive) {
    t_.advance();
    if (t_.token().kind == TokenKind::integer) t_.advance();
  }
  return true;
}

}  // namespace warpgrind::ptx
