// Parser of expressions, by the precedence of operators.
#include <algorithm>
#include <array>
#include <optional>

#include "debugger/expression.h"
#include "debugger/expression_tree.h"
#include "debugger/expression_words.h"

namespace warpgrind::debugger {

namespace {

constexpr std::size_t kMaxText = 16384;
constexpr std::uint32_t kMaxDepth = 200;  // of the tree: the evaluator calls itself for each level

enum class Role : std::uint8_t { binary, logical_and, logical_or, repeat };

struct OperatorRow {
  std::string_view sign;
  int precedence;  // higher binds closer
  Role role;
  Binary operation;
};
constexpr std::array kOperators = {
    OperatorRow{"*", 12, Role::binary, Binary::multiply},
    OperatorRow{"/", 12, Role::binary, Binary::divide},
    OperatorRow{"%", 12, Role::binary, Binary::remainder},
    OperatorRow{"+", 11, Role::binary, Binary::add},
    OperatorRow{"-", 11, Role::binary, Binary::subtract},
    OperatorRow{"@", 10, Role::repeat, {}},  // as in gdb: p[0]@n+1 is p[0]@(n+1)
    OperatorRow{"<<", 9, Role::binary, Binary::shift_left},
    OperatorRow{">>", 9, Role::binary, Binary::shift_right},
    OperatorRow{"<", 8, Role::binary, Binary::less},
    OperatorRow{"<=", 8, Role::binary, Binary::less_equal},
    OperatorRow{">", 8, Role::binary, Binary::greater},
    OperatorRow{">=", 8, Role::binary, Binary::greater_equal},
    OperatorRow{"==", 7, Role::binary, Binary::equal},
    OperatorRow{"!=", 7, Role::binary, Binary::not_equal},
    OperatorRow{"&", 6, Role::binary, Binary::bit_and},
    OperatorRow{"^", 5, Role::binary, Binary::bit_xor},
    OperatorRow{"|", 4, Role::binary, Binary::bit_or},
    OperatorRow{"&&", 3, Role::logical_and, {}},
    OperatorRow{"||", 2, Role::logical_or, {}},
};

struct AssignmentRow {
  std::string_view sign;
  Binary operation;
};
constexpr std::array kAssignments = {
    AssignmentRow{"+=", Binary::add},         AssignmentRow{"-=", Binary::subtract},
    AssignmentRow{"*=", Binary::multiply},    AssignmentRow{"/=", Binary::divide},
    AssignmentRow{"%=", Binary::remainder},   AssignmentRow{"&=", Binary::bit_and},
    AssignmentRow{"|=", Binary::bit_or},      AssignmentRow{"^=", Binary::bit_xor},
    AssignmentRow{"<<=", Binary::shift_left}, AssignmentRow{">>=", Binary::shift_right},
};

class Parser {
 public:
  Parser(ExpressionTree& tree, std::vector<Word> words, TypeTable& types)
      : tree_(tree), words_(std::move(words)), types_(types) {}

  Status parse() {
    const NodeId root = comma();
    if (error_) return *error_;
    if (word().kind != WordKind::end) {
      fail("an operator or the end is expected here");
      return *error_;
    }
    tree_.root = root;
    return Ok{};
  }

  // kVoidType: the text is no type.
  TypeId parse_type() {
    const TypeId type = type_name();
    return word().kind == WordKind::end ? type : kVoidType;
  }

 private:
  const Word& word(std::size_t ahead = 0) const { return words_[std::min(at_ + ahead, words_.size() - 1)]; }
  bool is_sign(std::string_view sign, std::size_t ahead = 0) const {
    return word(ahead).kind == WordKind::sign && word(ahead).text == sign;
  }
  bool take(std::string_view sign) {
    if (error_ || !is_sign(sign)) return false;
    ++at_;
    return true;
  }
  NodeId fail(std::string message) {
    if (!error_) error_ = Error{ErrorKind::bad_input, std::move(message), caret_line(tree_.text, word().begin)};
    return kNoNode;
  }
  void expect(std::string_view sign) {
    if (!error_ && !take(sign)) fail("'" + std::string(sign) + "' is expected here");
  }

