// Groups of a result's rows, shared by its texts: rows of one problem, the same row in another result, rows that
// failed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/result.h"

namespace warpgrind::lab {

const Row* same_row(const TopicResult* other, const Row& row);  // null: absent, or not shown
// Rows grouped by problem: "SIZE TYPE" and its rows.
std::vector<std::pair<std::string, std::vector<const Row*>>> groups(const TopicResult& result);
// The same groups, the largest problem first.
std::vector<std::pair<std::string, std::vector<const Row*>>> largest_groups(const TopicResult& result);
// First and fastest rung of the ladder: at the large size if there is one, otherwise of the largest problem with a
// ladder. If there are several ladders, the first counts. Rows that differ in a parameter (GPUs, streams) are steps of
// one ladder. If there is a single rung, a faster row of a sweep is the other end. Without a rung: null.
std::pair<const Row*, const Row*> ends_of_ladder(const TopicResult& result);
// The rows without a result to verify, one line per reason; empty: all rows have one.
std::string without_result(const TopicResult& t);
std::string failures(const TopicResult& t);  // one line for each row with a wrong result

}  // namespace warpgrind::lab
