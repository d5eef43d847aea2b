// Course: the document sections that each rung shows, and the chapters' texts and terms. Its files (lab/course/,
// lab/TOPIC/chapter.json) are beside the topics, and the build copies them beside their programs. docs/lab-format.md
// describes the format.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::lab {

struct ChapterWords {
  std::string question, lesson;  // without markup; lesson: the first point to remember
};

// Run of a topic whose kernels are recorded step by step (`warpgrind lab --steps`).
struct StepsRun {
  std::string sizes, type;         // as --sizes and --type take them; type: empty: all
  std::vector<std::string> rungs;  // as --rung takes them; empty: all
  bool is_slow = false;            // recorded only where it is the only topic
};

struct Course {
  std::string json;                              // all of it as one object, for the report's page; empty: no course
  std::map<std::string, ChapterWords> chapters;  // by topic
  std::map<std::string, StepsRun> steps;         // by topic; topics that are not here are not recorded
  std::vector<std::string> order;                // topics, in the order of the chapters
};

// `folder`: of the programs. If it has no folder course/, there is no course; that is no error. A file that cannot be
// read or has the wrong format is an error. A chapter names its topic's exercises.
Result<Course> read_course(const std::string& folder, const std::string& exercises_folder);

}  // namespace warpgrind::lab
