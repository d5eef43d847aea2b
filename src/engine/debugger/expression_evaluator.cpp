// Computes the value of an expression for one lane.
#include <algorithm>

#include "debugger/expression.h"
#include "debugger/expression_tree.h"
#include "debugger/kept_values.h"
#include "debugger/members.h"
#include "debugger/names.h"

namespace warpgrind::debugger {

using debuginfo::CodePlace;

class Evaluator {
 public:
  Evaluator(LaneContext context, const Expression& expression, SideEffects effects)
      : context_(context), types_(context.types), tree_(*expression.tree_), effects_(effects) {
    const CodePlace code = context.lane.code();
    NameCache& cache = tree_.cache;
    if (cache.code != code || cache.frame != context.lane.frame() || cache.names.empty()) {
      cache.names.assign(tree_.nodes.size(), {});
      cache.code = code;
      cache.frame = context.lane.frame();
    }
  }

  Result<Value> run() { return value_of(tree_.root); }

 private:
  Error fail(std::string message) const { return {ErrorKind::bad_input, std::move(message), {}}; }
  const Node& node(NodeId id) const { return tree_.nodes[id]; }

  // A place or a value, of a reference what it refers to. Errors show the innermost part of the text that they are of.
  Result<Value> value_of(NodeId id) {
    Result<Value> value = compute(id);
    if (value.ok() && types_.is_reference(value->type)) value = pointee(context_, *value);
    if (!value.ok() && value.error().detail.empty()) {
      Error error = value.error();
      error.detail = caret_line(tree_.text, node(id).begin);
      return error;
    }
    return value;
  }

  Result<Value> compute(NodeId id) {
    const Node& n = node(id);
    switch (n.kind) {
      case NodeKind::literal:
        return n.literal;
      case NodeKind::name:
        return name(id);
      case NodeKind::reg:
        return register_value(context_, n.text);
      case NodeKind::lane_number:
        return make_number(types_, Builtin::unsigned_int, Number::from(context_.lane.lane()));
      case NodeKind::warp_number:
        return make_number(types_, Builtin::unsigned_int, Number::from(context_.lane.warp()));
      case NodeKind::member:
        return member(n);
      case NodeKind::index:
        return index(n);
      case NodeKind::dereference:
        return dereference(n);
      case NodeKind::address_of:
        return address_of(n);
      case NodeKind::cast: {
        Result<Value> value = value_of(n.first);
        if (!value.ok()) return value;
        const bool undefined = is_undefined(*value);
        return marked(cast(context_, value.take(), n.type), undefined);
      }
      case NodeKind::size_of: {
        const Result<Value> value = value_of(n.first);
        if (!value.ok()) return value.error();
        return make_number(types_, Builtin::unsigned_long, Number::from_unsigned(types_.size(value->type)));
      }
      case NodeKind::unary: {
        Result<Value> value = value_of(n.first);
        if (!value.ok()) return value;
        const bool undefined = is_undefined(*value);
        return marked(apply(context_, n.unary, value.take()), undefined);
      }
      case NodeKind::binary:
        return binary(n);
      case NodeKind::logical_and:
      case NodeKind::logical_or:
        return logical(n);
      case NodeKind::conditional: {
        const Result<bool> condition = truth_of(n.first);
        if (!condition.ok()) return condition.error();
        return value_of(*condition ? n.second : n.third);
      }
      case NodeKind::repeat:
        return repeat(n);
      case NodeKind::assign:
      case NodeKind::assign_binary:
        return assignment(n);
      case NodeKind::comma: {
        Result<Value> first = value_of(n.first);
        return first.ok() ? value_of(n.second) : std::move(first);
      }
    }
    return fail("not an expression");
  }

  Result<Value> name(NodeId id) {
    ResolvedName& known = tree_.cache.names[id];
    const Node& n = node(id);
    if (known.is_built_in) return *built_in_value(context_, n.text);
    if (!known.is_known) {
      Result<ResolvedName> found = resolve_name(context_, n);
      if (!found.ok()) {
        if (!n.only_global && n.file.empty())
          if (std::optional<Value> value = built_in_value(context_, n.text)) {
            known.is_built_in = true;
            return *std::move(value);
          }
        return found.error();
      }
      known = found.take();
    }
    Result<Value> value = known.variable ? find_variable(context_, *known.variable, known.location)
                                         : place_variable(context_, known.name, known.type, known.location);
    if (!value.ok() || known.members.empty()) return value;
    value = pointee(context_, *value);
    return value.ok() ? follow_members(context_, value.take(), known.members) : std::move(value);
  }

