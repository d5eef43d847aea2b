// Results that an answer's program wrote down (judge.h has the form of the file). They are not trusted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::exercises {

struct Record {
  std::string name;   // of the case
  std::string bytes;  // results, or the test's own verdict as text
};

// Ends where the file is not of this form.
std::vector<Record> read_records(std::string_view file);

// Which results depend on kernels: those that differ in a run whose kernels do nothing.
std::vector<bool> depend_on_kernels(const std::vector<Record>& usual, const std::vector<Record>& without_kernels);

// The first case whose result depends on kernels in the solution, but not in the answer. Of results below 64 bytes all
// must agree, because few bytes may be the same by chance. Null: there is none.
const Record* computed_elsewhere(const std::vector<Record>& usual, const std::vector<Record>& without_kernels,
                                 const std::vector<bool>& depend);

}  // namespace warpgrind::exercises
