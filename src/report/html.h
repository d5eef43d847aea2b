// One HTML file that shows profiles and results of the lab, for any browser and without a network. The page itself is
// made from web/ when warpgrind is built; here the data is put into it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::report {

struct HtmlInput {
  std::string title;                  // the program, or the topics
  std::string version;                // of warpgrind
  std::vector<std::string> profiles;  // JSON, as results::to_json writes it
  std::string lab, measured;          // JSON of lab results: this one, and one of a real GPU to compare with
  std::string course = {};            // JSON: the lab's course (lab/course.h), for results of the lab
  std::string baseline = {};          // JSON: what changed since an earlier profile (report/diff_json.h)
};

// Ok if this build has the page; else why not, and what to do.
Status html_available();

Result<std::string> html_report(const HtmlInput& input);

}  // namespace warpgrind::report
