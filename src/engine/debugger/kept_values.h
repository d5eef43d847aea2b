// Values that expressions know by a number or a name of the user's: `$1`, `$`, `$$2`, `$sum`.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "debugger/value.h"

namespace warpgrind::debugger {

class KeptValues {
 public:
  // Keeps a value as `$number`; `$` is then the last one. It must be loaded.
  void remember(unsigned number, Value value, const TypeTable& types);
  // Keeps a value as `$name`.
  void set(const std::string& name, Value value, const TypeTable& types);
  // `name` is what stands behind the first $: "1", "" (the last), "$" (the one before), "$2", or a name. Error: there
  // is none, or it has a type of another module.
  Result<Value> find(std::string_view name, const TypeTable& types) const;

 private:
  struct Kept {
    Value value;
    const TypeTable* types = nullptr;
  };
  std::map<unsigned, Kept> numbered_;
  std::map<std::string, Kept> named_;
};

}  // namespace warpgrind::debugger
