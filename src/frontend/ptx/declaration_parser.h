// Parser of variable declarations, `.align 4 .b8 x[16] = {1, 2}`, and of parameters and registers.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_map>

#include "ptx/scope.h"
#include "ptx/token_stream.h"

namespace warpgrind::ptx {

using SymbolTable = std::unordered_map<std::string_view, Symbol>;

// One name of a declaration. `count` is N of `name<N>` (0: not a range).
struct Declarator {
  Variable variable;
  std::uint64_t count = 0;
  std::string_view name;  // view into the text
};

class DeclarationParser {
 public:
  // `symbols` resolves addresses in initialisers. `text_size` limits the bytes of initialisers.
  DeclarationParser(TokenStream& tokens, const SymbolTable& symbols, std::size_t text_size)
      : t_(tokens), symbols_(symbols), initial_budget_((std::size_t{64} << 20) + 16 * text_size) {}

  // Reads a declaration behind `.global`, `.reg` and similar words, up to and including the ';'. Calls `found` for each
  // name.
  bool declaration(StateSpace space, Linkage linkage, const std::function<bool(Declarator&)>& found);
  // Reads one whole parameter: `.param .b32 x`, `.reg .f32 %f1`. `_` gives an empty name.
  bool parameter(Declarator& out);

 private:
  struct Qualifiers;
  bool qualifiers(Variable& v);
  bool attribute(Variable& v);
  bool declarator(Declarator& d, const Variable& base);
  bool dimensions(Variable& v, std::vector<std::uint64_t>& dims);
  bool initialiser(Variable& v, const std::vector<std::uint64_t>& dims);
  bool initial_list(Variable& v, const std::vector<std::uint64_t>& dims, std::size_t level, std::uint64_t& index);
  bool initial_element(Variable& v, std::uint64_t index);
  bool initial_address(Variable& v, std::uint64_t index, std::uint64_t mask);
  bool initial_string(Variable& v, std::uint64_t index);
  bool store(Variable& v, std::uint64_t offset, unsigned bytes, std::uint64_t bits);
  bool reserve_initial(Variable& v, std::uint64_t bytes);

  TokenStream& t_;
  const SymbolTable& symbols_;
  std::size_t initial_budget_;
};

}  // namespace warpgrind::ptx
