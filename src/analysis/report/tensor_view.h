// The part of `warpgrind explain` that shows the tensor copies of a source line.
#pragma once

#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

// Instructions of one line that copy in the same direction, with the kinds of boxes that they move. Draws the most
// frequent kind and the one with the most bytes outside of the tensor. `sites`: not empty, each with copies.
std::string tensor_copies_view(const std::vector<const results::SiteProfile*>& sites, const GpuModel& model,
                               const TextOptions& options);

// The facts and drawings of copies of one kind. short_form: without what another kind of the same tensor has said.
std::string tensor_copy_text(const results::TensorCopyProfile& copy, const GpuModel& model, const TextOptions& options,
                             bool short_form = false);

}  // namespace warpgrind::report
