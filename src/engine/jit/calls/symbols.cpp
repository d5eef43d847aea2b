#include "jit/calls/symbols.h"

#include <map>
#include <mutex>
#include <string>

#include "base/assert.h"

namespace warpgrind::jit {

namespace {

struct Registry {
  std::mutex mutex;
  FindCallSymbol other = nullptr;
  std::map<std::string, CallSymbol, std::less<>> symbols;
};

// Never destroyed: a message at the end of the process may still open the JIT, to read the host's code.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

}  // namespace

void register_call_symbols(std::span<const CallSymbol> symbols) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const CallSymbol& s : symbols) {
    WG_ASSERT(s.address);
    const auto [at, added] = r.symbols.try_emplace(s.name, s);
    WG_ASSERT(added || at->second.address == s.address);  // another function must not take its place
  }
}

std::optional<CallSymbol> find_call_symbol(std::string_view name) {
  Registry& r = registry();
  FindCallSymbol other;
  {
    const std::lock_guard lock(r.mutex);
    if (const auto it = r.symbols.find(name); it != r.symbols.end()) return it->second;
    other = r.other;
  }
  return other ? other(name) : std::nullopt;
}

void also_find_with(FindCallSymbol other) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (other != &find_call_symbol) r.other = other;  // if program and library are linked together, they share one table
}

}  // namespace warpgrind::jit
