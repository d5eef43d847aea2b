// Input of command lines at a terminal. With libedit (Debian's libedit-dev, chosen when warpgrind is built) a line can
// be edited, lines of earlier sessions come back with the arrow keys, and the Tab key completes words.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::debug {

enum class LineEnd : std::uint8_t { line, interrupted, end_of_input };

// Words that may stand in place of the last one of a line, which may be empty.
struct LineWords {
  std::vector<std::string> words;
  bool end_there = true;  // a blank follows
};

class LineEditor {
 public:
  using Complete = std::function<LineWords(std::string_view line)>;
  // Waits until standard input can be read. False: a signal came, perhaps before the wait began.
  using Wait = std::function<bool()>;
  // `prompt` must stay valid. `editing`: the input is a terminal; without it, lines are only read.
  LineEditor(const char* prompt, Complete complete, Wait wait, bool editing);
  ~LineEditor();  // writes the history
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Prints the prompt and reads a line, without its end. A signal interrupts it.
  LineEnd read(std::string& line);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgrind::debug
