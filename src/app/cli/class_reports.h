// Reports of `warpgrind exercise check --all` for graders: the table, the page, and files for learning platforms.
#pragma once

#include <vector>

#include "base/result.h"
#include "cli/exercise_command.h"
#include "exercises/exercise.h"
#include "exercises/verdict.h"

namespace warpgrind::cli {

// Writes what the command's options ask for.
Status write_class_reports(const ExerciseCommand& command, const std::vector<exercises::Exercise>& all,
                           const std::vector<exercises::Graded>& graded);

}  // namespace warpgrind::cli
