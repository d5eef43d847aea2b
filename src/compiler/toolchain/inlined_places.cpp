#include "toolchain/inlined_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace warpgrind::toolchain {

namespace {

constexpr std::string_view kFileNote = "// inlined file ", kPlaceNote = "// inlined place ";
constexpr std::uint64_t kFirstNumber = 1u << 30;  // launchpass/inlined_places.h

// Reads words off the front of a line.
class NoteWords {
 public:
  explicit NoteWords(std::string_view rest) : rest_(rest) {}
  std::uint64_t number() {
    skip();
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
    good_ = good_ && error == std::errc();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return n;
  }
  std::string_view rest() {
    skip();
    return rest_;
  }
  bool good() const { return good_; }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  std::string_view rest_;
  bool good_ = true;
};

struct InlinedPlace {
  std::uint64_t file = 0, line = 0, column = 0;  // file: its number in the notes
  std::uint64_t around = 0;                      // number of the place of the call; 0: none
  std::string_view function;
};

class InlinedDirectives {
 public:
  explicit InlinedDirectives(std::string_view ptx) {
    for_lines(ptx, [this](std::string_view line) { collect(line); });
  }
  std::string rewrite(std::string_view ptx) {
    std::string out;
    out.reserve(ptx.size() + ptx.size() / 4);
    for_lines(ptx, [&](std::string_view line) {
      if (line.find("// inlined ") != std::string_view::npos && is_note(line)) return;
      if (line.starts_with("{")) latest_.clear();  // a function begins
      const std::string_view text = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
      if (text.starts_with(".loc")) {
        NoteWords words(text.substr(4));
        const std::uint64_t file = words.number(), number = words.number(), column = words.number();
        if (words.good() && number > kFirstNumber && places_.contains(number - kFirstNumber)) {
          locate(number - kFirstNumber, out);
          return;
        }
        latest_[{file, number, column}] = 0;
      }
      out.append(line).append("\n");
    });
    for (const std::string& file : new_files_) out += file;
    if (!strings_.empty()) out += "\t.section\t.debug_str\n\t{\n" + strings_ + "\t}\n";
    return out;
  }
  bool empty() const { return places_.empty(); }

 private:
  template <class F>
  static void for_lines(std::string_view ptx, F&& f) {
    while (!ptx.empty()) {
      const auto end = ptx.find('\n');
      f(ptx.substr(0, end));
      ptx = end == std::string_view::npos ? std::string_view{} : ptx.substr(end + 1);
    }
  }
  static bool is_note(std::string_view line) {
    return line.find(kFileNote) != std::string_view::npos || line.find(kPlaceNote) != std::string_view::npos;
  }

  void collect(std::string_view line) {
    const std::string_view text = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (text.starts_with(".file")) {
      NoteWords words(text.substr(5));
      const std::uint64_t number = words.number();
      std::string_view name = words.rest();
      last_file_ = std::max(last_file_, number);
      name = name.substr(std::min(name.find('"') + 1, name.size()));
      name = name.substr(0, name.rfind('"'));
      ptx_files_.emplace(name, number);
    } else if (text.starts_with(kFileNote)) {
      NoteWords words(text.substr(kFileNote.size()));
      const std::uint64_t number = words.number();
      names_[number] = words.rest();
    } else if (text.starts_with(kPlaceNote)) {
      NoteWords words(text.substr(kPlaceNote.size()));
      const std::uint64_t number = words.number();
      InlinedPlace place;
      for (std::uint64_t* n : {&place.file, &place.line, &place.column, &place.around}) *n = words.number();
      place.function = words.rest();
      // The places around it have smaller numbers, so that a chain ends.
      if (words.good() && place.around < number) places_[number] = place;
    }
  }

  // Number of the file in the PTX, which may lack it: all its code may be inlined.
  std::uint64_t file_of(const InlinedPlace& place) {
    const std::string_view name = names_[place.file];
    const auto [known, is_new] = ptx_files_.try_emplace(name, last_file_ + 1);
    if (is_new) new_files_.push_back(fmt::format("\t.file\t{} \"{}\"\n", ++last_file_, name));
    return known->second;
  }

  std::uint64_t label_of(std::string_view function) {
    const auto [known, is_new] = labels_.try_emplace(function, labels_.size());
    if (is_new) {
      strings_ += fmt::format("$L__inlined_name{}:\n.b8 ", known->second);
      for (const char c : function) strings_ += fmt::format("{},", static_cast<unsigned char>(c));
      strings_ += "0\n";
    }
    return known->second;
  }

  // Writes the place and, where the PTX lacks them, those around it. `inlined_at` names the latest .loc of a place.
  void locate(std::uint64_t number, std::string& out) {
    std::vector<std::uint64_t> chain;
    for (std::uint64_t n = number; places_.contains(n); n = places_[n].around) chain.push_back(n);
    for (std::size_t k = chain.size(); k-- > 0;) {
      const InlinedPlace& place = places_[chain[k]];
      const std::uint64_t file = file_of(place);
      std::uint64_t& latest = latest_[{file, place.line, place.column}];
      const bool there = latest == chain[k];
      latest = chain[k];
      if (there && k != 0) continue;
      out += fmt::format("\t.loc\t{} {} {}", file, place.line, place.column);
      if (const auto around = places_.find(place.around); around != places_.end()) {
        if (!place.function.empty()) out += fmt::format(", function_name $L__inlined_name{}", label_of(place.function));
        out +=
            fmt::format(", inlined_at {} {} {}", file_of(around->second), around->second.line, around->second.column);
      }
      out += "\n";
    }
  }

  std::unordered_map<std::uint64_t, InlinedPlace> places_;
  std::unordered_map<std::uint64_t, std::string_view> names_;      // of the files of the notes
  std::unordered_map<std::string_view, std::uint64_t> ptx_files_;  // numbers of the PTX's .file directives
  std::uint64_t last_file_ = 0;
  std::vector<std::string> new_files_;
  std::unordered_map<std::string_view, std::uint64_t> labels_;
  std::string strings_;  // contents of .debug_str
  // The place that the latest .loc of a file, line and column in the function stands for; 0: code that was not inlined.
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t> latest_;
};

}  // namespace

std::string with_inlined_places(std::string_view ptx) {
  InlinedDirectives directives(ptx);
  return directives.empty() ? std::string(ptx) : directives.rewrite(ptx);
}

}  // namespace warpgrind::toolchain
