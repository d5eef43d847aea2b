// The mode of a run that records the steps of a block: "steps", or "steps X,Y,Z" for another block than 0,0,0.
#pragma once

#include <string>

namespace warpgrind::serve {

// False: another mode, or a block that is not three numbers of at most nine digits.
bool records_steps(const std::string& mode);
// "X,Y,Z", for a mode that records steps.
std::string recorded_block(const std::string& mode);

}  // namespace warpgrind::serve
