// The inverse of the normal distribution function: sequences that must draw one number for each result go by it.
#pragma once

namespace warpgrind::libraries::rand {

// p: between 0 and 1.
double normal_quantile(double p);

}  // namespace warpgrind::libraries::rand
