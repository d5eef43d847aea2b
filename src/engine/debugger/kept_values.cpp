#include "debugger/kept_values.h"

#include <charconv>
#include <utility>

#include "gpu/addresses.h"

namespace warpgrind::debugger {

namespace {

// What is kept is the value, not a register or a thread's own memory. Global memory is the same for all threads, so
// that elements of an array can still be found there.
Value without_place(Value value) {
  if (value.bytes.empty()) return value;  // too large: it stays in memory
  value.reg.reset();
  value.pieces.clear();
  const bool is_global =
      value.address &&
      (value.address->space == StateSpace::global || value.address->space == StateSpace::constant ||
       (value.address->space == StateSpace::generic && !in_shared(GenericAddress{value.address->value}) &&
        !in_local(GenericAddress{value.address->value})));
  if (!is_global || value.bit_size != 0) {
    value.address.reset();
    value.bit_offset = value.bit_size = 0;
  }
  return value;
}

Error no_value(std::string message) {
  return {ErrorKind::bad_input, std::move(message), {}};
}

}  // namespace

void KeptValues::remember(unsigned number, Value value, const TypeTable& types) {
  numbered_[number] = {without_place(std::move(value)), &types};
}

void KeptValues::set(const std::string& name, Value value, const TypeTable& types) {
  named_[name] = {without_place(std::move(value)), &types};
}

Result<Value> KeptValues::find(std::string_view name, const TypeTable& types) const {
  const Kept* kept = nullptr;
  unsigned number = 0;
  const auto read = [&number](std::string_view digits) {
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return problem == std::errc() && end == digits.data() + digits.size();
  };
  const bool from_last = name.empty() || name[0] == '$';
  if (from_last) {
    unsigned back = name.empty() ? 0 : 1;
    if (name.size() > 1) {
      if (!read(name.substr(1))) return no_value("'$" + std::string(name) + "' is no value: write $$2, for example");
      back = number;
    }
    const unsigned last = numbered_.empty() ? 0 : numbered_.rbegin()->first;
    if (last <= back) return no_value("the history has " + std::to_string(last) + " values");
    number = last - back;
  }
  if (from_last || read(name)) {
    const auto found = numbered_.find(number);
    if (found == numbered_.end()) return no_value("the history has no value $" + std::to_string(number));
    kept = &found->second;
  } else {
    const auto found = named_.find(std::string(name));
    if (found == named_.end())
      return no_value("there is no register %" + std::string(name) + " in this PTX function, and no value $" +
                      std::string(name) + " was set");
    kept = &found->second;
  }
  if (kept->types != &types) return no_value("'$" + std::string(name) + "' is a value of another module");
  return kept->value;
}

}  // namespace warpgrind::debugger
