// Parser of the notation of syntax lines (head of opcodes.inc) into forms.
#include "ptx/syntax.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/assert.h"
#include "ptx/suffix_names.h"

namespace warpgrind::ptx {

namespace {

using Takes = OperandSlot::Takes;

constexpr bool of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == ':';
}

std::string_view word_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && of_word(text[end])) ++end;
  while (end > from && text[end - 1] == ':') --end;  // "d: .u32"
  return text.substr(from, end - from);
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// ---- Definitions of names.

struct Definition {
  std::vector<std::string_view> names;  // names of operands, or of a suffix with its dot
  std::string_view means;
};

// ".type = { .u32, .s32 } d, a: .dtype or wider  b: .u32": each definition begins with its names and '=' or ':'.
std::vector<Definition> definitions_of(std::string_view text) {
  std::vector<Definition> out;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) < text.size()) {
    Definition d;
    const std::size_t mark = text.find_first_of("=", at);
    // The ": " of an operand comes before the " = " of the next suffix.
    std::size_t colon = text.find(": ", at);
    const bool suffix = text[at] == '.';
    const std::size_t sign = suffix ? mark : colon;
    WG_ASSERT(sign < text.size());
    for (std::size_t from = at; from < sign;) {
      const std::size_t comma = std::min(text.find(',', from), sign);
      d.names.push_back(trimmed(text.substr(from, comma - from)));
      from = comma + 1;
    }
    std::size_t end = 0;
    if (suffix) {
      end = text.find('}', sign);
      WG_ASSERT(end < text.size());
      ++end;
    } else {  // up to the next double blank
      end = std::min(text.find("  ", sign), text.size());
    }
    d.means = trimmed(text.substr(sign + 1, end - sign - 1));
    out.push_back(std::move(d));
    at = end;
  }
  return out;
}

const Definition* definition(const std::vector<Definition>& all, std::string_view name) {
  for (const Definition& d : all)
    if (std::find(d.names.begin(), d.names.end(), name) != d.names.end()) return &d;
  return nullptr;
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> out;
  for (std::size_t dot = list.find('.'); dot != std::string_view::npos; dot = list.find('.', dot + 1))
    out.push_back(word_at(list, dot + 1));
  return out;
}

// ---- The suffixes of a form.

bool names_a_type(std::string_view word) {
  return word.ends_with("type") || word.ends_with("Type") || word == "size";
}

class FormReader {
 public:
  FormReader(const OpcodeInfo& info, std::string_view form, const std::vector<Definition>& definitions)
      : definitions_(definitions) {
    const std::size_t blank = std::min(form.find(' ', std::min(info.text.size(), form.size())), form.size());
    suffixes(form.substr(0, blank), info.text.size());
    operands(trimmed(form.substr(blank)));
  }
  SyntaxForm form;
  std::vector<Modifier> mentioned;

 private:
  const Definition* list_of(std::string_view word) const { return definition(definitions_, "." + std::string(word)); }

  void suffixes(std::string_view mnemonic, std::size_t from) {
    bool optional = false, alternative = false;
    std::size_t first_of_braces = 0;  // choice
    for (std::size_t i = from; i < mnemonic.size(); ++i) {
      const std::string_view rest = mnemonic.substr(i);
      if (rest.starts_with(".{") || rest.starts_with("::{")) {
        i += one_of(mnemonic.substr(0, i), rest) - 1;
      } else if (rest.starts_with("{::")) {
        refine(mnemonic.substr(0, i), rest);
        i = mnemonic.find('}', i);
      } else if (rest[0] == '{' || rest[0] == '}') {
        optional = rest[0] == '{';
        alternative = false;
        for (std::size_t c = first_of_braces + 1; !optional && c < form.choices.size(); ++c)
          form.together.emplace_back(first_of_braces, c);
        first_of_braces = form.choices.size();
      } else if (rest[0] == ',') {
        alternative = true;
      } else if (rest[0] == '.') {
        suffix(word_at(mnemonic, i + 1), optional, alternative);
      }
    }
  }

