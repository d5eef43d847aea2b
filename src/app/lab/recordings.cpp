#include "lab/recordings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/library_headers.h"

namespace warpgrind::lab {

namespace {

// The kernel of a library has no line of the lab's own.
bool is_own(const results::Recording& recording) {
  return std::any_of(recording.places.begin(), recording.places.end(), [](const results::RecordedPlace& place) {
    return place.line != 0 && !is_library_header(place.file);
  });
}

}  // namespace

void join_recordings(TopicResult& topic, results::Profile& profile) {
  std::map<std::string, Row*> rows;
  for (Row& row : topic.rows) rows.try_emplace(row.range, &row);
  std::set<std::string> files;
  for (results::Recording& recording : profile.recordings) {
    const auto row = rows.find(recording.range);
    if (row == rows.end() || recording.steps.empty() || !is_own(recording)) continue;
    for (const results::RecordedPlace& place : recording.places)
      if (!is_library_header(place.file)) files.insert(place.file);
    row->second->recordings.push_back(static_cast<std::uint32_t>(topic.recordings.size()));
    topic.recordings.push_back(std::move(recording));
  }
  for (results::SourceFile& source : profile.sources)
    if (files.contains(source.file)) topic.recorded_sources.push_back(std::move(source));
}

void take_recordings(TopicResult& topic, TopicResult&& recorded) {
  topic.recordings = std::move(recorded.recordings);
  topic.recorded_sources = std::move(recorded.recorded_sources);
  std::map<std::string, std::vector<std::uint32_t>> by_label;
  for (const Row& row : recorded.rows)
    if (!row.recordings.empty()) by_label.try_emplace(row.label(), row.recordings);
  for (Row& row : topic.rows)
    if (const auto found = by_label.find(row.label()); found != by_label.end()) row.recordings = found->second;
}

}  // namespace warpgrind::lab
