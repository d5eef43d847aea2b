// The course: which sections of the documents each rung shows, the chapters' texts and the words they use. Data beside
// the topics (lab/course/, lab/TOPIC/chapter.json), which the build puts beside their programs; docs/lab-format.md says
// what is in it.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace warpgrind::lab {

struct ChapterWords {
  std::string question, lesson;  // without markup; lesson: the first thing to take away
};

struct Course {
  std::string json;                              // for the report's page: all of it as one object; empty: there is none
  std::map<std::string, ChapterWords> chapters;  // by topic
};

// `folder`: that of the programs. Without a folder course/ there is no course, which is no error; a file that cannot be
// read or is none of its format is one. The exercises of a topic are named in its chapter.
Result<Course> read_course(const std::string& folder, const std::string& exercises_folder);

}  // namespace warpgrind::lab
