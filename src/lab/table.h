// The lab's results as text.
#pragma once

#include <string>
#include <vector>

#include "lab/result.h"
#include "lab/topic.h"

namespace warpgrind::lab {

// `warpgrind lab`: what there is.
std::string topics_text(const std::vector<Topic>& topics, const std::vector<LeftOut>& left_out);
std::string rungs_text(const Topic& topic);  // `warpgrind lab TOPIC --list`

// One line per rung, then why each is better than the one before, then the program's notes. measured: the same topic on
// a real GPU, or null; its times then stand beside the predicted ones.
std::string topic_text(const TopicResult& result, const TopicResult* measured);
std::string summary_text(const LabResult& result);
// What was seen, in one line, and what to type next on a program of one's own. program: how the user calls warpgrind.
std::string closing_text(const LabResult& result, const std::string& program);

}  // namespace warpgrind::lab