  Result<bool> truth_of(NodeId id) {
    Result<Value> value = value_of(id);
    if (!value.ok()) return value.error();
    Result<bool> truth = is_true(context_, *value);
    if (truth.ok() || !truth.error().detail.empty()) return truth;
    Error error = truth.error();
    error.detail = caret_line(tree_.text, node(id).begin);
    return error;
  }

  Result<Value> logical(const Node& n) {
    const bool is_and = n.kind == NodeKind::logical_and;
    const Result<bool> first = truth_of(n.first);
    if (!first.ok()) return first.error();
    if (*first != is_and) return make_bool(types_, *first);
    const Result<bool> second = truth_of(n.second);
    if (!second.ok()) return second.error();
    return make_bool(types_, *second);
  }

  // `red` beside a value of type Colour is Colour::red, as for an enumeration that is not a class.
  Result<Value> beside(NodeId id, TypeId other, Result<Value> failed) {
    const Node& n = node(id);
    if (n.kind != NodeKind::name) return failed;
    const std::size_t colons = n.text.rfind("::");  // `geo::red` may be geo::Colour::red
    const std::string name = colons == std::string::npos ? n.text : n.text.substr(colons + 2);
    if (std::optional<Value> value = enumerator_value(types_, other, name)) return *std::move(value);
    return failed;
  }

  Result<Value> binary(const Node& n) {
    Result<Value> left = value_of(n.first);
    if (!left.ok() && node(n.first).kind != NodeKind::name) return left;
    Result<Value> right = value_of(n.second);
    if (!left.ok() && right.ok()) left = beside(n.first, right->type, std::move(left));
    if (!left.ok()) return left;
    if (!right.ok()) right = beside(n.second, left->type, std::move(right));
    if (!right.ok()) return right;
    const bool undefined = is_undefined(*left) || is_undefined(*right);
    return marked(apply(context_, n.binary, left.take(), right.take()), undefined);
  }

  // Bits of an operand were never written. Reads it.
  bool is_undefined(Value& value) const {
    return !types_.is_array(value.type) && load(context_, value).ok() && value.has_undefined();
  }
  // A result of undefined operands is undefined.
  static Result<Value> marked(Result<Value> value, bool undefined) {
    if (value.ok() && undefined) value->undefined.assign(value->bytes.size(), 0xff);
    return value;
  }

  Result<Value> member(const Node& n) {
    Result<Value> structure = value_of(n.first);
    if (!structure.ok()) return structure;
    if (types_.is_pointer(structure->type)) {  // `.` on a pointer, too
      structure = pointee(context_, *structure);
      if (!structure.ok()) return structure;
    }
    const Type& type = types_.stripped(structure->type);
    const std::vector<const debuginfo::Member*> way = find_member(types_, structure->type, n.text);
    if (!way.empty()) return follow_members(context_, structure.take(), way);
    if (types_.is_structure(structure->type)) {
      if (!type.is_complete)
        return fail("'" + types_.name(structure->type) + "' is only declared here: its members are not known");
      const std::string names = member_names(types_, structure->type);
      return fail("'" + types_.name(structure->type) + "' has no member '" + n.text + "'" +
                  (names.empty() ? "" : ": it has " + names));
    }
    return fail("'" + types_.name(structure->type) + "' has no members");
  }

  // Where a pointer leads, or an element of an array.
  Result<Value> element(Value base, std::int64_t index) {
    if (types_.is_array(base.type)) {
      const Type& type = types_.stripped(base.type);
      const std::uint64_t count = type.dimensions.empty() ? 0 : type.dimensions[0];
      if (base.address) {  // an index outside is C's business, and the memory's
        Value first = std::move(base);
        const TypeId element = types_.element_of(types_.strip(first.type));
        const std::uint64_t size = types_.size(element);
        if (size == 0) return fail("the size of '" + types_.name(element) + "' is not known");
        return place_at(element,
                        {first.address->space, first.address->value + static_cast<std::uint64_t>(index) * size});
      }
      if (index < 0 || static_cast<std::uint64_t>(index) >= count)
        return fail("the array has " + std::to_string(count) + " elements");
      return element_at(context_, base, static_cast<std::uint64_t>(index));
    }
    if (!types_.is_pointer(base.type))
      return fail("'" + types_.name(base.type) + "' is neither a pointer nor an array");
    if (types_.strip(types_.stripped(base.type).target) == kVoidType)
      return fail("a pointer to void has no type to show: write *(int *) in front of it, for example");
    return pointee(context_, base, index);
  }

