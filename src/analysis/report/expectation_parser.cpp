// Parser of expectations and change rules (expectations.h).
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <optional>

#include "counters/metric_table.h"
#include "report/expectations.h"

namespace warpgrind::report {
namespace {

using Kind = ExpressionNode::Kind;
using results::MetricId;

struct Unit {
  const char* name;
  const char* base;  // the unit of the metrics
  double factor;
};
constexpr double kKi = 1024;
constexpr Unit kUnits[] = {{"B", "byte", 1},
                           {"byte", "byte", 1},
                           {"KB", "byte", 1e3},
                           {"MB", "byte", 1e6},
                           {"GB", "byte", 1e9},
                           {"TB", "byte", 1e12},
                           {"KiB", "byte", kKi},
                           {"MiB", "byte", kKi* kKi},
                           {"GiB", "byte", kKi* kKi* kKi},
                           {"TiB", "byte", kKi* kKi* kKi* kKi},
                           {"ns", "ns", 1},
                           {"us", "ns", 1e3},
                           {"ms", "ns", 1e6},
                           {"s", "ns", 1e9},
                           {"%", "%", 1}};

// True for a word for counted things ("sectors", "requests", "inst"). It has no conversion and only helps the reader.
bool counts_things(std::string_view word) {
  if (word.size() > 1 && word.back() == 's') word.remove_suffix(1);
  for (const counters::MetricRow& r : counters::metric_table())
    if (word == r.unit) return true;
  return word == "request" || word == "wavefront" || word == "conflict" || word == "block" || word == "warp" ||
         word == "thread" || word == "launch" || word == "launche" || word == "line" || word == "register";
}

// Units that cannot be mixed. Others can: a sector may be compared with a plain number.
bool has_dimension(std::string_view unit) {
  return unit == "byte" || unit == "ns" || unit == "%";
}

class Parser {
 public:
  Parser(std::string_view text, bool of_change) : text_(text), of_change_(of_change) { out_.text = std::string(text); }

  Result<Expectation> run() {
    take_pattern();
    if (std::size_t left = 0; sum(left)) {
      out_.left = left;
      const std::size_t at = skip();
      if (!comparison()) {
        complain(at, 1, "expected a comparison: < <= == != >= >");
      } else if (std::size_t right = 0; sum(right)) {
        out_.right = right;
        if (skip() < text_.size())
          complain(at_, text_.size() - at_, "expected the end; use several --expect for several conditions");
        else if (of_change_)
          check_change(at);
        else
          check_sides(at);
      }
    }
    if (error_) return *error_;
    return std::move(out_);
  }

