void judge::test() {
  struct Size {
    int x, y, z;
  };
  const auto sizes = judge::counted() ? std::vector<Size>{{64, 32, 16}}
                                      : std::vector<Size>{{1, 1, 1},
                                                          {33, 9, 5},
                                                          {40, 17, 3},
                                                          {64, 8, 2},
                                                          {judge::further_size(2, 70), judge::further_size(2, 20, 1, 1),
                                                           judge::further_size(1, 6, 1, 2)}};
  for (const auto [nx, ny, nz] : sizes) {
    const auto in = judge::numbers(nx * ny * nz);
    std::vector<float> right(in.size()), shifted(in.size());
    const auto at = [&, nx = nx, ny = ny, nz = nz](int x, int y, int z) {
      return x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz ? 0 : in[(z * ny + y) * nx + x];
    };
    if (judge::expecting())
      for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
          for (int x = 0; x < nx; ++x) {
            const float plane = at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z);
            const float six = plane + at(x, y, z - 1) + at(x, y, z + 1);
            right[(z * ny + y) * nx + x] = 0.25f * at(x, y, z) + 0.125f * six;
            shifted[(z * ny + y) * nx + x] =
                0.25f * at(x, y, z) + 0.125f * (plane + (z ? at(x, y, z) : 0) + at(x, y, z + 1));
          }
    const judge::Buffer<float> din(in), out(in.size());
    stencil<<<dim3(judge::blocks(nx, 32), judge::blocks(ny, 8)), dim3(32, 8)>>>(din, out, nx, ny, nz);
    const std::string name = std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz);
    if (!judge::ran(name)) return;
    judge::compare(name, out.read(), right, 0,
                   {{"The point below is taken for the centre: shift `below` first, then `centre`", shifted},
                    {"It is a copy", in}});
  }
}
