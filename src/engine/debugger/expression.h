// Expressions of C and C++ over the variables, memory and registers of one lane.
//
// Parsed once and evaluated for any number of lanes. Beyond C there is:
// - `%r5` or `$r5`: a PTX register; `$lane`, `$warp`: the numbers of the lane and of its warp in the block
// - `$pc`: the number of the next instruction in its PTX function
// - `$1`, `$`, `$$`, `$$2`: values of the history; `$sum`: one that an assignment has made (kept_values.h)
// - `p[0]@8`: an array of 8 elements
// - `'file.cu'::name`: the variable of that file; `'a::b<int>::c'`: a name with any characters
// - threadIdx, blockIdx, blockDim, gridDim and warpSize of the lane
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "debugger/value.h"

namespace warpgrind::debugger {

struct ExpressionTree;

// Keeps what its names meant at the last place of code, so not for several threads at once.
class Expression {
 public:
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();
  const std::string& text() const;
  bool assigns() const;  // evaluating it changes the program

 private:
  explicit Expression(std::unique_ptr<ExpressionTree> tree);
  std::unique_ptr<ExpressionTree> tree_;
  friend Result<Expression> parse_expression(std::string_view text, TypeTable& types);
  friend class Evaluator;
};

// Error: `detail` shows the place in the text. `types` decides whether `(name)` is a cast; evaluate() must get the
// same.
Result<Expression> parse_expression(std::string_view text, TypeTable& types);

// A type alone, such as `unsigned *` or `geo::Point`. kVoidType: the text is none.
TypeId parse_type(std::string_view text, TypeTable& types);

enum class SideEffects : bool { refused, allowed };

// The value with its bytes and its place, if it has one. An array or structure of more than kLoadedBytes stays unread.
Result<Value> evaluate(LaneContext context, const Expression& expression, SideEffects effects = SideEffects::refused);
// For conditions: as in `if (expression)`. A value with bits that were never written does not hold.
struct ConditionResult {
  bool holds = false, is_undefined = false;
};
Result<ConditionResult> evaluate_condition(LaneContext context, const Expression& expression);

// What expressions see, for completion: variables of the place, without hidden ones, innermost first.
std::vector<std::string> visible_names(LaneContext context);

}  // namespace warpgrind::debugger