  Result<std::int64_t> integer_of(NodeId id, const char* what) {
    Result<Value> value = value_of(id);
    if (!value.ok()) return value.error();
    if (Status loaded = load(context_, *value); !loaded.ok()) return loaded.error();
    const Result<Number> number = number_of(types_, *value);
    if (!number.ok()) return number.error();
    if (number->is_floating() || types_.is_pointer(value->type)) return fail(std::string(what) + " must be an integer");
    return static_cast<std::int64_t>(number->integer);
  }

  Result<Value> index(const Node& n) {
    Result<Value> base = value_of(n.first);
    if (!base.ok()) return base;
    const Result<std::int64_t> at = integer_of(n.second, "an index");
    if (!at.ok()) return at.error();
    return element(base.take(), *at);
  }

  Result<Value> dereference(const Node& n) {
    Result<Value> base = value_of(n.first);
    if (!base.ok()) return base;
    return element(base.take(), 0);
  }

  Result<Value> address_of(const Node& n) {
    const Result<Value> value = value_of(n.first);
    if (!value.ok()) return value.error();
    if (value->bit_size != 0) return fail("a bit field has no address");
    if (value->reg) return fail("it is in a register, and has no address");
    if (!value->pieces.empty()) return fail("it is in several pieces, and has no address");
    if (!value->address) return fail("it is not in memory, and has no address");
    const Result<std::uint64_t> address = generic_address(*value->address);
    if (!address.ok()) return address.error();
    Value pointer;
    pointer.type = types_.pointer_to(value->type);
    pointer.bytes.resize(8);
    put_bits(*address, pointer.bytes);
    return pointer;
  }

  Result<Value> repeat(const Node& n) {
    Result<Value> first = value_of(n.first);
    if (!first.ok()) return first;
    const Result<std::int64_t> count = integer_of(n.second, "the number of elements behind '@'");
    if (!count.ok()) return count.error();
    if (*count <= 0) return fail("the number of elements behind '@' must be positive");
    if (!first->address || first->bit_size != 0) return fail("'@' needs a first element in memory");
    Value array = place_at(types_.array_of(first->type, {static_cast<std::uint64_t>(*count)}), *first->address);
    if (types_.size(array.type) == 0) return fail("this array is too large, or the size of its element is not known");
    return array;
  }

  Result<Value> assignment(const Node& n) {
    if (effects_ == SideEffects::refused) return fail("an assignment is not allowed here");
    Result<Value> to = value_of(n.first);
    if (node(n.first).kind == NodeKind::reg && (!to.ok() || !to->reg) && n.kind == NodeKind::assign && context_.kept)
      return keep(node(n.first).text.substr(1), n.second);
    if (!to.ok()) return to;
    if (!to->has_place()) return fail("only what is in memory or in a register can be assigned to");
    Result<Value> from = value_of(n.second);
    if (!from.ok()) from = beside(n.second, to->type, std::move(from));
    if (!from.ok()) return from;
    if (n.kind == NodeKind::assign_binary) {
      from = apply(context_, n.binary, *to, from.take());
      if (!from.ok()) return from;
    }
    Result<Value> converted = cast(context_, from.take(), to->type);
    if (!converted.ok()) return converted;
    if (Status written = assign(context_, *to, *converted); !written.ok()) return written.error();
    return to;
  }

  // `$sum = value`: makes a value of the user's, or gives it another one.
  Result<Value> keep(const std::string& name, NodeId from) {
    if (name.empty() || name[0] == '$' || (name[0] >= '0' && name[0] <= '9') || name == "pc")
      return fail("'$" + name + "' cannot be assigned to");
    Result<Value> value = value_of(from);
    if (!value.ok()) return value;
    if (Status loaded = load(context_, *value); !loaded.ok()) return loaded.error();
    context_.kept->set(name, *value, types_);
    return value;
  }

  LaneContext context_;
  TypeTable& types_;
  ExpressionTree& tree_;
  SideEffects effects_;
};

Result<Value> evaluate(LaneContext context, const Expression& expression, SideEffects effects) {
  Result<Value> value = Evaluator(context, expression, effects).run();
  if (!value.ok()) return value;
  if (Status loaded = load(context, *value); !loaded.ok()) {
    Error error = loaded.error();
    if (error.detail.empty()) error.detail = caret_line(expression.text(), 0);
    return error;
  }
  return value;
}

Result<ConditionResult> evaluate_condition(LaneContext context, const Expression& expression) {
  Result<Value> value = Evaluator(context, expression, SideEffects::refused).run();
  if (!value.ok()) return value.error();
  if (Status loaded = load(context, *value); !loaded.ok()) return loaded.error();
  if (value->has_undefined()) return ConditionResult{false, true};
  const Result<bool> truth = is_true(context, *value);
  if (!truth.ok()) return truth.error();
  return ConditionResult{*truth, false};
}

}  // namespace warpgrind::debugger
