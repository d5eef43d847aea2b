// Log-normal distributions stand beside the normal ones.
#include "curand_normal.h"
