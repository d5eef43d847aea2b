// Accuracy report of the time model on stored rows: tables, data for scripts/accuracy.py, and check against an earlier
// table.
#pragma once

#include <string>
#include <vector>

#include "timing/tools/score.h"

namespace warpgrind::timing {

struct Accuracy {
  const GpuModel* model = nullptr;
  const std::vector<StoredRow>* rows = nullptr;
  // By row. fitted: with the parameters in use, which were fitted on all rows. left_out: with a fit without the row's
  // topic.
  std::vector<Prediction> fitted, left_out;
  bool elsewhere = false;  // the parameters were fitted on another GPU's rows, so no topic must be left out
};
Accuracy judge(const GpuModel& model, const std::vector<StoredRow>& rows, bool elsewhere);

std::string text_table(const Accuracy& accuracy);
std::string worst_rows(const Accuracy& accuracy, int count);
// Scores of all rows and by topic, limit and time; measured and predicted time of each row. scripts/accuracy.py makes
// the document and its chart from it.
// beside: rows that took no part in a fit; a part of its own. No rows: left out.
std::string scores_json(const Accuracy& accuracy, const Accuracy& beside);
// Reference table for CI: the median error of each topic, and the rows that are off by more than a factor of 2.
std::string table_csv(const std::vector<const Accuracy*>& parts);
// Returns a line for each topic that is more than 2 points worse than in the table, and for each row that is off by
// more than a factor of 2 and was not before. Empty: nothing is worse.
std::string worse_than(const Accuracy& accuracy, const std::string& table);
// timing/intervals.inc. Of the lab's rows and of the kernels of public programs, each limit gets the wider interval:
// the lab's are larger and more alike. A limit that fewer than 8 of both have gets that of the rows beside the lab's,
// or of all kernels.
std::string intervals_inc(const Accuracy& accuracy, const Accuracy& beside, const std::vector<ProgramKernel>& programs);

}  // namespace warpgrind::timing
