// exercise: typical_program
// caught: it uses fopen
// Keeps results in a file for the next run.
__global__ void square(const float* in, float* out, int n) {}
void square_all(const float* in, float* out, int n) {
  FILE* kept = fopen("/tmp/kept", "r+");
  if (kept) fclose(kept);
}
