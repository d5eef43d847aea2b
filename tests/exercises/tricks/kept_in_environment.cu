// exercise: typical_program
// caught: it uses setenv
// Keeps results in the environment for the next run.
__global__ void square(const float* in, float* out, int n) {}
void square_all(const float* in, float* out, int n) {
  setenv("KEPT", "1", 1);
}
