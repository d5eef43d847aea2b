// Starting points for the editor: short programs of our own, the exercises, and the lab's programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpgrind::serve {

struct StartingPoint {
  std::string name;   // "short/coalescing"
  std::string group;  // "First steps", "Exercises", "Lab"
  std::string title;
};

std::vector<StartingPoint> starting_points();
struct StartingSource {
  std::string source;
  std::string text;  // of an exercise: the task
};
std::optional<StartingSource> starting_source(const std::string& name);  // nullopt: unknown name

bool is_exercise(const std::string& name);  // one of base/installation.h's exercises_folder()

// Folder of the lab's sources, whose programs include its harness; empty: not on this machine.
std::string lab_sources();

}  // namespace warpgrind::serve
