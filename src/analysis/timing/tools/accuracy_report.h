// The judgement of the time model on stored rows, and what is written of it.
#pragma once

#include <string>
#include <vector>

#include "timing/tools/score.h"

namespace warpgrind::timing {

struct Accuracy {
  const GpuModel* model = nullptr;
  const std::vector<StoredRow>* rows = nullptr;
  // Of each row: by the parameters in use, which were fitted on all rows, and by a fit without the row's topic.
  std::vector<Prediction> fitted, left_out;
  bool elsewhere = false;  // fitted on the rows of another GPU: nothing has to be left out
};
Accuracy judge(const GpuModel& model, const std::vector<StoredRow>& rows, bool elsewhere);

std::string text_table(const Accuracy& accuracy);
std::string worst_rows(const Accuracy& accuracy, int count);
std::string markdown(const Accuracy& accuracy, const std::string& svg_path);
std::string svg(const Accuracy& accuracy);  // measured against predicted, both logarithmic
// What CI holds a run against: the median error of each topic, and the rows that are off by more than a factor of 2.
std::string table_csv(const Accuracy& accuracy);
// Empty: nothing. A line for each topic that is more than 2 points worse than the table, and each row that is now off
// by more than a factor of 2.
std::string worse_than(const Accuracy& accuracy, const std::string& table);
std::string intervals_inc(const Accuracy& accuracy);  // timing/intervals.inc

}  // namespace warpgrind::timing
