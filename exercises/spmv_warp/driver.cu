void judge::test() {
  for (const int rows : judge::sizes({1, 9, 77}, 256)) {
    const int columns = 400 + rows;
    const auto random = judge::numbers<int>(rows, 3);
    std::vector<int> first(1), column;
    for (int r = 0; r < rows; ++r) {
      // Up to 150 entries, in every second or third column from column r on. Some rows are empty.
      const int count = random[r] < 3 && r > 0 ? 0 : 1 + random[r] * random[r] * 150 / 1000;
      for (int k = 0, at = r; k < count; ++k, at += 2 + (k + r) % 2) column.push_back(at);
      first.push_back(column.size());
    }
    const auto x = judge::numbers(columns, 1), value = judge::numbers(column.size(), 2);
    std::vector<float> right(rows), of_lane_0(rows);
    if (judge::expecting())
      for (int r = 0; r < rows; ++r)
        for (int k = first[r]; k < first[r + 1]; ++k) {
          right[r] += value[k] * x[column[k]];
          if ((k - first[r]) % 32 == 0) of_lane_0[r] += value[k] * x[column[k]];
        }
    const judge::Buffer<int> dfirst(first), dcolumn(column);
    const judge::Buffer<float> dvalue(value), dx(x), y(rows);
    spmv<<<judge::blocks(rows * 32L, 256), 256>>>(dfirst, dcolumn, dvalue, dx, y, rows);
    const std::string name = std::to_string(rows) + " rows";
    if (!judge::ran(name)) return;
    judge::compare(name, y.read(), right, 0,
                   {{"Only the entries of lane 0 are counted: the lanes must add up", of_lane_0}});
  }
}
