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

Registry& registry() {
  static Registry instance;
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

void for_each_call_symbol(const std::function<void(const char*, void*)>& visit) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const auto& [name, symbol] : r.symbols) visit(name.c_str(), symbol.address);
}

}  // namespace warpgrind::jit
