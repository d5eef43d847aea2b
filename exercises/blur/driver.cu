void judge::test() {
  struct Size {
    int width, height;
  };
  const std::vector<Size> sizes =
      judge::counted()
          ? std::vector<Size>{{256, 256}}
          : std::vector<Size>{
                {1, 1}, {32, 8}, {50, 21}, {7, 40}, {judge::further_size(2, 40), judge::further_size(2, 40, 1, 1)}};
  for (const auto [w, h] : sizes) {
    const auto in = judge::numbers(w * h);
    std::vector<float> right(w * h), by_nine(w * h);
    if (judge::expecting())
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          float sum = 0;
          int count = 0;
          for (int v = std::max(0, y - 1); v <= std::min(h - 1, y + 1); ++v)
            for (int u = std::max(0, x - 1); u <= std::min(w - 1, x + 1); ++u) sum += in[v * w + u], ++count;
          right[y * w + x] = sum / count;
          by_nine[y * w + x] = sum / 9;
        }
    const judge::Buffer<float> din(in), dout(w * h);
    blur<<<dim3(judge::blocks(w, 32), judge::blocks(h, 8)), dim3(32, 8)>>>(din, dout, w, h);
    if (!judge::ran(judge::rows_by_columns(h, w))) return;
    judge::compare(judge::rows_by_columns(h, w), dout.read(), right, w,
                   {{"At the border the sum is divided by 9, although fewer pixels were added", by_nine}});
  }
}