  // ".{arrive,wait}", "wait::{ld,st}": one of these must be there. Returns the length of the notation.
  std::size_t one_of(std::string_view before, std::string_view text) {
    const std::size_t open = text.find('{'), end = text.find('}');
    const std::string prefix =
        text[0] == ':' ? std::string(before.substr(before.rfind('.') + 1)) + "::" : std::string();
    std::vector<Modifier> modifiers;
    for (std::size_t from = open + 1; from < end;) {
      const std::size_t comma = std::min(text.find(',', from), end);
      const auto modifier = modifier_from_text(prefix + std::string(text.substr(from, comma - from)));
      WG_ASSERT(modifier);
      modifiers.push_back(*modifier);
      from = comma + 1;
    }
    mentioned.insert(mentioned.end(), modifiers.begin(), modifiers.end());
    form.choices.push_back(modifiers);
    form.required.push_back(std::move(modifiers));
    return end + 1;
  }

  // ".shared{::cta}": the word before may have this end, too. In "mma.sp{::ordered_metadata}" it belongs to the opcode.
  void refine(std::string_view before, std::string_view text) {
    const std::string word(before.substr(before.rfind('.') + 1)), end(text.substr(1, text.find('}') - 1));
    const auto modifier = modifier_from_text(word + end);
    WG_ASSERT(modifier);
    if (form.choices.empty()) form.choices.emplace_back();
    if (!form.required.empty() && form.required.back() == form.choices.back())
      form.required.back().push_back(*modifier);
    form.choices.back().push_back(*modifier);
    mentioned.push_back(*modifier);
  }

  // `alternative`: instead of the suffix before.
  void suffix(std::string_view word, bool optional, bool alternative) {
    if (word == "vec") return;
    if (word == "v2" || word == "v4" || word == "v8") {
      WG_ASSERT(!optional);
      form.vector = static_cast<std::uint8_t>(word[1] - '0');
      return;
    }
    if (const auto type = scalar_type_from_name(word)) {
      form.types.push_back({"type", {*type}, optional});
      return;
    }
    const Definition* list = list_of(word);
    const std::string_view named = list ? list->means : suffix_meaning(word);
    std::vector<ScalarType> types;
    std::vector<Modifier> modifiers;
    for (std::string_view w : named.empty() ? std::vector<std::string_view>{word} : words_of(named)) {
      if (const auto type = list ? scalar_type_from_name(w) : std::nullopt)
        types.push_back(*type);
      else if (const auto modifier = modifier_from_text(w))
        modifiers.push_back(*modifier);
    }
    if (!types.empty() || names_a_type(word)) {
      form.types.push_back({word, std::move(types), optional});
      return;
    }
    WG_ASSERT(!modifiers.empty());  // the name has neither a definition nor a meaning of suffix_names.cpp
    if (alternative)
      form.choices.back().insert(form.choices.back().end(), modifiers.begin(), modifiers.end());
    else
      form.choices.push_back(modifiers);
    mentioned.insert(mentioned.end(), modifiers.begin(), modifiers.end());
    if (!optional && !modifiers.empty()) form.required.push_back(std::move(modifiers));
  }

  // ---- Its operands.

