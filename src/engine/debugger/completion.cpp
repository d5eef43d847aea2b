#include "debugger/completion.h"

#include <algorithm>
#include <cctype>

#include "debugger/expression.h"
#include "debugger/members.h"
#include "debugger/names.h"
#include "debuginfo/readable_names.h"

namespace warpgrind::debugger {

namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// The beginning of the name that ends there, with its namespaces.
std::size_t name_begin(std::string_view text, std::size_t end) {
  while (end > 0) {
    if (is_name_character(text[end - 1]))
      --end;
    else if (end > 1 && text[end - 1] == ':' && text[end - 2] == ':')
      end -= 2;
    else
      break;
  }
  return end;
}

// The length of `.` or `->` at the end of the text; 0: there is none.
std::size_t member_sign(std::string_view text) {
  return text.ends_with("->") ? 2 : text.ends_with(".") ? 1 : 0;
}

// The bracket that the last character closes; npos: there is none.
std::size_t opening(std::string_view text) {
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')' || text[at] == ']') ++depth;
    if (text[at] == '(' || text[at] == '[') --depth;
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

// What a member sign at the end of the text refers to: `a.b[i]` of `x + a.b[i]`.
std::string_view operand_at_end(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::string_view rest = text.substr(0, begin);
    if (rest.back() == ')' || rest.back() == ']') {
      begin = opening(rest);
      if (begin == std::string_view::npos) return {};
      if (begin > 0 && (is_name_character(text[begin - 1]) || text[begin - 1] == ')' || text[begin - 1] == ']'))
        continue;
      break;
    }
    begin = name_begin(text, begin);
    if (begin == rest.size()) return {};
    const std::size_t sign = member_sign(text.substr(0, begin));
    if (sign == 0) break;
    begin -= sign;
  }
  return text.substr(begin);
}

std::vector<std::string> members_of(LaneContext context, std::string_view operand) {
  if (operand.empty()) return {};
  const Result<Expression> parsed = parse_expression(operand, context.types);
  if (!parsed.ok()) return {};
  const Result<Value> value = evaluate(context, *parsed, SideEffects::refused);
  if (!value.ok()) return {};
  TypeId type = value->type;
  if (context.types.is_pointer(type)) type = context.types.stripped(type).target;
  return all_member_names(context.types, type);
}

std::vector<std::string> names_at(LaneContext context, std::string_view word) {
  std::vector<std::string> out = visible_names(context);
  const auto add = [&out](std::vector<std::string> more) { out.insert(out.end(), more.begin(), more.end()); };
  const bool has_scope = word.find("::") != std::string_view::npos;
  for (const debuginfo::Variable& v : context.types.symbols().globals())
    out.push_back(has_scope ? v.name : debuginfo::last_name(v.name));
  add(ptx_variables(context));
  add(kernel_parameters(context));
  if (std::find(out.begin(), out.end(), "this") != out.end()) add(members_of(context, "this"));
  for (const char* name : {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}) out.emplace_back(name);
  if (!word.starts_with('$')) return out;
  for (const char* name : {"$lane", "$warp", "$pc"}) out.emplace_back(name);
  for (const ptx::Register& r : context.types.symbols().registers(context.lane.code().function))
    out.push_back("$" + r.name.substr(r.name.starts_with('%') ? 1 : 0));
  return out;
}

}  // namespace

Completions complete_expression(LaneContext context, std::string_view text) {
  Completions out;
  out.begin = name_begin(text, text.size());
  const std::string_view word = text.substr(out.begin), before = text.substr(0, out.begin);
  const std::size_t sign = member_sign(before);
  out.are_members = sign != 0;
  out.words = out.are_members ? members_of(context, operand_at_end(before.substr(0, before.size() - sign)))
                              : names_at(context, word);
  std::erase_if(out.words, [&](const std::string& one) { return one.empty() || !one.starts_with(word); });
  std::sort(out.words.begin(), out.words.end());
  out.words.erase(std::unique(out.words.begin(), out.words.end()), out.words.end());
  return out;
}

}  // namespace warpgrind::debugger
