// Rules about the compiled host code of an answer. It is linked with the test into one program, so it must not replace
// anything of the test or the system. It may use only what an answer needs: no files, processes or threads, and nothing
// that ends the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpgrind::exercises {

struct Breach {
  std::string seen;     // "it calls fopen()"
  std::string message;  // what to do
};

// `answer`, `test`: object files. `source`: of the answer, without comments. nullopt: all rules hold.
std::optional<Breach> find_breach(std::string_view answer, std::string_view test, const std::string& source);

}  // namespace warpgrind::exercises
