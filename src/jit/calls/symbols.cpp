#include "jit/calls/symbols.h"

#include <map>
#include <mutex>
#include <string>

namespace warpgrind::jit {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, CallSymbol, std::less<>> symbols;
};

// Never destroyed: what is said at the process's end may still open the JIT, to read the host's code.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

}  // namespace

void register_call_symbols(std::span<const CallSymbol> symbols) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const CallSymbol& s : symbols) r.symbols[s.name] = s;
}

std::optional<CallSymbol> find_call_symbol(std::string_view name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto it = r.symbols.find(name);
  return it == r.symbols.end() ? std::nullopt : std::optional(it->second);
}

std::vector<CallSymbol> call_symbols() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::vector<CallSymbol> out;
  for (const auto& [name, symbol] : r.symbols) out.push_back(symbol);
  return out;
}

}  // namespace warpgrind::jit