 private:
  // Takes the text up to the last single colon, as a kernel's name may contain "::".
  void take_pattern() {
    std::size_t colon = std::string_view::npos;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] != ':') continue;
      if (i + 1 < text_.size() && text_[i + 1] == ':') {
        ++i;
        continue;
      }
      colon = i;
    }
    out_.kernels = "*";
    if (colon == std::string_view::npos) return;
    std::string_view pattern = text_.substr(0, colon);
    while (!pattern.empty() && pattern.front() == ' ') pattern.remove_prefix(1);
    while (!pattern.empty() && pattern.back() == ' ') pattern.remove_suffix(1);
    if (pattern.empty()) return complain(0, colon + 1, "no kernel before the colon; leave it out to mean all kernels");
    out_.kernels = std::string(pattern);
    at_ = colon + 1;
  }

  std::size_t skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_;
  }
  bool take(char c) {
    if (skip() >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  char peek() { return skip() < text_.size() ? text_[at_] : '\0'; }

  bool comparison() {
    struct Sign {
      const char* text;
      Comparison comparison;
    };
    for (const Sign& s :
         {Sign{"<=", Comparison::less_equal}, Sign{">=", Comparison::greater_equal}, Sign{"==", Comparison::equal},
          Sign{"!=", Comparison::not_equal}, Sign{"<", Comparison::less}, Sign{">", Comparison::greater}})
      if (text_.substr(at_).starts_with(s.text)) {
        at_ += std::string_view(s.text).size();
        out_.comparison = s.comparison;
        return true;
      }
    return false;
  }

  bool sum(std::size_t& out) {
    if (!term(out)) return false;
    while (peek() == '+' || peek() == '-')
      if (!binary(text_[at_] == '+' ? Kind::add : Kind::subtract, out, &Parser::term)) return false;
    return true;
  }
  bool term(std::size_t& out) {
    if (!factor(out)) return false;
    while (peek() == '*' || peek() == '/')
      if (!binary(text_[at_] == '*' ? Kind::multiply : Kind::divide, out, &Parser::factor)) return false;
    return true;
  }
  bool binary(Kind kind, std::size_t& out, bool (Parser::*operand)(std::size_t&)) {
    const std::size_t sign = at_++;
    std::size_t right = 0;
    if (!(this->*operand)(right)) return false;
    const std::string &a = out_.nodes[out].unit, &b = out_.nodes[right].unit;
    ExpressionNode node{kind, 0, "", "", out, right};
    if (out_.nodes[out].kind == Kind::text || out_.nodes[right].kind == Kind::text || is_word(out) || is_word(right))
      return complain(sign, 1, "words can only be compared with == and !="), false;
    if (kind == Kind::add || kind == Kind::subtract) {
      if (has_dimension(a) && has_dimension(b) && a != b)
        return complain(sign, 1, fmt::format("{} and {} cannot be added", a, b)), false;
      node.unit = has_dimension(a) ? a : b;
    } else if (kind == Kind::multiply) {
      node.unit = has_dimension(a) && has_dimension(b) ? "" : has_dimension(a) ? a : b;
    } else {
      node.unit = has_dimension(b) ? "" : a;
    }
    out = push(node);
    return true;
  }

  bool factor(std::size_t& out) {
    if (++depth_ > kDeepest) return complain(at_, 1, "too many parentheses"), false;
    const bool good = factor_inside(out);
    --depth_;
    return good;
  }
  bool factor_inside(std::size_t& out) {
    const char c = peek();
    if (c == '-') {
      ++at_;
      if (!factor(out)) return false;
      out = push({Kind::negate, 0, "", out_.nodes[out].unit, out, 0});
      return true;
    }
    if (c == '(') {
      const std::size_t open = at_++;
      if (!sum(out)) return false;
      if (!take(')')) return complain(open, 1, "this parenthesis is not closed"), false;
      return true;
    }
    if (c == '\'' || c == '"') return quoted(c, out);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number(out);
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') return metric(out);
    return complain(at_, 1, "expected a metric or a number"), false;
  }

  bool quoted(char quote, std::size_t& out) {
    const std::size_t open = at_++, close = text_.find(quote, at_);
    if (close == std::string_view::npos) return complain(open, 1, "this quotation mark is not closed"), false;
    out = push({Kind::text, 0, std::string(text_.substr(at_, close - at_)), "", 0, 0});
    at_ = close + 1;
    return true;
  }

  bool number(std::size_t& out) {
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    const double value = std::strtod(rest.c_str(), &end);
    const auto length = static_cast<std::size_t>(end - rest.c_str());
    if (length == 0) return complain(at_, 1, "not a number"), false;
    at_ += length;
    out = push({Kind::number, value, "", "", 0, 0});
    const std::size_t begin = skip();
    if (begin < text_.size() && text_[begin] == '%') {
      ++at_;
      out_.nodes[out].unit = "%";
      return true;
    }
    const std::string unit(word());
    if (unit.empty()) return true;
    for (const Unit& u : kUnits)
      if (unit == u.name || unit == std::string(u.name) + "s") {
        out_.nodes[out].number *= u.factor;
        out_.nodes[out].unit = u.base;
        return true;
      }
    if (counts_things(unit)) return true;
    return complain(begin, unit.size(), fmt::format("unknown unit \"{}\"", unit),
                    "units: B KB MB GB TB KiB MiB GiB TiB, ns us ms s, %, or what is counted (sectors, requests, ...)"),
           false;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return {};
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool metric(std::size_t& out) {
    const std::size_t begin = at_;
    const std::string name(word());
    const std::optional<MetricId> id = counters::find_metric_or_alias(name);
    if (!id) {
      const std::vector<std::string> near = counters::similar_metrics(name);
      return complain(begin, name.size(), fmt::format("no metric is called \"{}\"", name),
                      near.empty() ? "docs/counters.md lists them all"
                                   : fmt::format("did you mean {}?", fmt::join(near, ", or "))),
             false;
    }
    out = push({Kind::metric, 0, "", counters::row(*id).unit, 0, 0, *id});
    return true;
  }

  bool is_word(std::size_t node) const {
    const ExpressionNode& n = out_.nodes[node];
    return n.kind == Kind::metric && counters::row(n.metric).text;
  }

  void check_change(std::size_t sign) {
    const ExpressionNode& right = out_.nodes[out_.right];
    for (const ExpressionNode& n : out_.nodes)
      if (n.kind == Kind::metric && &n != &out_.nodes[out_.left])
        return complain(sign, 1, "a rule for a change is one metric against one number: time > 5 %");
    if (out_.nodes[out_.left].kind != Kind::metric || is_word(out_.left) || right.kind == Kind::text)
      return complain(0, sign, "a rule for a change is one metric against one number: time > 5 %");
    out_.relative = right.unit == "%";
    if (!out_.relative) check_sides(sign);
  }

  void check_sides(std::size_t sign) {
    const auto words = [&](std::size_t node) { return out_.nodes[node].kind == Kind::text || is_word(node); };
    const bool equality = out_.comparison == Comparison::equal || out_.comparison == Comparison::not_equal;
    if (words(out_.left) != words(out_.right))
      return complain(sign, 1, "a word cannot be compared with a number",
                      "write words in quotation marks: occupancy_limiter == 'registers'");
    if (words(out_.left) && !equality) return complain(sign, 1, "words can only be compared with == and !=");
    const std::string &a = out_.nodes[out_.left].unit, &b = out_.nodes[out_.right].unit;
    if (has_dimension(a) && has_dimension(b) && a != b)
      return complain(sign, 1, fmt::format("{} cannot be compared with {}", a, b));
    const bool plain_number = out_.nodes[out_.left].kind == Kind::number;
    if (has_dimension(b) && !has_dimension(a) && !a.empty() && !plain_number)
      return complain(sign, 1, fmt::format("{} cannot be compared with {}", a, b));
    if (has_dimension(a) && !has_dimension(b) && !b.empty() && out_.nodes[out_.right].kind != Kind::number)
      return complain(sign, 1, fmt::format("{} cannot be compared with {}", a, b));
    for (const ExpressionNode& n : out_.nodes)
      if (n.kind == Kind::metric) return;
    complain(0, text_.size(), "nothing is measured: no metric stands in it");
  }

  std::size_t push(ExpressionNode node) {
    out_.nodes.push_back(std::move(node));
    return out_.nodes.size() - 1;
  }

  void complain(std::size_t at, std::size_t length, const std::string& message, const std::string& hint = "") {
    if (error_) return;  // the first error is the cause
    std::string shown(text_);
    for (char& c : shown)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    std::string detail =
        fmt::format("  {}\n    {}{}", shown, std::string(at, ' '), "^" + std::string(length > 1 ? length - 1 : 0, '~'));
    if (!hint.empty()) detail += "\n  " + hint;
    error_ = Error{ErrorKind::bad_input, (of_change_ ? "rule: " : "expectation: ") + message, detail};
  }

  static constexpr int kDeepest = 100;
  std::string_view text_;
  bool of_change_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Expectation out_;
  std::optional<Error> error_;
};

}  // namespace

Result<Expectation> parse_expectation(std::string_view text) {
  return Parser(text, false).run();
}

Result<Expectation> parse_change_rule(std::string_view text) {
  return Parser(text, true).run();
}

}  // namespace warpgrind::report
