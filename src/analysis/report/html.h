// HTML report in one file that shows profiles and lab results, for any browser and without a network. The build makes
// the page from web/; this code inserts the data.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::report {

struct HtmlInput {
  std::string title;                  // the program, or the topics
  std::string version;                // of warpgrind
  std::vector<std::string> profiles;  // JSON of results::to_json
  std::string lab, measured;          // JSON of lab results: these, and those of a real GPU to compare with
  std::string course = {};            // JSON: the lab's course (lab/course.h), for results of the lab
  std::string baseline = {};          // JSON: changes since an earlier profile (report/diff_json.h)
};

// Ok if this build has the page; else an error with the reason and the remedy.
Status html_available();

Result<std::string> html_report(const HtmlInput& input);

}  // namespace warpgrind::report
