#define WARPGRIND_RELEASE 11
#include "jumps.S"
