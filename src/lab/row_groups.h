// What the texts of a result share: rows of one problem, the same row in another result, rows that were wrong.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/result.h"

namespace warpgrind::lab {

const Row* same_row(const TopicResult* other, const Row& row);  // null: it is not there, or was not shown
// Rows in groups of one problem: "SIZE TYPE" and its rows.
std::vector<std::pair<std::string, std::vector<const Row*>>> groups(const TopicResult& result);
std::string failures(const TopicResult& t);  // a line for each row that was wrong

}  // namespace warpgrind::lab