  NodeId add(Node node) {
    if (error_) return kNoNode;
    for (const NodeId child : {node.first, node.second, node.third})
      if (child != kNoNode) node.depth = std::max(node.depth, tree_.nodes[child].depth + 1);
    if (node.depth > kMaxDepth) return fail("the expression is nested too deeply");
    tree_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(tree_.nodes.size() - 1);
  }
  Node make(NodeKind kind, std::uint32_t begin, NodeId first = kNoNode, NodeId second = kNoNode) const {
    Node node;
    node.kind = kind;
    node.begin = begin;
    node.first = first;
    node.second = second;
    return node;
  }

  NodeId comma() {
    NodeId left = assignment();
    while (!error_ && is_sign(",")) {
      const std::uint32_t begin = word().begin;
      ++at_;
      const NodeId right = assignment();
      left = add(make(NodeKind::comma, begin, left, right));
    }
    return left;
  }

  // Each level of brackets and each unary operator comes through here or unary(): both count the depth of calls.
  NodeId assignment() {
    if (++calls_ > kMaxDepth) return fail("the expression is nested too deeply");
    const NodeId result = assignment_within();
    --calls_;
    return result;
  }

  NodeId assignment_within() {
    const NodeId left = conditional();
    if (error_) return kNoNode;
    const std::uint32_t begin = word().begin;
    if (take("=")) {
      tree_.assigns = true;
      const NodeId right = assignment();
      return add(make(NodeKind::assign, begin, left, right));
    }
    for (const AssignmentRow& row : kAssignments) {
      if (!take(row.sign)) continue;
      tree_.assigns = true;
      const NodeId right = assignment();
      Node node = make(NodeKind::assign_binary, begin, left, right);
      node.binary = row.operation;
      return add(std::move(node));
    }
    return left;
  }

  NodeId conditional() {
    const NodeId condition = binary(0);
    if (error_ || !is_sign("?")) return condition;
    const std::uint32_t begin = word().begin;
    ++at_;
    const NodeId yes = assignment();
    expect(":");
    const NodeId no = assignment();
    Node node = make(NodeKind::conditional, begin, condition, yes);
    node.third = no;
    return add(std::move(node));
  }

  NodeId binary(int precedence) {
    NodeId left = unary();
    while (!error_) {
      const auto* row = std::ranges::find_if(kOperators, [&](const OperatorRow& r) { return is_sign(r.sign); });
      if (row == kOperators.end() || row->precedence < precedence) return left;
      const std::uint32_t begin = word().begin;
      ++at_;
      const NodeId right = binary(row->precedence + 1);
      static constexpr std::array kinds = {NodeKind::binary, NodeKind::logical_and, NodeKind::logical_or,
                                           NodeKind::repeat};
      Node node = make(kinds[static_cast<std::size_t>(row->role)], begin, left, right);
      node.binary = row->operation;
      left = add(std::move(node));
    }
    return kNoNode;
  }

  NodeId unary() {
    if (++calls_ > kMaxDepth) return fail("the expression is nested too deeply");
    const NodeId result = unary_within();
    --calls_;
    return result;
  }

  NodeId unary_within() {
    if (error_) return kNoNode;
    const std::uint32_t begin = word().begin;
    static constexpr std::array<std::pair<std::string_view, Unary>, 4> signs = {
        {{"+", Unary::plus}, {"-", Unary::minus}, {"~", Unary::bit_not}, {"!", Unary::logical_not}}};
    for (const auto& [sign, operation] : signs) {
      if (!take(sign)) continue;
      if (is_sign(sign) && word().begin == begin + 1 && (sign == "+" || sign == "-"))
        return fail("++ and -- are not supported: write += 1");
      Node node = make(NodeKind::unary, begin, unary());
      node.unary = operation;
      return add(std::move(node));
    }
    if (take("*")) return add(make(NodeKind::dereference, begin, unary()));
    if (take("&")) return add(make(NodeKind::address_of, begin, unary()));
    if (word().kind == WordKind::name && word().text == "sizeof") return size_of(begin);
    if (is_sign("(")) {
      const std::size_t back = at_++;
      const TypeId type = type_name();
      if (!error_ && type != kVoidType && take(")")) {
        Node node = make(NodeKind::cast, begin, unary());
        node.type = type;
        return add(std::move(node));
      }
      if (error_) return kNoNode;
      at_ = back;
    }
    return postfix();
  }

