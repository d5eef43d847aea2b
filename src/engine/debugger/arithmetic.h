// C's operators on values: conversions, promotions, and arithmetic as the compiler would do it on the device.
//
// half, bf16 and the smaller formats compute as float, as cuda_fp16.h promotes them.
#pragma once

#include <cstdint>

#include "debugger/number.h"
#include "debugger/value.h"

namespace warpgrind::debugger {

enum class Unary : std::uint8_t { plus, minus, bit_not, logical_not };
enum class Binary : std::uint8_t {
  multiply,
  divide,
  remainder,
  add,
  subtract,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_xor,
  bit_or,
};

Value make_number(TypeTable& types, Builtin type, const Number& number);
Value make_bool(TypeTable& types, bool value);

// The number of a value with bytes: also of an enumeration or a pointer. Error: it is none.
Result<Number> number_of(const TypeTable& types, const Value& value);
// As in `if (value)`. An array is true.
Result<bool> is_true(LaneContext context, Value& value);
// A pointer to the first element, for an array; otherwise the value with its bytes.
Result<Value> decayed(LaneContext context, Value value);

Result<Value> cast(LaneContext context, Value value, TypeId type);
Result<Value> apply(LaneContext context, Unary operation, Value value);
Result<Value> apply(LaneContext context, Binary operation, Value left, Value right);

}  // namespace warpgrind::debugger
