// Pixel (x, y) is in[y * width + x].
__global__ void blur(const float* in, float* out, int width, int height) {}
