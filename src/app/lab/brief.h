// Summary of a topic on one screen: its question, the ladder of the largest problem or the range of each sweep, and the
// lesson.
#pragma once

#include <string>

#include "lab/course.h"
#include "lab/result.h"

namespace warpgrind::lab {

constexpr std::size_t kBriefLines = 24;  // at most, besides rows that were wrong

// `measured`: the same topic on a real GPU, or null. `words`: of its chapter, or empty.
std::string brief_text(const TopicResult& result, const TopicResult* measured, const ChapterWords& words);

}  // namespace warpgrind::lab
