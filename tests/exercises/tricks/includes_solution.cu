// exercise: vector_add
// caught: file not found
// Includes the solution of the installation: no sandbox shows it.
#include "@EXERCISES@/vector_add/solution.cu"
