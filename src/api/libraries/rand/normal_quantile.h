// Inverse of the normal distribution function, for generators that must use exactly one number for each result.
#pragma once

namespace warpgrind::libraries::rand {

// p: greater than 0, less than 1.
double normal_quantile(double p);

}  // namespace warpgrind::libraries::rand
