#include "debugger/arithmetic.h"

#include <cmath>

namespace warpgrind::debugger {

namespace {

Error bad_operand(std::string message) {
  return {ErrorKind::bad_input, std::move(message), {}};
}

Value number_value(TypeTable& types, TypeId type, const Number& number) {
  Value value;
  value.type = type;
  const auto layout = number_layout(types, type);
  value.bytes.resize(layout ? layout->bytes : 0);
  if (layout) put_bits(encode_bits(*layout, number), value.bytes);
  return value;
}

// The type in which an operand computes: int for what is narrower, float for half.
TypeId promoted(const TypeTable& types, const Value& value) {
  const auto layout = number_layout(types, value.type);
  if (!layout) return value.type;
  const TypeId stripped = types.strip(value.type);
  switch (layout->format) {
    case NumberFormat::floating:
      return layout->bits() == 16 ? types.builtin(Builtin::float_) : stripped;
    case NumberFormat::half:
    case NumberFormat::bfloat16:
    case NumberFormat::fp8_e4m3:
    case NumberFormat::fp8_e5m2:
    case NumberFormat::fp8_e8m0:
    case NumberFormat::fp6_e2m3:
    case NumberFormat::fp6_e3m2:
    case NumberFormat::fp4_e2m1:
      return types.builtin(Builtin::float_);
    case NumberFormat::none:
    case NumberFormat::boolean:
    case NumberFormat::character:
    case NumberFormat::signed_integer:
    case NumberFormat::unsigned_integer:
      break;
  }
  // A bit field narrower than int is an int, whatever its type.
  const bool narrow_field = value.bit_size > 0 && value.bit_size < 32 && layout->bytes <= 4;
  if (layout->bytes < 4 || narrow_field) return types.builtin(Builtin::int_);
  if (layout->bytes == 4) return types.builtin(layout->is_signed ? Builtin::int_ : Builtin::unsigned_int);
  if (types.type(stripped).kind == TypeKind::base) return stripped;
  return types.builtin(layout->is_signed ? Builtin::long_int : Builtin::unsigned_long);
}

TypeId common_type(const TypeTable& types, const Value& left, const Value& right) {
  const TypeId a = promoted(types, left), b = promoted(types, right);
  const auto la = number_layout(types, a), lb = number_layout(types, b);
  const bool fa = la->format == NumberFormat::floating, fb = lb->format == NumberFormat::floating;
  if (fa || fb) {
    if (fa && fb) return la->bytes >= lb->bytes ? a : b;
    return fa ? a : b;
  }
  if (la->bytes != lb->bytes) return la->bytes > lb->bytes ? a : b;
  return la->is_signed && !lb->is_signed ? b : a;
}

Result<Number> integer_operation(Binary operation, const NumberLayout& layout, const Number& a, const Number& b) {
  const auto ua = static_cast<unsigned __int128>(a.integer), ub = static_cast<unsigned __int128>(b.integer);
  const bool is_signed = layout.is_signed;
  unsigned __int128 result = 0;
  switch (operation) {
    case Binary::multiply:
      result = ua * ub;
      break;
    case Binary::add:
      result = ua + ub;
      break;
    case Binary::subtract:
      result = ua - ub;
      break;
    case Binary::bit_and:
      result = ua & ub;
      break;
    case Binary::bit_or:
      result = ua | ub;
      break;
    case Binary::bit_xor:
      result = ua ^ ub;
      break;
    case Binary::divide:
    case Binary::remainder:
      if (ub == 0) return bad_operand("division by zero");
      if (is_signed && b.integer == -1) {  // INT_MIN / -1 wraps
        result = operation == Binary::divide ? 0 - ua : 0;
      } else if (is_signed) {
        result =
            static_cast<unsigned __int128>(operation == Binary::divide ? a.integer / b.integer : a.integer % b.integer);
      } else {
        result = operation == Binary::divide ? ua / ub : ua % ub;
      }
      break;
    case Binary::shift_left:
    case Binary::shift_right: {
      if (b.integer < 0 || ub >= layout.bits())
        return bad_operand("a shift by " + integer_text(b) + " of a number of " + std::to_string(layout.bits()) +
                           " bits");
      const auto by = static_cast<unsigned>(ub);
      if (operation == Binary::shift_left) {
        result = ua << by;
      } else {
        result = is_signed ? static_cast<unsigned __int128>(a.integer >> by) : ua >> by;
      }
      break;
    }
    case Binary::less:
    case Binary::less_equal:
    case Binary::greater:
    case Binary::greater_equal:
    case Binary::equal:
    case Binary::not_equal:
      WG_ASSERT(!"a comparison");
  }
  return decode_bits(layout, result);
}

Result<Number> floating_operation(Binary operation, const NumberLayout& layout, double a, double b) {
  double result = 0;
  switch (operation) {
    case Binary::multiply:
      result = a * b;
      break;
    case Binary::divide:
      result = a / b;
      break;
    case Binary::add:
      result = a + b;
      break;
    case Binary::subtract:
      result = a - b;
      break;
    case Binary::remainder:
    case Binary::shift_left:
    case Binary::shift_right:
    case Binary::bit_and:
    case Binary::bit_xor:
    case Binary::bit_or:
      return bad_operand("this operator needs integers");
    case Binary::less:
    case Binary::less_equal:
    case Binary::greater:
    case Binary::greater_equal:
    case Binary::equal:
    case Binary::not_equal:
      WG_ASSERT(!"a comparison");
  }
  // The double result rounded to float is the float result: 53 bits are more than 2 * 24 + 2.
  return Number::from_double(layout.bits() == 32 ? static_cast<double>(static_cast<float>(result)) : result);
}

bool is_comparison(Binary operation) {
  return operation >= Binary::less && operation <= Binary::not_equal;
}

template <class T>
bool compare(Binary operation, T a, T b) {
  switch (operation) {
    case Binary::less:
      return a < b;
    case Binary::less_equal:
      return a <= b;
    case Binary::greater:
      return a > b;
    case Binary::greater_equal:
      return a >= b;
    case Binary::equal:
      return a == b;
    case Binary::not_equal:
      return a != b;
    case Binary::multiply:
    case Binary::divide:
    case Binary::remainder:
    case Binary::add:
    case Binary::subtract:
    case Binary::shift_left:
    case Binary::shift_right:
    case Binary::bit_and:
    case Binary::bit_xor:
    case Binary::bit_or:
      break;
  }
  WG_ASSERT(!"no comparison");
}

// The number of an operand in the type in which the operation computes.
Result<Number> converted(TypeTable& types, const Value& value, TypeId type) {
  Result<Number> number = number_of(types, value);
  if (!number.ok()) return number;
  const auto layout = number_layout(types, type);
  return decode_bits(*layout, encode_bits(*layout, *number));
}

Result<Value> pointer_operation(LaneContext context, Binary operation, const Value& left, const Value& right) {
  TypeTable& types = context.types;
  const bool left_is = types.is_pointer(left.type), right_is = types.is_pointer(right.type);
  Result<Number> a = number_of(types, left), b = number_of(types, right);
  if (!a.ok()) return a.error();
  if (!b.ok()) return b.error();
  const auto ua = static_cast<std::uint64_t>(a->as_integer()), ub = static_cast<std::uint64_t>(b->as_integer());
  if (is_comparison(operation)) return make_bool(types, compare(operation, ua, ub));
  const Value& pointer = left_is ? left : right;
  const std::uint64_t size = types.size(types.stripped(pointer.type).target);
  const bool adds = operation == Binary::add || operation == Binary::subtract;
  if (!adds || (right_is && left_is && operation == Binary::add) ||
      (right_is && !left_is && operation == Binary::subtract))
    return bad_operand("this operator is not for pointers");
  if (size == 0 && types.strip(types.stripped(pointer.type).target) != kVoidType)
    return bad_operand("the size of '" + types.name(types.stripped(pointer.type).target) + "' is not known");
  const std::uint64_t step = size ? size : 1;  // void *: bytes, as gcc and gdb do
  if (left_is && right_is)
    return make_number(types, Builtin::long_int,
                       Number::from(static_cast<std::int64_t>(ua - ub) / static_cast<std::int64_t>(step)));
  if (a->is_floating() || b->is_floating()) return bad_operand("only an integer is added to a pointer");
  Value result;
  result.type = pointer.type;
  result.bytes.resize(8);
  const std::uint64_t by = (left_is ? ub : ua) * step;
  put_bits((left_is ? ua : ub) + (operation == Binary::add ? by : 0 - by), result.bytes);
  return result;
}

}  // namespace

Value make_number(TypeTable& types, Builtin type, const Number& number) {
  return number_value(types, types.builtin(type), number);
}

Value make_bool(TypeTable& types, bool value) {
  return make_number(types, Builtin::boolean, Number::from(value));
}

Result<Number> number_of(const TypeTable& types, const Value& value) {
  const auto layout = number_layout(types, value.type);
  if (layout && layout->components == 1)
    if (const auto number = decode(*layout, value.bytes)) return *number;
  return bad_operand("a value of type '" + types.name(value.type) + "' is not a number");
}

Result<bool> is_true(LaneContext context, Value& value) {
  if (context.types.is_array(value.type)) return true;
  if (Status loaded = load(context, value); !loaded.ok()) return loaded.error();
  Result<Number> number = number_of(context.types, value);
  if (!number.ok()) return number.error();
  return !number->is_zero();
}

Result<Value> decayed(LaneContext context, Value value) {
  if (!context.types.is_array(value.type)) {
    if (Status loaded = load(context, value); !loaded.ok()) return loaded.error();
    return value;
  }
  if (!value.address) return bad_operand("an array that is not in memory has no address");
  Result<std::uint64_t> address = generic_address(*value.address);
  if (!address.ok()) return address.error();
  Value pointer;
  pointer.type = context.types.pointer_to(context.types.element_of(context.types.strip(value.type)));
  pointer.bytes.resize(8);
  put_bits(*address, pointer.bytes);
  return pointer;
}

Result<Value> cast(LaneContext context, Value value, TypeId type) {
  TypeTable& types = context.types;
  if (types.strip(value.type) == types.strip(type)) {
    if (Status loaded = load(context, value); !loaded.ok()) return loaded.error();
    value.type = type;
    return value;
  }
  if (types.is_structure(type) || types.is_array(type) || types.is_reference(type) || types.strip(type) == kVoidType)
    return bad_operand("'" + types.name(type) + "' is not a type that a value can be converted to");
  Result<Value> operand = decayed(context, std::move(value));
  if (!operand.ok()) return operand;
  Result<Number> number = number_of(types, *operand);
  if (!number.ok()) return number.error();
  const auto layout = number_layout(types, type);
  if (!layout || layout->components != 1)
    return bad_operand("'" + types.name(type) + "' is not a type that a number can be converted to");
  if (number->is_floating() && types.is_pointer(type)) return bad_operand("a floating-point number is not an address");
  return number_value(types, type, *number);
}

Result<Value> apply(LaneContext context, Unary operation, Value value) {
  TypeTable& types = context.types;
  if (operation == Unary::logical_not) {
    Result<bool> truth = is_true(context, value);
    if (!truth.ok()) return truth.error();
    return make_bool(types, !*truth);
  }
  if (Status loaded = load(context, value); !loaded.ok()) return loaded.error();
  if (!types.is_number(value.type))
    return bad_operand("a value of type '" + types.name(value.type) + "' is not a number");
  const TypeId type = promoted(types, value);
  Result<Number> number = converted(types, value, type);
  if (!number.ok()) return number.error();
  if (operation == Unary::plus) return number_value(types, type, *number);
  if (number->is_floating()) {
    if (operation == Unary::bit_not) return bad_operand("'~' needs an integer");
    number->floating = -number->floating;
  } else {
    const auto bits = static_cast<unsigned __int128>(number->integer);
    number->integer = static_cast<__int128>(operation == Unary::minus ? 0 - bits : ~bits);
  }
  return number_value(types, type, *number);
}

Result<Value> apply(LaneContext context, Binary operation, Value left, Value right) {
  TypeTable& types = context.types;
  Result<Value> a = decayed(context, std::move(left));
  if (!a.ok()) return a;
  Result<Value> b = decayed(context, std::move(right));
  if (!b.ok()) return b;
  if (types.is_pointer(a->type) || types.is_pointer(b->type)) return pointer_operation(context, operation, *a, *b);
  for (const Value* operand : {&*a, &*b})
    if (Result<Number> number = number_of(types, *operand); !number.ok()) return number.error();
  const bool is_shift = operation == Binary::shift_left || operation == Binary::shift_right;
  const TypeId type = is_shift ? promoted(types, *a) : common_type(types, *a, *b);
  Result<Number> x = converted(types, *a, type);
  Result<Number> y = is_shift ? number_of(types, *b) : converted(types, *b, type);
  if (!x.ok()) return x.error();
  if (!y.ok()) return y.error();
  const bool is_floating = x->is_floating() || y->is_floating();
  if (is_comparison(operation)) {
    if (is_floating) return make_bool(types, compare(operation, x->floating, y->floating));
    if (x->kind == Number::Kind::signed_integer) return make_bool(types, compare(operation, x->integer, y->integer));
    return make_bool(types, compare(operation, static_cast<unsigned __int128>(x->integer),
                                    static_cast<unsigned __int128>(y->integer)));
  }
  const auto layout = number_layout(types, type);
  Result<Number> result = is_floating ? floating_operation(operation, *layout, x->as_double(), y->as_double())
                                      : integer_operation(operation, *layout, *x, *y);
  if (!result.ok()) return result.error();
  return number_value(types, type, *result);
}

}  // namespace warpgrind::debugger
