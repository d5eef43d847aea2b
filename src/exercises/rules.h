// The rules of a rubric, each held against what a run left.
#pragma once

#include <string>

#include "exercises/exercise.h"
#include "exercises/judge.h"
#include "results/profile.h"

namespace warpgrind::exercises {

const char* name(Rule::Kind kind);

// Kernels of the test itself are called judge_...: no rule is about them, unless it names one.
inline constexpr const char* kOfTest = "judge_";
bool is_of_test(const std::string& kernel);
results::Profile of_hand_in(const results::Profile& profile);  // they go to the end

double kernels_ns(const results::Profile& profile);                            // of the hand-in's
double kernel_ns(const results::Profile& profile, const std::string& kernel);  // of one; 0: it did not run
double timeline_ns(const results::Profile& profile);                           // from the first work to the last

Judged judge_counter(const Rule& rule, const results::Profile& profile, bool colour);
Judged judge_copies(const Rule& rule, const results::Profile& profile);
Judged judge_source(const Rule& rule, const std::string& source, const std::string& file);
std::string timeline_text(const results::Profile& profile);  // how much of it ran at once
std::string slowest_kernel_advice(const results::Profile& profile);

std::string without_comments(const std::string& source);  // blanks in their place

}  // namespace warpgrind::exercises
