void judge::test() {
  struct Size {
    int width, height;
  };
  const std::vector<Size> sizes =
      judge::counted()
          ? std::vector<Size>{{128, 128}}
          : std::vector<Size>{{16, 16}, {33, 20}, {judge::further_size(2, 40), judge::further_size(2, 40, 1, 1)}};
  for (const auto [w, h] : sizes) {
    const auto in = judge::numbers(w * h);
    std::vector<float> right(w * h), corner(w * h);
    if (judge::expecting())
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          const int u = std::min(x + 1, w - 1), v = std::min(y + 1, h - 1), l = std::max(x - 1, 0),
                    t = std::max(y - 1, 0);
          right[y * w + x] = (in[y * w + x] + in[y * w + u] + in[v * w + x] + in[v * w + u]) / 4;
          corner[y * w + x] = (in[y * w + x] + in[y * w + l] + in[t * w + x] + in[t * w + l]) / 4;
        }
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, w, h);
    cudaMemcpy2DToArray(array, 0, 0, in.data(), w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t picture;
    cudaCreateTextureObject(&picture, &resource, &description, nullptr);
    {
      const judge::Buffer<float> out(w * h);
      shift<<<dim3(judge::blocks(w, 32), judge::blocks(h, 8)), dim3(32, 8)>>>(picture, out, w, h);
      const std::string name = judge::rows_by_columns(h, w);
      if (judge::ran(name))
        judge::compare(name, out.read(), right, w,
                       {{"It is not shifted: the centre of a pixel is at x + 0.5", in},
                        {"It is shifted the other way: u = x is half a pixel to the left of the centre", corner}});
    }
    cudaDestroyTextureObject(picture);
    cudaFreeArray(array);
  }
}
