// Programs to start from: short ones of our own, the exercises, and the lab's.
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
  std::string text;  // of an exercise: what is to be done
};
std::optional<StartingSource> starting_source(const std::string& name);  // nullopt: not one of them

bool is_exercise(const std::string& name);  // of base/installation.h's exercises_folder()

// The lab's sources, whose programs include its harness; empty: they are not on this machine.
std::string lab_sources();

}  // namespace warpgrind::serve