  void operands(std::string_view text) {
    int braces = 0, brackets = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (text.substr(i).starts_with("{!}") || text.substr(i).starts_with("{-}")) {
        negatable_ = true;
        i += 2;
      } else if (c == '{') {
        ++braces;
      } else if (c == '}') {
        --braces;
      } else if (c == '[') {
        ++brackets;
        in_parts_ = false;
      } else if (c == ']') {
        --brackets;
      } else if (c == '|') {
        second_ = true;
      } else if (c == ',' && brackets) {
        if (!form.operands.empty()) form.operands.back().has_parts = in_parts_ = true;
      } else if (c == '.') {
        const std::size_t length = word_at(text, i + 1).size();
        if (!form.operands.empty()) {
          form.operands.back().selector = true;
          form.operands.back().needs_selector = braces == 0;
        }
        i += length;
      } else if (of_word(c)) {
        const std::string_view name = word_at(text, i);
        i += name.size() - 1;
        operand(name, braces != 0, brackets != 0);
      }
    }
  }

  void operand(std::string_view name, bool optional, bool address) {
    if (address && in_parts_) return;  // coordinates
    OperandSlot slot;
    slot.name = name;
    slot.optional = optional;
    slot.second = std::exchange(second_, false);
    slot.negatable = std::exchange(negatable_, false);
    slot.sink = name == "_";
    if (address) {
      if (const Definition* d = definition(definitions_, name)) explain(slot, d->means);
      slot.takes = Takes::address;
    } else if (const Definition* d = definition(definitions_, name)) {
      explain(slot, d->means);
    } else {
      by_convention(slot);
    }
    form.operands.push_back(slot);
  }

  // "2 x .type", "vector of .type or wider", "number"
  void explain(OperandSlot& slot, std::string_view means) {
    static constexpr std::pair<std::string_view, Takes> kWords[] = {
        {"parts of ", Takes::parts},  {"vector of ", Takes::vector}, {"fragment of ", Takes::fragment},
        {"number", Takes::number},    {"label", Takes::label},       {"table", Takes::table},
        {"anything", Takes::anything}};
    constexpr std::string_view kRegister = "register of ";
    slot.no_number = means.starts_with(kRegister);
    if (slot.no_number) means.remove_prefix(kRegister.size());
    for (const auto& [word, takes] : kWords) {
      if (!means.starts_with(word)) continue;
      slot.takes = takes;
      means.remove_prefix(word.size());
    }
    if (means.size() > 4 && means.substr(1, 3) == " x ") {
      slot.times = static_cast<unsigned>(means[0] - '0');
      means.remove_prefix(4);
    }
    slot.wider = means.ends_with(" or wider");
    slot.sink = means.ends_with(" or _");
    if (means.empty()) return;
    if (slot.takes == Takes::number) return limits(slot, means);
    WG_ASSERT(means[0] == '.');
    type_by_name(slot, word_at(means, 1));
  }

  // " 128", " 24 to 256 by 8"
  static void limits(OperandSlot& slot, std::string_view text) {
    std::uint16_t* const to[] = {&slot.least, &slot.largest, &slot.apart};
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) < text.size(); ++count) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      WG_ASSERT(count < std::size(to));
      std::from_chars(text.data() + at, text.data() + end, *to[count]);
      at = end;
    }
    if (count == 1) slot.largest = slot.least;
  }

  bool type_by_name(OperandSlot& slot, std::string_view word) {
    for (std::size_t k = 0; k < form.types.size(); ++k) {
      if (form.types[k].name != word) continue;
      slot.type_slot = static_cast<int>(k);
      return true;
    }
    slot.type = scalar_type_from_name(word).value_or(ScalarType::none);
    return slot.type != ScalarType::none;
  }

  void by_convention(OperandSlot& slot) {
    static constexpr std::pair<std::string_view, ScalarType> kNames[] = {
        {"p", ScalarType::pred},          {"q", ScalarType::pred},      {"cache-policy", ScalarType::b64},
        {"policy", ScalarType::b64},      {"state", ScalarType::b64},   {"membermask", ScalarType::b32},
        {"count", ScalarType::u32},       {"txCount", ScalarType::u32}, {"waitComplete", ScalarType::pred},
        {"phaseParity", ScalarType::u32}, {"stride", ScalarType::u32}};
    for (const auto& [name, type] : kNames) {
      if (slot.name != name) continue;
      slot.type = type;
      return;
    }
    // The type slot of the operand's own suffix (b and .btype), else of the result's or the sources' suffix.
    const std::string own = std::string(slot.name) + "type";
    const bool result = form.operands.empty();
    for (std::string_view word :
         {std::string_view(own), result ? std::string_view("dtype") : "stype", std::string_view("type"),
          result ? std::string_view("dtype") : "atype", std::string_view("dtype")})
      if (type_by_name(slot, word) && slot.type_slot >= 0) return;
    if (form.types.empty())
      slot.takes = Takes::anything;
    else
      slot.type_slot = 0;
  }

  const std::vector<Definition>& definitions_;
  bool second_ = false, negatable_ = false;
  bool in_parts_ = false;  // after a comma in brackets
};

