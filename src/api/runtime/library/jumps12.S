#define WARPGRIND_RELEASE 12
#include "jumps.S"
