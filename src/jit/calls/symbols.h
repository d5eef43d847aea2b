// The functions machine code may call by name. Each folder that implements some registers them once, before the first
// kernel is compiled.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace warpgrind::jit {

struct CallSymbol {
  const char* name;  // static storage
  void* address;
};

void register_call_symbols(std::span<const CallSymbol> symbols);  // thread-safe; the last registration of a name counts
void* find_call_symbol(std::string_view name);                    // nullptr: none
void for_each_call_symbol(const std::function<void(const char* name, void* address)>& visit);

// Those of src/jit itself; called by make_compiler() (static initialisers of a static library may be dropped by the
// linker).
void register_core_symbols();     // calls/core.cpp
void register_integer_symbols();  // calls/integer.cpp
void register_math_symbols();     // calls/math.cpp

}  // namespace warpgrind::jit
