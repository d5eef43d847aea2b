__global__ void shift(cudaTextureObject_t picture, float* out, int width, int height) {}
