#include "exercises/class_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.h"
#include "exercises/access_picture.h"
#include "report/xml.h"

namespace warpgrind::exercises {

namespace {

using report::escaped;

constexpr const char* kStyle = R"(
:root{--ink:#1b1f24;--soft:#667;--line:#d8dbe0;--good:#1a7f4b;--bad:#c2372e;--part:#b7791f;--ground:#fff;--zone:#f5f6f8}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#9aa3ad;--line:#3a4048;--good:#4cc38a;--bad:#ff7b72;--part:#e3b341;--ground:#15181c;--zone:#1e2228}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,"DejaVu Sans",sans-serif;color:var(--ink);background:var(--ground);margin:0 auto;padding:24px;max-width:1200px}
h1{font-size:24px;margin:0 0 4px}h2{font-size:19px;margin:36px 0 8px}h3{font-size:16px;margin:0}p{margin:4px 0 12px;max-width:75ch}.soft{color:var(--soft)}
.matrix{overflow:auto;max-height:75vh;border:1px solid var(--line);border-radius:6px}
table{border-collapse:separate;border-spacing:0;font-size:13px}th,td{border-bottom:1px solid var(--line);padding:3px 8px;white-space:nowrap}
thead th{position:sticky;top:0;background:var(--zone);vertical-align:bottom;z-index:1}
thead th.e span{writing-mode:vertical-rl;transform:rotate(180deg);font-weight:500}
tbody th{position:sticky;left:0;background:var(--zone);text-align:left;font-weight:500;z-index:1}thead th:first-child{left:0;z-index:2;text-align:left}
td{text-align:center;font-variant-numeric:tabular-nums}td.sum{text-align:right;font-weight:600}
td.g{color:var(--good);font-weight:600}td.p{color:var(--part)}td.b{color:var(--bad)}td.n{color:var(--soft)}
tfoot th{text-align:left}tfoot td,tfoot th{position:sticky;bottom:0;background:var(--zone);border-top:1px solid var(--line);border-bottom:0}
article{border:1px solid var(--line);border-radius:6px;padding:14px 16px;margin:12px 0;overflow-x:auto}
.count{float:right;color:var(--bad);font-weight:600}.students{font-size:13px;color:var(--soft)}
pre{font:12px/1.35 ui-monospace,"DejaVu Sans Mono",monospace;background:var(--zone);padding:10px;border-radius:4px;overflow:auto;max-height:320px}
summary{cursor:pointer;color:var(--soft)}svg{max-width:100%;height:auto;display:block;margin:8px 0}
svg .u{fill:#2f6fde}svg .m{fill:#c9ccd2}svg .e{fill:none;stroke:var(--line)}svg text{fill:var(--soft);font:11px system-ui,"DejaVu Sans",sans-serif}
svg .n{fill:#fff;font-size:9px;text-anchor:middle}svg .l{text-anchor:end}svg .h{text-anchor:middle;font-size:10px}
@media print{.matrix{max-height:none;overflow:visible}pre{max-height:none}})";

const ExerciseMarks* find_marks(const StudentMarks& student, const std::string& exercise) {
  for (const ExerciseMarks& e : student.exercises)
    if (e.exercise == exercise) return &e;
  return nullptr;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Without the marks of code, which are for terminals.
std::string plain(std::string text) {
  std::erase(text, '`');
  return text;
}

std::string first_failure(const ExerciseMarks& e) {
  for (const Mark& mark : e.marks)
    if (mark.points < mark.most) return mark.name + ": " + first_line(mark.text);
  return "solved";
}

std::string matrix_cell(const ExerciseMarks* e) {
  if (!e || !e->handed_in) return "<td class=\"n\" title=\"not handed in\">–</td>";
  const char* kind = e->solved() ? "g" : e->points > 0 ? "p" : "b";
  return fmt::format("<td class=\"{}\" title=\"{}\">{}{}</td>", kind, escaped(first_failure(*e)),
                     e->solved() ? "✓ " : "", fmt::format("{}/{}", e->points, e->most));
}

std::string matrix(const std::vector<StudentMarks>& students, const std::vector<const Exercise*>& exercises) {
  std::string out = "<div class=\"matrix\" tabindex=\"0\"><table><thead><tr><th>student</th>";
  for (const Exercise* e : exercises)
    out += fmt::format("<th class=\"e\" title=\"{}\"><span>{}</span></th>", escaped(e->title), escaped(e->name));
  out += "<th>points</th></tr></thead><tbody>";
  for (const StudentMarks& student : students) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(student.student));
    for (const Exercise* e : exercises) out += matrix_cell(find_marks(student, e->name));
    out += fmt::format("<td class=\"sum\">{} of {}</td></tr>\n", student.points, student.most);
  }
  out += "</tbody><tfoot><tr><th scope=\"row\">solved</th>";
  for (const Exercise* e : exercises) {
    std::size_t handed_in = 0, solved = 0;
    for (const StudentMarks& student : students)
      if (const ExerciseMarks* marks = find_marks(student, e->name)) {
        handed_in += marks->handed_in;
        solved += marks->solved();
      }
    out += fmt::format("<td title=\"solved, of those handed in\">{}/{}</td>", solved, handed_in);
  }
  return out + "<td></td></tr></tfoot></table></div>\n";
}

// A finding with help explains wrong results better than these do.
bool is_explained(const ExerciseMarks& e, const Mark& mark) {
  if (mark.asked != "the results are right") return false;
  return std::any_of(e.marks.begin(), e.marks.end(), [](const Mark& other) {
    return other.points < other.most && other.asked.find("finds nothing") != std::string::npos;
  });
}

struct Mistake {
  const Mark* example = nullptr;
  std::string exercise, file, seen_at;
  std::set<std::string> students;
};

// Mistakes with the same help are the same, whatever the numbers say.
std::vector<Mistake> common_mistakes(const std::vector<StudentMarks>& students) {
  std::map<std::string, Mistake> found;
  for (const StudentMarks& student : students)
    for (const ExerciseMarks& e : student.exercises)
      for (const Mark& mark : e.marks) {
        if (!e.handed_in || mark.points == mark.most || mark.asked.empty() || mark.message.empty()) continue;
        if (mark.text == "judged once the results are right" || is_explained(e, mark)) continue;
        Mistake& mistake = found[e.exercise + "\n" + mark.asked + "\n" + mark.message];
        mistake.students.insert(student.student);
        // The first with a drawing shows more than the first of all.
        if (mistake.example && (mistake.example->access || !mark.access)) continue;
        mistake.example = &mark;
        mistake.exercise = e.exercise;
        mistake.seen_at = student.student;
      }
  std::vector<Mistake> out;
  for (auto& [key, mistake] : found) out.push_back(std::move(mistake));
  std::stable_sort(out.begin(), out.end(),
                   [](const Mistake& a, const Mistake& b) { return a.students.size() > b.students.size(); });
  return out;
}

std::string names_of(const std::set<std::string>& students) {
  constexpr std::size_t kMostNames = 12;
  std::string out;
  std::size_t count = 0;
  for (const std::string& student : students) {
    if (count++ == kMostNames) return out + fmt::format(" and {} more", students.size() - kMostNames);
    out += (out.empty() ? "" : ", ") + escaped(student);
  }
  return out;
}

std::string article(const Mistake& mistake) {
  const Mark& mark = *mistake.example;
  std::string out =
      fmt::format("<article><span class=\"count\">{}</span><h3>{}: {}</h3>",
                  counted(mistake.students.size(), "student"), escaped(mistake.exercise), escaped(plain(mark.asked)));
  out += fmt::format("<p>{}</p>", escaped(mark.message));
  if (mark.access) out += access_picture(*mark.access);
  const std::string seen = first_line(mark.text);
  out += fmt::format("<p class=\"students\">{}</p>", names_of(mistake.students));
  if (seen != mark.message || !mark.details.empty())
    out += fmt::format("<details><summary>as seen at {}</summary><pre>{}\n{}</pre></details>", escaped(mistake.seen_at),
                       escaped(seen), escaped(mark.details));
  return out + "</article>\n";
}

}  // namespace

std::string class_page(const std::vector<StudentMarks>& students, const std::vector<const Exercise*>& exercises) {
  std::size_t handed_in = 0, solved = 0;
  std::string unknown;
  for (const StudentMarks& student : students)
    for (const ExerciseMarks& e : student.exercises) {
      handed_in += e.handed_in;
      solved += e.solved();
      const bool known = std::any_of(exercises.begin(), exercises.end(),
                                     [&](const Exercise* exercise) { return exercise->name == e.exercise; });
      if (!known)
        unknown += fmt::format("<li>{}: {}</li>\n", escaped(student.student),
                               escaped(e.marks.empty() ? e.exercise : e.marks[0].name + ": " + e.marks[0].text));
    }
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>The class</title><style>{}</style></head><body>\n"
      "<h1>The class</h1><p class=\"soft\">{}, {} of {} solved</p>\n",
      kStyle, counted(students.size(), "student"), solved, counted(handed_in, "hand-in"));
  out +=
      "<h2>Points</h2><p class=\"soft\">Points of each exercise; – was not handed in. The first problem "
      "appears when the pointer rests on a cell.</p>\n" +
      matrix(students, exercises);
  out += "<h2>Common mistakes</h2>\n";
  const std::vector<Mistake> mistakes = common_mistakes(students);
  if (mistakes.empty()) out += "<p>None.</p>";
  for (const Mistake& mistake : mistakes) out += article(mistake);
  if (!unknown.empty()) out += "<h2>Files of no exercise</h2><ul>" + unknown + "</ul>\n";
  return out + "</body></html>\n";
}

}  // namespace warpgrind::exercises