// A modifier that selects one form excludes the forms that do not mention it: mul.wide is not mul.lo.
void exclude_other_forms(std::vector<SyntaxForm>& forms, const std::vector<std::vector<Modifier>>& mentioned) {
  std::vector<Modifier> decisive;
  for (const SyntaxForm& f : forms)
    for (const auto& one_of : f.required) decisive.insert(decisive.end(), one_of.begin(), one_of.end());
  for (std::size_t k = 0; k < forms.size(); ++k)
    for (Modifier m : decisive)
      if (std::find(mentioned[k].begin(), mentioned[k].end(), m) == mentioned[k].end()) forms[k].excluded.push_back(m);
}

std::vector<SyntaxForm> read_syntax(const OpcodeInfo& info) {
  std::vector<SyntaxForm> forms;
  std::vector<std::vector<Modifier>> mentioned;
  std::vector<std::string_view> texts;
  std::string_view rest = info.syntax;
  // Forms end with ';'. The definitions of the forms read so far extend to the next opcode's text.
  while (!rest.empty()) {
    const std::size_t semicolon = std::min(rest.find(';'), rest.size());
    texts.push_back(trimmed(rest.substr(0, semicolon)));
    rest.remove_prefix(std::min(semicolon + 1, rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.starts_with(info.text)) continue;
    const std::size_t next = std::min(rest.find(std::string("; ") + std::string(info.text)), rest.size());
    const std::vector<Definition> definitions = definitions_of(rest.substr(0, next));
    for (std::string_view text : texts) {
      FormReader reader(info, text, definitions);
      forms.push_back(std::move(reader.form));
      mentioned.push_back(std::move(reader.mentioned));
    }
    texts.clear();
    rest.remove_prefix(std::min(next + 2, rest.size()));
  }
  exclude_other_forms(forms, mentioned);
  return forms;
}

Arity arity_of(const std::vector<SyntaxForm>& forms, std::string_view syntax) {
  Arity all;
  bool first = true;
  for (const SyntaxForm& f : forms) {
    Arity one;
    for (const TypeSlot& t : f.types) one.minimum_types = static_cast<std::uint8_t>(one.minimum_types + !t.optional);
    for (const OperandSlot& o : f.operands) {
      ++one.maximum;
      one.minimum = static_cast<std::uint16_t>(one.minimum + !o.optional);
      one.address = one.address || (o.takes == Takes::address && !o.optional);
    }
    if (first) all = one;
    all.minimum = std::min(all.minimum, one.minimum);
    all.maximum = std::max(all.maximum, one.maximum);
    all.minimum_types = std::min(all.minimum_types, one.minimum_types);
    all.address = all.address && one.address;
    first = false;
  }
  if (syntax.find("{...}") != std::string_view::npos) all.maximum = 64;
  return all;
}

}  // namespace

const std::vector<SyntaxForm>& syntax_forms(Opcode opcode) {
  static const auto& table = *new auto([] {
    std::array<std::vector<SyntaxForm>, kOpcodes> t;
    for (unsigned i = 0; i < kOpcodes; ++i) t[i] = read_syntax(info(static_cast<Opcode>(i)));
    return t;
  }());
  return table[static_cast<unsigned>(opcode)];
}

const Arity& arity(Opcode opcode) {
  static const auto table = [] {
    std::array<Arity, kOpcodes> t;
    for (unsigned i = 0; i < kOpcodes; ++i) {
      const auto o = static_cast<Opcode>(i);
      t[i] = arity_of(syntax_forms(o), info(o).syntax);
    }
    return t;
  }();
  return table[static_cast<unsigned>(opcode)];
}

}  // namespace warpgrind::ptx
