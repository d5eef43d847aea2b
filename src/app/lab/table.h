// The lab's results as text tables.
#pragma once

#include <string>
#include <vector>

#include "lab/result.h"
#include "lab/topic.h"

namespace warpgrind::lab {

// List of the topics, for `warpgrind lab`.
std::string topics_text(const std::vector<Topic>& topics, const std::vector<LeftOut>& left_out);
std::string rungs_text(const Topic& topic);  // `warpgrind lab TOPIC --list`

// One line per rung, then why each is better than the one before, then the program's notes. `measured`: the same topic
// on a real GPU, or null; its times are printed beside the predicted ones.
std::string topic_text(const TopicResult& result, const TopicResult* measured);
std::string summary_text(const LabResult& result);
// Closing lines: the result in one line, and the command to try next on the user's own program. `program`: how the user
// calls warpgrind.
std::string closing_text(const LabResult& result, const std::string& program);

}  // namespace warpgrind::lab
