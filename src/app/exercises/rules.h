// Rules of a rubric, checked against the profile of a run or the source.
#pragma once

#include <string>

#include "exercises/exercise.h"
#include "exercises/judge.h"
#include "results/profile.h"

namespace warpgrind::exercises {

const char* name(Rule::Kind kind);

// Kernels of the test itself are called judge_...: rules ignore them, except a rule that names one.
inline constexpr const char* kOfTest = "judge_";
bool is_of_test(const std::string& kernel);
results::Profile of_hand_in(const results::Profile& profile);  // with the test's kernels at the end

double kernels_ns(const results::Profile& profile);                            // of the hand-in's kernels
double kernel_ns(const results::Profile& profile, const std::string& kernel);  // of one kernel; 0: it did not run
double timeline_ns(const results::Profile& profile);                           // from the first work to the last

Judged judge_counter(const Rule& rule, const results::Profile& profile, bool colour);
Judged judge_copies(const Rule& rule, const results::Profile& profile);
Judged judge_source(const Rule& rule, const std::string& source, const std::string& file);
std::string timeline_text(const results::Profile& profile);  // how much of the work ran at the same time
std::string slowest_kernel_advice(const results::Profile& profile);

std::string without_comments(const std::string& source);  // replaced by blanks

}  // namespace warpgrind::exercises
