__global__ void shift(cudaTextureObject_t picture, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    out[y * width + x] = (tex2D<float>(picture, x + 0.5f, y + 0.5f) + tex2D<float>(picture, x + 1.5f, y + 0.5f) +
                          tex2D<float>(picture, x + 0.5f, y + 1.5f) + tex2D<float>(picture, x + 1.5f, y + 1.5f)) /
                         4;
}
