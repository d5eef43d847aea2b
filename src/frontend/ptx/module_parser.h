// Parser of PTX's module level: directives, variables, function headers, debug sections. Function bodies:
// function_parser.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ptx/declaration_parser.h"
#include "ptx/spelling.h"
#include "ptx/token_stream.h"

namespace warpgrind::ptx {

// `.loc ..., function_name $L__info_string0+4`. The text is in section .debug_str, usually behind the functions.
struct FunctionNameReference {
  std::uint32_t function = 0, location = 0;
  std::string_view label;
  std::uint64_t addend = 0;
};

class ModuleParser {
 public:
  ModuleParser(std::string text, std::string name);
  Result<std::shared_ptr<Module>> run();

  // Used by FunctionParser.
  TokenStream& tokens() { return t_; }
  DeclarationParser& declarations() { return declarations_; }
  const SymbolTable& symbols() const { return symbols_; }
  Module& module() { return *module_; }
  // Decoded suffixes of an opcode's text. They are cached, as programs use few different ones. nullptr: `error` holds
  // the reason.
  const Spelling* spelling(const Token& opcode, SpellingError& error);
  std::vector<FunctionNameReference>& function_names() { return function_names_; }
  bool use_file(std::uint64_t number, const SourceRange& range);

 private:
  void statement();
  bool directive();
  bool version();
  bool target();
  bool file();
  bool alias();
  bool section();
  bool section_data(std::string* bytes, std::unordered_map<std::string_view, std::uint64_t>* labels);
  bool variables(StateSpace space, Linkage linkage);
  bool add_variable(Declarator& d);
  bool function(Linkage linkage, bool is_entry);
  bool parameter_list(std::vector<Declarator>& list);
  bool performance_directives(Function& f);
  bool dimensions(std::uint32_t (&out)[3]);
  std::uint32_t declare_function(Function& f, const Token& name);
  void redirect_aliases();
  void resolve_function_names();

  std::shared_ptr<Module> module_;
  TokenStream t_;
  SymbolTable symbols_;
  DeclarationParser declarations_;
  std::unordered_map<std::string_view, Spelling> spellings_;
  std::vector<FunctionNameReference> function_names_;
  std::string debug_strings_;
  std::unordered_map<std::string_view, std::uint64_t> debug_labels_;
  bool has_aliases_ = false;
};

}  // namespace warpgrind::ptx
