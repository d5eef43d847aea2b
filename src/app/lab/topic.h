// Topic of the lab, as its program describes itself (`PROGRAM --describe`, lab/harness/topic.h). No code here knows a
// particular topic: to add one, add a folder to lab/.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::lab {

struct Rung {
  std::string name, what, role;  // role: "rung", "bound", "sweep", "library", "host"
};

struct TopicOption {
  std::string name, fallback, help;
};

struct Topic {
  std::string name, title, document, shows, size_names, quick_sizes, full_sizes, large_sizes, types;
  std::vector<std::string> models;  // GPU models whose counts are shown side by side
  std::vector<Rung> rungs;
  std::vector<TopicOption> options;
  std::string program;  // path

  const TopicOption* option(const std::string& option_name) const;
};

// "000 (COSC 407), 003 (IIT Kharagpur)" -> "COSC 407, IIT Kharagpur": the numbers mean nothing outside this repository.
std::string titles_of_documents(const std::string& documents);

// A topic without a program in this build, and the reason: the build writes them to left_out.txt beside the programs.
struct LeftOut {
  std::string topic, reason;
};
std::vector<LeftOut> left_out_topics(const std::string& folder);

// All programs in `folder` that describe themselves as topics, by name. A program built by clang (NAME_clang) replaces
// a missing NAME. Error: the folder is missing or holds no topic. `library`: our libcudart.so.13, for programs that
// need it but have no path to it.
Result<std::vector<Topic>> find_topics(const std::string& folder, const std::string& library);

// Puts the topics into the order of the course's chapters. Topics without a chapter come last, by name.
void sort_by_chapter(std::vector<Topic>& topics, const std::vector<std::string>& chapters);

// The topic of this name. The error gives the reason if it is left out, otherwise the available topics and the most
// similar name.
Result<const Topic*> find_topic(const std::vector<Topic>& topics, const std::vector<LeftOut>& left_out,
                                const std::string& name);

}  // namespace warpgrind::lab
