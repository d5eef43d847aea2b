#include "jit/calls/symbols.h"

#include <map>
#include <mutex>
#include <string>

namespace warpgrind::jit {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, void*, std::less<>> symbols;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void register_call_symbols(std::span<const CallSymbol> symbols) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const CallSymbol& s : symbols) r.symbols[s.name] = s.address;
}

void* find_call_symbol(std::string_view name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto it = r.symbols.find(name);
  return it == r.symbols.end() ? nullptr : it->second;
}

void for_each_call_symbol(const std::function<void(const char*, void*)>& visit) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const auto& [name, address] : r.symbols) visit(name.c_str(), address);
}

}  // namespace warpgrind::jit
