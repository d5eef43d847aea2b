void judge::test() {
  struct Size {
    int width, height;
  };
  const auto sizes =
      judge::counted()
          ? std::vector<Size>{{128, 64}}
          : std::vector<Size>{
                {1, 1}, {16, 16}, {45, 37}, {7, 70}, {judge::further_size(2, 70), judge::further_size(2, 70, 1, 1)}};
  for (const auto [width, height] : sizes) {
    const auto in = judge::numbers(width * height, 1), weights = judge::numbers(25, 2);
    std::vector<float> right(in.size()), turned(in.size());
    if (judge::expecting())
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int dy = std::max(0, 2 - y); dy < std::min(5, height + 2 - y); ++dy)
            for (int dx = std::max(0, 2 - x); dx < std::min(5, width + 2 - x); ++dx) {
              const float pixel = in[(y + dy - 2) * width + x + dx - 2];
              right[y * width + x] += weights[dy * 5 + dx] * pixel;
              turned[y * width + x] += weights[24 - dy * 5 - dx] * pixel;
            }
    const judge::Buffer<float> din(in), out(in.size());
    convolve(din, weights.data(), out, width, height);
    const std::string name = judge::rows_by_columns(width, height);
    if (!judge::ran(name)) return;
    judge::compare(name, out.read(), right, width, {{"The weights are turned round", turned}, {"It is a copy", in}});
  }
}