  NodeId size_of(std::uint32_t begin) {
    ++at_;
    if (is_sign("(")) {
      const std::size_t back = at_++;
      const TypeId type = type_name();
      if (type != kVoidType && take(")")) {
        Node node = make(NodeKind::literal, begin);
        node.literal = make_number(types_, Builtin::unsigned_long, Number::from_unsigned(types_.size(type)));
        return add(std::move(node));
      }
      at_ = back;
    }
    return add(make(NodeKind::size_of, begin, unary()));
  }

  NodeId postfix() {
    NodeId left = primary();
    while (!error_) {
      const std::uint32_t begin = word().begin;
      if (take("[")) {
        const NodeId index = comma();
        expect("]");
        left = add(make(NodeKind::index, begin, left, index));
      } else if (take(".") || take("->")) {
        if (word().kind != WordKind::name) return fail("the name of a member is expected here");
        Node node = make(NodeKind::member, word().begin, left);
        node.text = word().text;
        ++at_;
        left = add(std::move(node));
      } else if (is_sign("(")) {
        return fail("functions cannot be called");
      } else {
        return left;
      }
    }
    return kNoNode;
  }

  NodeId primary() {
    if (error_) return kNoNode;
    const Word& first = word();
    if (take("(")) {
      const NodeId inside = comma();
      expect(")");
      return inside;
    }
    Node node = make(NodeKind::literal, first.begin);
    if (first.kind == WordKind::number) {
      node.literal = first.value;
      ++at_;
      return add(std::move(node));
    }
    if (first.kind == WordKind::reg) {
      node.kind = first.text == "%lane"   ? NodeKind::lane_number
                  : first.text == "%warp" ? NodeKind::warp_number
                                          : NodeKind::reg;
      node.text = first.text;
      ++at_;
      return add(std::move(node));
    }
    if (first.kind == WordKind::quoted && is_sign("::", 1)) {
      node.file = first.text;
      at_ += 2;
      return name(std::move(node));
    }
    if (first.kind == WordKind::quoted) {
      node.kind = NodeKind::name;
      node.text = first.text;
      ++at_;
      return add(std::move(node));
    }
    if (first.kind == WordKind::name || is_sign("::")) return name(std::move(node));
    if (first.kind == WordKind::end) return fail("the expression ends too early");
    return fail("a value is expected here");
  }

  NodeId name(Node node) {
    node.only_global = take("::");
    node.kind = NodeKind::name;
    node.text = qualified_name();
    if (node.text.empty()) return fail("a name is expected here");
    if (node.file.empty() && !node.only_global) {
      if (node.text == "true" || node.text == "false") {
        node.kind = NodeKind::literal;
        node.literal = make_bool(types_, node.text == "true");
      } else if (node.text == "nullptr") {
        node.kind = NodeKind::literal;
        node.literal.type = types_.pointer_to(kVoidType);
        node.literal.bytes.resize(8);
      }
    }
    return add(std::move(node));
  }

  // a::b<int>::c. Empty if no name is here.
  std::string qualified_name() {
    std::string text;
    while (word().kind == WordKind::name) {
      text += word().text;
      ++at_;
      if (is_sign("<"))
        if (const std::size_t end = arguments_end();
            end != 0 && words_[end].kind == WordKind::sign && words_[end].text == "::")
          take_arguments(text, end);
      if (!is_sign("::") || word(1).kind != WordKind::name) break;
      ++at_;
      text += "::";
    }
    return text;
  }

  // The word behind the `>` that ends the template arguments that begin here; 0 if they do not end.
  std::size_t arguments_end() const {
    int open = 0;
    for (std::size_t i = at_; i + 1 < words_.size() && i < at_ + 256; ++i) {
      if (words_[i].kind != WordKind::sign) continue;
      if (words_[i].text == "<") ++open;
      if (words_[i].text == ">") --open;
      if (words_[i].text == ">>") open -= 2;
      if (open <= 0) return open == 0 ? i + 1 : 0;
    }
    return 0;
  }
  void take_arguments(std::string& text, std::size_t end) {
    text += tree_.text.substr(word().begin, words_[end].begin - word().begin);
    while (text.ends_with(' ')) text.pop_back();
    at_ = end;
  }

