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
// The same, the largest problem first.
std::vector<std::pair<std::string, std::vector<const Row*>>> largest_groups(const TopicResult& result);
// First and fastest rung of the ladder: at the large size where there is one, else of the largest problem with a
// ladder. Of several ladders the first counts. Rows that differ in a parameter (GPUs, streams) are steps of one ladder.
// Where there is a single rung, a faster row of a sweep is the other end. Without a rung: null.
std::pair<const Row*, const Row*> ends_of_ladder(const TopicResult& result);
// The rows that have no result to verify, and why, a line for each reason; empty: all have one.
std::string without_result(const TopicResult& t);
std::string failures(const TopicResult& t);  // a line for each row that was wrong

}  // namespace warpgrind::lab
