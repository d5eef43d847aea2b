// The order in which copies and kernels of several pieces are issued, and the time to expect from it. Plain host code.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

enum class Stage { in, kernel, out };
enum class Order { depth_first, breadth_first };

inline const char* name(Order order) {
  return order == Order::depth_first ? "depth-first" : "breadth-first";
}

struct Operation {
  Stage stage;
  int piece, pieces;
};

inline std::vector<Operation> schedule(Order order, int pieces) {
  constexpr Stage kStages[] = {Stage::in, Stage::kernel, Stage::out};
  std::vector<Operation> out;
  if (order == Order::depth_first)
    for (int p = 0; p < pieces; ++p)
      for (const Stage stage : kStages) out.push_back({stage, p, pieces});
  else
    for (const Stage stage : kStages)
      for (int p = 0; p < pieces; ++p) out.push_back({stage, p, pieces});
  return out;
}

struct Span {
  double begin = 0, end = 0;
};

// An event gives the end of an operation. Its begin is the later end of two others: the one before it in its stream and
// the one before it on its engine (kernels or copies).
inline std::vector<Span> spans_of(const std::vector<Operation>& operations, const std::vector<double>& end_us,
                                  bool one_stream, int copy_engines) {
  std::vector<Span> spans;
  std::vector<double> stream_free(operations.size());
  double engine_free[3] = {};
  for (size_t i = 0; i < operations.size(); ++i) {
    const Operation& o = operations[i];
    double& stream = stream_free[one_stream ? 0 : o.piece];
    const bool shared_engine = copy_engines == 1 && o.stage == Stage::out;
    double& engine = engine_free[static_cast<int>(shared_engine ? Stage::in : o.stage)];
    spans.push_back({std::min(end_us[i], std::max(stream, engine)), end_us[i]});
    stream = engine = end_us[i];
  }
  return spans;
}

inline double last_end(const std::vector<Span>& spans) {
  double last = 0;
  for (const Span& s : spans) last = std::max(last, s.end);
  return last;
}

// Mean times of one piece if nothing else runs.
struct Times {
  double in = 0, kernel = 0, out = 0;
};

inline Times times_of(const std::vector<Operation>& operations, const std::vector<Span>& spans) {
  Times t;
  for (size_t i = 0; i < operations.size(); ++i) {
    double& sum = operations[i].stage == Stage::in ? t.in : operations[i].stage == Stage::kernel ? t.kernel : t.out;
    sum += (spans[i].end - spans[i].begin) / operations[i].pieces;
  }
  return t;
}

inline double expected_us(const Times& t, int n, Order order, int copy_engines) {
  const double one = t.in + t.kernel + t.out;
  const double longest_stage = one + (n - 1) * std::max({t.in, t.kernel, t.out});
  if (copy_engines > 1) return longest_stage;
  return order == Order::depth_first ? n * one : std::max(longest_stage, n * (t.in + t.out));
}

// A drawing with one line for each stream.
inline std::string draw(const std::vector<Operation>& operations, const std::vector<Span>& spans, int streams) {
  constexpr int kColumns = 84;
  const double scale = kColumns / std::max(1e-9, last_end(spans));
  std::vector<std::string> lines(streams, std::string(kColumns, '.'));
  for (size_t i = 0; i < operations.size(); ++i) {
    const int begin = std::min(kColumns - 1, static_cast<int>(spans[i].begin * scale));
    const int end = std::max(begin + 1, std::min(kColumns, static_cast<int>(spans[i].end * scale)));
    for (int c = begin; c < end; ++c) lines[operations[i].piece][c] = "HKD"[static_cast<int>(operations[i].stage)];
  }
  std::string out;
  for (int s = 0; s < streams; ++s) out += "  stream " + std::to_string(s) + " |" + lines[s] + "|\n";
  return out;
}
