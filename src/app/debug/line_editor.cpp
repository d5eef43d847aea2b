// Line input: by libedit, or by the C library.
#include "debug/line_editor.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <filesystem>
#include <utility>

#include "debug/words.h"

#ifdef WARPGRIND_LIBEDIT
#include <histedit.h>
#endif

namespace warpgrind::debug {

#ifdef WARPGRIND_LIBEDIT

namespace {

namespace fs = std::filesystem;

// In the folder of the XDG base directories for what is kept between runs. Empty: the user has no home.
std::string history_file() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  if (state && *state) return std::string(state) + "/warpgrind/debug_history";
  return home && *home ? std::string(home) + "/.local/state/warpgrind/debug_history" : "";
}

// The beginning that all words share.
std::string common_beginning(const std::vector<std::string>& words) {
  std::string out = words[0];
  for (const std::string& word : words)
    while (!word.starts_with(out)) out.pop_back();
  return out;
}

// The part of libedit.
class Editing {
 public:
  Editing(const char* prompt, LineEditor::Complete complete, LineEditor::Wait wait)
      : prompt_(prompt), complete_(std::move(complete)), wait_(std::move(wait)) {
    // Only characters are read by the user's language, no numbers.
    if (!std::setlocale(LC_CTYPE, "") || std::strcmp(std::setlocale(LC_CTYPE, nullptr), "C") == 0)
      std::setlocale(LC_CTYPE, "C.UTF-8");
    history_ = history_init();
    edit_ = el_init("warpgrind", stdin, stdout, stderr);
    if (!good()) return;
    constexpr int kLines = 1000;
    HistEvent event{};
    history(history_, &event, H_SETSIZE, kLines);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!file_.empty()) history(history_, &event, H_LOAD, file_.c_str());
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT, &show_prompt);
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_HIST, history, history_);
    el_set(edit_, EL_GETCFN, &read_character);
    el_set(edit_, EL_ADDFN, "complete-word", "Completes a word", &complete_word);
    el_set(edit_, EL_BIND, "^I", "complete-word", nullptr);
    el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(edit_, nullptr);  // the user's ~/.editrc
  }
  ~Editing() {
    if (good() && !file_.empty()) {
      std::error_code none;
      fs::create_directories(fs::path(file_).parent_path(), none);
      HistEvent event{};
      history(history_, &event, H_SAVE, file_.c_str());
    }
    if (edit_) el_end(edit_);
    if (history_) history_end(history_);
  }
  Editing(const Editing&) = delete;
  Editing& operator=(const Editing&) = delete;

  bool good() const { return edit_ && history_; }

  LineEnd read(std::string& line) {
    int count = 0;
    errno = 0;
    const char* const text = el_gets(edit_, &count);
    if (!text || count <= 0) {
      const bool signal = count < 0 && errno == EINTR;
      el_reset(edit_);
      return signal ? LineEnd::interrupted : LineEnd::end_of_input;
    }
    line.assign(text, static_cast<std::size_t>(count));
    HistEvent event{};
    if (!trim(line).empty()) history(history_, &event, H_ENTER, text);
    return LineEnd::line;
  }

 private:
  static Editing& of(EditLine* edit) {
    void* data = nullptr;
    el_get(edit, EL_CLIENTDATA, &data);
    return *static_cast<Editing*>(data);
  }

  static char* show_prompt(EditLine* edit) {
    return const_cast<char*>(of(edit).prompt_);  // NOLINT: libedit only reads it
  }

  // libedit's own function goes on reading after a signal.
  static int read_character(EditLine* edit, wchar_t* out) {
    constexpr int kLongest = 4;  // bytes of a character
    constexpr char kEnd = 4;     // Ctrl-D. Typed while no editor has the terminal, it comes as a zero.
    if (!of(edit).wait_()) {
      errno = EINTR;
      return -1;
    }
    std::mbstate_t state{};
    for (int i = 0; i < kLongest; ++i) {
      char byte = 0;
      const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
      if (got <= 0) return static_cast<int>(got);
      if (byte == 0) byte = kEnd;
      const std::size_t length = std::mbrtowc(out, &byte, 1, &state);
      if (length <= 1) return 1;
      if (length == static_cast<std::size_t>(-1)) break;
    }
    *out = L'?';
    return 1;
  }

  static unsigned char complete_word(EditLine* edit, int /*key*/) {
    const LineInfo* const line = el_line(edit);
    const std::string_view before(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    const auto [words, end_there] = of(edit).complete_(before);
    if (words.empty()) return CC_REFRESH_BEEP;
    const std::size_t begin = before.find_last_of(" \t") + 1;  // 0 without a blank
    std::string more = common_beginning(words).substr(before.size() - begin);
    if (words.size() == 1 && end_there) more += ' ';
    if (!more.empty()) return el_insertstr(edit, more.c_str()) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
    std::string list = "\n";
    for (const std::string& word : words) list += word + "  ";
    std::puts(list.c_str());
    std::fflush(stdout);
    return CC_REDISPLAY;
  }

  const char* prompt_;
  LineEditor::Complete complete_;
  LineEditor::Wait wait_;
  std::string file_ = history_file();
  EditLine* edit_ = nullptr;
  History* history_ = nullptr;
};

}  // namespace

#else

namespace {

class Editing {
 public:
  Editing(const char*, const LineEditor::Complete&, const LineEditor::Wait&) {}
  bool good() const { return false; }
  LineEnd read(std::string&) { return LineEnd::end_of_input; }
};

}  // namespace

#endif

struct LineEditor::Impl {
  const char* prompt;
  Wait wait;
  std::unique_ptr<Editing> editing;
  std::string ahead;  // bytes that were read behind the last line

  LineEnd read(std::string& line);
};

LineEnd LineEditor::Impl::read(std::string& line) {
  for (;;) {
    if (const std::size_t end = ahead.find('\n'); end != std::string::npos) {
      line = ahead.substr(0, end);
      ahead.erase(0, end + 1);
      return LineEnd::line;
    }
    if (!wait()) return LineEnd::interrupted;
    std::array<char, 4096> buffer;
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return LineEnd::interrupted;
    if (got > 0) {
      ahead.append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    line = std::exchange(ahead, {});
    return line.empty() ? LineEnd::end_of_input : LineEnd::line;
  }
}

LineEditor::LineEditor(const char* prompt, Complete complete, Wait wait, bool editing)
    : impl_(std::make_unique<Impl>(Impl{prompt, wait, nullptr, {}})) {
  if (editing) impl_->editing = std::make_unique<Editing>(prompt, std::move(complete), std::move(wait));
}

LineEditor::~LineEditor() = default;

LineEnd LineEditor::read(std::string& line) {
  LineEnd end = LineEnd::line;
  if (impl_->editing && impl_->editing->good()) {
    end = impl_->editing->read(line);
  } else {
    std::fputs(impl_->prompt, stdout);
    std::fflush(stdout);
    end = impl_->read(line);
  }
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  return end;
}

}  // namespace warpgrind::debug
