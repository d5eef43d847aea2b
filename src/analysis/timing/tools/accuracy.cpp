// Program of `make accuracy`: scores the time estimate against stored measurements. It writes the scores and rows for
// scripts/accuracy.py, a table for comparison with later runs, and the intervals of estimates (timing/intervals.inc).
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "timing/tools/accuracy_report.h"
#include "timing/tools/score.h"

namespace {

using namespace warpgrind;          // NOLINT(google-build-using-namespace)
using namespace warpgrind::timing;  // NOLINT(google-build-using-namespace)

struct Arguments {
  std::string gpu = "h200", results, launches, json, table, intervals, programs, check;
  std::vector<std::pair<std::string, std::string>> beside;  // results and launches
  int worst = 0;
  bool fit = false, elsewhere = false;
};

constexpr const char* kUsage =
    "usage: warpgrind-accuracy RESULTS.json LAUNCHES.csv [--gpu MODEL] [--json FILE] [--table FILE]\n "
    "        [--beside RESULTS.json LAUNCHES.csv]... [--intervals FILE] [--programs CSV] [--check TABLE] [--fit] "
    "[--elsewhere] [--worst "
    "N]\n"
    "  --beside  rows that take no part in any fit, scored by themselves\n  --programs  kernels of public programs, "
    "for the intervals\n  --check   exit code 1 if a "
    "topic's median error is more than 2 points above the table, or if a row's error\n            now exceeds a factor "
    "of 2 and did not before\n  --fit     fits the parameters of timing/fitted.h to all rows and prints them\n  "
    "--elsewhere  the parameters were fitted to rows of another GPU; all rows are predicted with them\n";

bool read(int argc, char** argv, Arguments& out) {
  std::vector<std::string> plain;
  const std::map<std::string, std::string*> texts = {{"--gpu", &out.gpu},           {"--json", &out.json},
                                                     {"--table", &out.table},       {"--intervals", &out.intervals},
                                                     {"--programs", &out.programs}, {"--check", &out.check}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--fit")
      out.fit = true;
    else if (word == "--elsewhere")
      out.elsewhere = true;
    else if (word == "--beside" && i + 2 < argc)
      out.beside.emplace_back(argv[i + 1], argv[i + 2]), i += 2;
    else if (word == "--worst" && i + 1 < argc)
      out.worst = std::atoi(argv[++i]);
    else if (const auto text = texts.find(word); text != texts.end() && i + 1 < argc)
      *text->second = argv[++i];
    else if (word.rfind("--", 0) == 0)
      return false;
    else
      plain.push_back(word);
  }
  if (plain.size() != 2) return false;
  out.results = plain[0];
  out.launches = plain[1];
  return true;
}

bool write(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  const Status written = write_whole(path, text);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written.ok();
}

void print_fit(const GpuModel& model, const std::vector<StoredRow>& rows) {
  std::vector<const StoredRow*> all;
  for (const StoredRow& row : rows) all.push_back(&row);
  const Fitted fitted = fit(model, all, {}, kSweeps);
  for (const FittedMember& m : kFittedMembers) fmt::print("{} = {:.4g}\n", m.name, fitted.*m.value);
  std::vector<double> ratios;
  for (const StoredRow& row : rows) ratios.push_back(predict(model, row, fitted).ns / row.measured_ns);
  const Score s = score(ratios);
  fmt::print("on the same rows: median {:.1f} %, 90 % within {:.1f} %, worst {:.2f}x\n", 100 * s.median, 100 * s.p90,
             s.worst);
}

// Rows of the files `--beside`, in their order; an error if a file has none.
Result<std::vector<StoredRow>> rows_beside(const Arguments& arguments) {
  std::vector<StoredRow> all;
  for (const auto& [results, launches] : arguments.beside) {
    auto rows = read_rows(results, launches);
    if (!rows) return rows.error();
    if (rows->empty()) return Error{ErrorKind::bad_input, results + ": no row with both a time and launches", ""};
    for (StoredRow& row : *rows) all.push_back(std::move(row));
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read(argc, argv, arguments)) return std::fputs(kUsage, stderr), 2;
  const auto model = find_gpu_model(arguments.gpu);
  if (!model) return std::fprintf(stderr, "%s\n", model.error().message.c_str()), 2;
  const auto rows = read_rows(arguments.results, arguments.launches);
  if (!rows) return std::fprintf(stderr, "%s\n", rows.error().message.c_str()), 2;
  if (rows->empty()) return std::fputs("no row has both a measured time and stored launches\n", stderr), 2;
  const auto more = rows_beside(arguments);
  if (!more) return std::fprintf(stderr, "%s\n", more.error().message.c_str()), 2;
  Result<std::vector<ProgramKernel>> programs = std::vector<ProgramKernel>();
  if (!arguments.programs.empty()) programs = read_programs(arguments.programs);
  if (!programs) return std::fprintf(stderr, "%s\n", programs.error().message.c_str()), 2;
  if (arguments.fit) print_fit(**model, *rows);

  const Accuracy accuracy = judge(**model, *rows, arguments.elsewhere);
  const Accuracy beside = judge(**model, *more, true);
  std::fputs(text_table(accuracy).c_str(), stdout);
  if (!more->empty()) std::fputs(("beside the lab's rows\n" + text_table(beside)).c_str(), stdout);
  if (arguments.worst > 0)
    std::fputs((worst_rows(accuracy, arguments.worst) + worst_rows(beside, arguments.worst)).c_str(), stdout);
  const bool written = write(arguments.json, scores_json(accuracy, beside)) &&
                       write(arguments.table, table_csv({&accuracy, &beside})) &&
                       write(arguments.intervals, intervals_inc(accuracy, beside, *programs));
  if (!written) return 2;
  if (arguments.check.empty()) return 0;
  const std::optional<std::string> before = read_whole(arguments.check);
  if (!before) return std::fprintf(stderr, "%s: cannot be read\n", arguments.check.c_str()), 2;
  const std::string worse = worse_than(accuracy, *before) + worse_than(beside, *before);
  std::fputs(worse.c_str(), stderr);
  return worse.empty() ? 0 : 1;
}