  // A type with its * and &; kVoidType if what stands here is no type. Does not set the error.
  TypeId type_name() {
    TypeId type = plain_type();
    if (type == kVoidType) {
      if (word().kind != WordKind::name || word().text != "void" || !is_sign("*", 1)) return kVoidType;
      ++at_;
    }
    for (int stars = 0; stars < 16; ++stars) {
      while (word().kind == WordKind::name && is_qualifier(word().text)) ++at_;
      if (is_sign("(") && is_sign("*", 1) && is_sign(")", 2) && is_sign("[", 3)) return array_pointer(type);
      if (!take("*")) break;
      type = types_.pointer_to(type);
    }
    return type;
  }

  // `(*)[4][8]` behind the element.
  TypeId array_pointer(TypeId element) {
    at_ += 3;
    std::vector<std::uint64_t> dimensions;
    while (is_sign("[") && word(1).kind == WordKind::number && is_sign("]", 2)) {
      Result<Number> count = number_of(types_, word(1).value);
      if (!count.ok() || count->is_floating() || count->is_zero()) return kVoidType;
      dimensions.push_back(static_cast<std::uint64_t>(count->integer));
      at_ += 3;
    }
    return dimensions.empty() ? kVoidType : types_.pointer_to(types_.array_of(element, std::move(dimensions)));
  }

  static bool is_qualifier(std::string_view text) {
    return text == "const" || text == "volatile" || text == "__restrict__" || text == "restrict";
  }

  TypeId plain_type() {
    bool is_unsigned = false, is_signed = false;
    int longs = 0;
    std::string base;
    bool has_words = false;
    for (; word().kind == WordKind::name; ++at_) {
      const std::string& text = word().text;
      if (is_qualifier(text) || text == "struct" || text == "class" || text == "union" || text == "enum" ||
          text == "typename")
        continue;
      if (text == "unsigned") {
        is_unsigned = true;
      } else if (text == "signed") {
        is_signed = true;
      } else if (text == "long") {
        ++longs;
      } else if (text == "short" || text == "char" || text == "double" || text == "float" || text == "bool" ||
                 text == "__int128") {
        base = text;
      } else if (text != "int") {
        break;
      }
      has_words = true;
    }
    if (!has_words) {
      if (word().kind != WordKind::name) return kVoidType;
      return named_type();
    }
    if (longs > 0 && base.empty()) base = longs > 1 ? "long long" : "long";
    if (base.empty()) base = "int";
    if (is_unsigned) base = "unsigned " + base;
    if (is_signed && base == "char") base = "signed char";
    return types_.find(base);
  }

  TypeId named_type() {
    const std::size_t back = at_;
    std::string text = qualified_name();
    if (is_sign("<"))
      if (const std::size_t end = arguments_end(); end != 0) take_arguments(text, end);
    const TypeId type = types_.find(text);
    if (type == kVoidType) at_ = back;
    return type;
  }

  ExpressionTree& tree_;
  std::vector<Word> words_;
  TypeTable& types_;
  std::size_t at_ = 0;
  std::uint32_t calls_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Expression::Expression(std::unique_ptr<ExpressionTree> tree) : tree_(std::move(tree)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;
const std::string& Expression::text() const {
  return tree_->text;
}
bool Expression::assigns() const {
  return tree_->assigns;
}

TypeId parse_type(std::string_view text, TypeTable& types) {
  Result<std::vector<Word>> words = text.size() > kMaxText ? Error{} : split_expression(text, types);
  if (!words.ok()) return kVoidType;
  ExpressionTree tree;
  tree.text = text;
  return Parser(tree, words.take(), types).parse_type();
}

Result<Expression> parse_expression(std::string_view text, TypeTable& types) {
  if (text.size() > kMaxText) return Error{ErrorKind::bad_input, "the expression is too long", {}};
  Result<std::vector<Word>> words = split_expression(text, types);
  if (!words.ok()) return words.error();
  auto tree = std::make_unique<ExpressionTree>();
  tree->text = text;
  if (Status parsed = Parser(*tree, words.take(), types).parse(); !parsed.ok()) return parsed.error();
  return Expression(std::move(tree));
}

}  // namespace warpgrind::debugger
