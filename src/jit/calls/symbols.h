// The functions machine code may call by name. Each folder that implements some registers them once, before the first
// kernel is compiled.
//
// The program and libwarpgrind_jit.so have a table each. The library also looks into the program's, each time it
// compiles: it may be opened long before the program has registered all (the first failed call of an API opens it).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace warpgrind::jit {

struct CallSymbol {
  const char* name;  // static storage
  void* address;
  // A function that PTX calls by its name: the words of parameters it reads and of results it writes, laid out as
  // plane_layout() does (jit/kernel/layout.h).
  std::uint16_t parameter_words = 0, result_words = 0;
};

void register_call_symbols(std::span<const CallSymbol> symbols);  // thread-safe; the last registration of a name counts
std::optional<CallSymbol> find_call_symbol(std::string_view name);
using FindCallSymbol = std::optional<CallSymbol> (*)(std::string_view name);
void also_find_with(FindCallSymbol other);  // what find_call_symbol() asks for a name that is not registered here

// Those of src/jit itself; called by make_compiler() (static initialisers of a static library may be dropped by the
// linker).
void register_integer_symbols();  // calls/integer.cpp
void register_math_symbols();     // calls/math.cpp
void register_aside_symbols();    // calls/registers_aside.cpp

}  // namespace warpgrind::jit
