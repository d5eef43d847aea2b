// Table of the functions that machine code may call by name. Each folder that implements some registers them once,
// before the first kernel is compiled.
//
// The program and libwarpgrind_jit.so have a table each. The library also searches the program's table at every
// compilation, because the library may be opened long before the program has registered everything (the first failed
// API call opens it).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace warpgrind::jit {

struct CallSymbol {
  const char* name;  // static storage
  void* address;
  // For a function that PTX calls by name: words of parameters it reads and of results it writes, laid out by
  // plane_layout() (jit/layout.h).
  std::uint16_t parameter_words = 0, result_words = 0;
};

void register_call_symbols(std::span<const CallSymbol> symbols);  // thread-safe; a name has one function
std::optional<CallSymbol> find_call_symbol(std::string_view name);
using FindCallSymbol = std::optional<CallSymbol> (*)(std::string_view name);
void also_find_with(FindCallSymbol other);  // find_call_symbol() calls `other` for names not registered here

// Symbols of src/engine/jit itself. make_compiler() calls these, since the linker may drop static initialisers of a
// static library.
void register_integer_symbols();    // calls/integer.cpp
void register_math_symbols();       // calls/math.cpp
void register_aside_symbols();      // calls/registers_aside.cpp
void register_slow_path_symbols();  // calls/slow_paths.cpp

}  // namespace warpgrind::jit
