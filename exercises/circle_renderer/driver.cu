void judge::test() {
  struct Size {
    int width, height, circles;
  };
  // Without circles an answer may fill the picture without a kernel. The judge allows it below 64 bytes (15 pixels).
  const auto sizes =
      judge::counted()
          ? std::vector<Size>{{192, 128, 900}}
          : std::vector<Size>{
                {1, 1, 1},
                {5, 3, 0},
                {16, 16, 20},
                {45, 70, 300},
                {128, 33, 600},
                {judge::further_size(2, 90), judge::further_size(2, 90, 1, 1), judge::further_size(1, 600, 1, 2)}};
  for (const auto [width, height, count] : sizes) {
    // All are multiples of 0.5, so that no rounding decides whether a pixel is inside.
    const auto a = judge::numbers<int>(count, 1), b = judge::numbers<int>(count, 2), c = judge::numbers<int>(count, 3),
               d = judge::numbers<int>(count, 4);
    std::vector<float4> circles(count);
    for (int i = 0; i < count; ++i)
      circles[i] = {0.5f * ((a[i] * 32 + b[i]) % (2 * width)), 0.5f * ((c[i] * 32 + d[i]) % (2 * height)),
                    2 + 0.5f * ((a[i] + c[i]) % 22), 0.125f * ((b[i] + d[i]) % 8 + 1)};
    std::vector<float> right(width * height), turned(width * height);
    if (judge::expecting())
      for (int i = 0; i < count; ++i)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) {
            const auto draw = [&](const float4& f, float& pixel) {
              if ((x - f.x) * (x - f.x) + (y - f.y) * (y - f.y) <= f.z * f.z) pixel = 0.5f * pixel + 0.5f * f.w;
            };
            draw(circles[i], right[y * width + x]);
            draw(circles[count - 1 - i], turned[y * width + x]);
          }
    const judge::Buffer<float4> dcircles(circles);
    const judge::Buffer<float> image(width * height);
    render(dcircles, count, image, width, height);
    const std::string name = judge::rows_by_columns(width, height) + ", " + std::to_string(count) + " circles";
    if (!judge::ran(name)) return;
    judge::compare(name, image.read(), right, width, {{"The circles are drawn from the last to the first", turned}});
  }
}
