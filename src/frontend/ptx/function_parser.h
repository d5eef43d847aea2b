// Parser of a function's parameters and body.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "ptx/module_parser.h"

namespace warpgrind::ptx {

class FunctionParser {
 public:
  // `function` may be null if only skip_location() is called.
  FunctionParser(ModuleParser& module, Function* function, std::uint32_t index);

  bool declare_parameters(std::vector<Declarator>& parameters, std::vector<Declarator>& results);
  // Reads from behind the '{' up to and including the closing '}'.
  bool body();
  bool skip_location();

 private:
  struct LocationText;
  // Scopes and names.
  bool open_scope();
  void close_scope();
  bool declare(const Declarator& d, Symbol symbol);
  bool declare_registers(Declarator& d);
  bool declare_variable(Declarator& d);
  RegId add_register(std::string name, ScalarType type);
  RegId add_registers(std::string_view name, ScalarType type, unsigned components);
  bool find_in_range(NameScope& scope, std::string_view name, Symbol& out);
  bool lookup(std::string_view name, Symbol& out, Scope& where);
  std::uint32_t label_reference(const Token& name);
  void resolve_labels();

  // Statements.
  bool location_text(LocationText& l);
  bool statement();
  bool directive();
  bool location();
  bool pragma();
  bool label(const Token& name);
  bool table(const Token& name);
  bool prototype(Table& table);
  bool prototype_list(std::vector<Variable>& list);

  // Instructions.
  bool instruction();
  void unknown_instruction(const Token& opcode, const SpellingError& error);
  bool guard(Guard& g);
  bool operands(Instruction& i);
  bool check(const Instruction& i, const Token& opcode);
  bool split_vector_move(const Instruction& i);
  bool branch_around(Instruction& i);
  bool call(Instruction& i);
  bool call_list(std::vector<Operand>& list, bool results);
  bool passes(const Operand& o, bool result) const;
  bool operand(Operand& o, const Instruction& i, unsigned depth);
  bool constant_operand(Operand& o);
  bool name_operand(Operand& o, const Instruction& i);
  bool register_operand(Operand& o, const Token& name, const Symbol& symbol);
  bool special_register(Operand& o, const Token& name);
  bool selector(Operand& o, const Instruction& i);
  bool vector_operand(Operand& o, const Instruction& i, unsigned depth);
  bool address_operand(Operand& o, const Instruction& i, unsigned depth);
  bool address_base(Operand& o, const Instruction& i);
  bool address_elements(Operand& o, const Instruction& i, unsigned depth);
  bool not_declared(const Token& name);

  struct LabelReference {
    std::string_view name;
    SourceRange range;
    LabelId label = kNoId;
    std::uint32_t same_as = kNoId;  // the reference of an outer scope that this one was merged into
  };
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // file, line, column

  ModuleParser& m_;
  TokenStream& t_;
  Function* f_;
  std::uint32_t index_;
  std::vector<NameScope> scopes_;
  std::vector<LabelReference> label_references_;
  std::uint32_t location_ = kNoId;
  std::map<std::tuple<Place, std::int32_t, std::string_view, std::uint64_t>, std::uint32_t> known_locations_;
  std::map<Place, std::uint32_t> last_at_place_;
};

}  // namespace warpgrind::ptx
