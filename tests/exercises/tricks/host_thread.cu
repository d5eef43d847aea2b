// exercise: typical_program
// caught: it uses std::thread
// A thread of the host goes on after the time was taken.
#include <thread>
__global__ void square(const float* in, float* out, int n) {}
void square_all(const float* in, float* out, int n) {
  std::thread([=] {
    for (int i = 0; i < n; ++i) out[i] = in[i] * in[i];
  }).detach();
}
