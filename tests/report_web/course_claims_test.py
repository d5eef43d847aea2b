#!/usr/bin/env python3
"""What the lab and the course say about results, against these results: those stored of real GPUs and fresh ones of the
virtual GPU.

- Sentences of chapters about a time (faster, nothing is gained) depend on the times: they are outcomes of a step, or cases of
  an answer. Each case holds for some result, and each result has a case.
- "Why" sentences of rows agree with the times and counts of the same rows.

course_claims_test.py --warpgrind BINARY --lab FOLDER [--fresh FILE]   (--fresh: a result of the lab instead of a new run)
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
for name in ("warpgrind", "lab"):
    parser.add_argument(f"--{name}", required=True)
parser.add_argument("--fresh")
arguments = parser.parse_args()
lab = pathlib.Path(arguments.lab)
SAME = 0.02  # as on the page and in src/app/lab/explain.cpp: times that differ by less are the same
FEWEST = 3  # points of a curve, as on the page
failures = []


def check(good, what):
    if not good:
        failures.append(what)


def fresh_results():
    """Quick runs of all topics. gemm has a small size alone, and a GPU without L1 gives answers that newer ones do not."""
    if arguments.fresh:
        return [json.loads(pathlib.Path(arguments.fresh).read_text())]
    runs = [["texture", "--gpu", "gtx280", "--no-models"], ["gemm", "--sizes", "32,64"]]
    runs += [[path.parent.name] for path in sorted(lab.glob("*/chapter.json")) if path.parent.name != "gemm"]
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for words in runs:
            file = pathlib.Path(folder) / "lab.json"
            run = subprocess.run([arguments.warpgrind, "lab", *words, "--no-large", "--json", str(file)], capture_output=True, text=True)
            left_out = run.returncode == 2 and "is not in this build" in run.stderr
            check(left_out or run.returncode == 0, f"warpgrind lab {' '.join(words)}: {run.stdout[-500:]}{run.stderr}")
            if run.returncode == 0:
                out.append(json.loads(file.read_text()))
    return out


stored = [json.loads((lab / f"results/{name}.json").read_text()) for name in ("h200/lab-full", "h100/lab-full", "h200/multigpu-x4", "h100/multigpu-x4", "h200/collectives-x2", "h200/hgemm")]
for topic in json.loads((lab / "results/h200/rungs.json").read_text())["topics"]:  # rows that lab-full.json lacks
    next(t for t in stored[0]["topics"] if t["topic"] == topic["topic"])["rows"] += topic["rows"]
results = stored + fresh_results()
chapters = {path.parent.name: json.loads(path.read_text()) for path in sorted(lab.glob("*/chapter.json"))}


def shown(row):
    return not row.get("skipped") and (row.get("verified") or row.get("blocks", 0) > 0)


def elements(row):
    product = 1
    for n in row["size"]:
        product *= n
    return product


def value_of(row, what):
    if what in ("cpu_us", "gpu_us"):
        return (row.get(what) or {}).get("median", 0)
    if what.startswith("derived."):
        return row.get("derived", {}).get(what[8:], 0)
    metric = lambda key: row.get("metrics", {}).get(key, {}).get("value", 0)
    top, _, bottom = what.removeprefix("metric:").partition(" / ")
    if not bottom:
        return metric(top)
    return metric(top) / metric(bottom) if metric(bottom) else 0


def curve(rows, chart):
    """Points (x, y) of the largest problem at each x, in the order of x."""
    chosen = {}
    at = chart.get("at", {})
    for row in rows:
        parameters = row.get("parameters", {})
        x = elements(row) if chart["x"] == "size" else parameters.get(chart["x"])
        if x is None or (chart["x"] == "size" and parameters != at) or not value_of(row, chart["y"]) > 0:
            continue
        if x not in chosen or elements(row) > elements(chosen[x]):
            chosen[x] = row
    return [(x, value_of(row, chart["y"])) for x, row in sorted(chosen.items())]


def main_problem(rows):
    groups = {}
    for row in rows:
        groups.setdefault((row["size_text"], row["type"]), []).append(row)
    most = max((len(g) for g in groups.values()), default=0)
    good = [g for g in groups.values() if len(g) > most / 2]
    return max(good, key=lambda g: (elements(g[0]), len(g))) if good else []


def drawn(topic, chart):
    """The lines of a chart by name, or none if it is not drawn."""
    rungs = chart.get("rungs") or sorted({r["rung"] for r in topic["rows"] if r["role"] in ("rung", "library")})
    if chart["x"] == "rung":
        rows = main_problem([r for r in topic["rows"] if shown(r) and r["rung"] in rungs and value_of(r, chart["y"]) > 0])
        return {r["rung"]: [(0, value_of(r, chart["y"]))] for r in rows} if len(rows) > 1 else {}
    models = chart.get("models")
    topics = [topic] + [m for m in topic.get("models", []) if m["gpu"] != topic["gpu"]] if models else [topic]
    lines = {}
    for t in topics:
        if isinstance(models, list) and t["gpu"] not in models:
            continue
        for rung in rungs:
            points = curve([r for r in t["rows"] if shown(r) and r["rung"] == rung and (not chart.get("types") or r["type"] in chart["types"])], chart)
            if len(points) >= FEWEST:
                lines[rung if not models else t["gpu"] if len(rungs) == 1 else f"{rung}, {t['gpu']}"] = points
    return {} if models and len(lines) < 2 else lines


CLAIM = re.compile(r"(.+)@(\S+) (<|>) ([\d.]+) (.+)@(\S+)")


def value_at(lines, line, place):
    points = lines.get(line)
    if not points:
        return None
    ys = [y for _, y in points]
    if place in ("first", "last", "least", "most"):
        return {"first": ys[0], "last": ys[-1], "least": min(ys), "most": max(ys)}[place]
    return next((y for x, y in points if x == float(place)), None)


def holds(claim, lines):
    line, place, sign, factor, other, other_place = CLAIM.fullmatch(claim).groups()
    left, right = value_at(lines, line, place), value_at(lines, other, other_place)
    if left is None or right is None:
        return False
    return left < float(factor) * right if sign == "<" else left > float(factor) * right


# Words about times. A sentence with one of them is true of some results and false of others.
EFFECT = re.compile(
    r"\b(faster|slower|as fast|gains? (?:nothing|little|hardly)|nothing is gained|hardly|in vain|worth|"
    r"costs? (?:nothing|little|hardly|more|time|as much)|time (?:stays|is the same)|most of the time|worse|better)\b")


def check_plain(where, text):
    found = EFFECT.search(text)
    check(not found, f"{where}: '{found and found[0]}' depends on results; make it an outcome or a case: {text}")


def check_words(where, words):
    plain = words if isinstance(words, str) else words["text"]
    check_plain(where, plain)
    if isinstance(words, dict):
        check(set(words) <= {"text", "faster", "same", "slower"} and len(words) > 1, f"{where}: outcomes {sorted(words)}")


answers = {}  # (topic, question, number of the case): results in which it is the answer
for name, chapter in chapters.items():
    for step in chapter.get("steps", []):
        check_words(f"{name}, step to {step['rung']}", step["text"])
    for rung, words in chapter.get("rungs", {}).items():
        check_words(f"{name}, {rung}", words)
    for chart in chapter.get("charts", []):
        where = f"{name}, '{chart['question']}'"
        if isinstance(chart.get("answer"), str):
            check_plain(where, chart["answer"])
            continue
        cases = chart["answer"]
        check("if" not in cases[-1], f"{where}: the last case holds always")
        for case in cases[:-1]:
            for claim in case["if"]:
                check(CLAIM.fullmatch(claim), f"{where}: cannot be read: {claim}")
                for line in CLAIM.fullmatch(claim).group(1, 5):
                    rungs = set(chart.get("rungs", [line]))
                    check(line.split(", ")[0] in rungs or chart.get("models"), f"{where}: no line {line}")
        for result in results:
            for topic in result["topics"]:
                lines = drawn(topic, chart) if topic["topic"] == name else {}
                if not lines:
                    continue
                number = next(i for i, c in enumerate(cases) if all(holds(claim, lines) for claim in c.get("if", [])))
                answers.setdefault((name, chart["question"], number), []).append((topic["gpu"], topic["virtual"]))
        # A default run and the stored results are what readers see: there the answer says something about the values.
        for (topic_name, question, number), where_true in answers.items():
            if (topic_name, question) == (name, chart["question"]) and number == len(cases) - 1 and len(cases) > 2:
                continue  # of three cases the last is an answer as well
            if (topic_name, question) == (name, chart["question"]) and number == len(cases) - 1:
                measured = [gpu for gpu, virtual in where_true if not virtual]
                check(not measured, f"{where}: no case holds of what was measured on {measured}")
        for number, case in enumerate(cases[:-1]):
            check((name, chart["question"], number) in answers, f"{where}: no result has the answer '{case['text']}'")


def number_of(text):
    return float(text.replace(" ", "").replace("k", "e3").replace("M", "e6").replace("G", "e9"))


COUNT = r"(\d[\d.]*(?: [kMG])?)"
explained = 0
for result in results:
    for topic in result["topics"]:
        before = {}
        for row in topic["rows"]:
            if not shown(row) or row["role"] != "rung":
                continue
            problem = (row["rung"].partition(" / ")[0] if " / " in row["rung"] else "", row["size_text"], row["type"])
            last, before[problem] = before.get(problem), row
            why = row["derived"].get("why", "")
            if not why or not last:
                continue
            explained += 1
            where = f"{topic['topic']} on {topic['gpu']}, {row['rung']}, {row['size_text']}: {why}"
            t0, t1 = last["derived"]["time_us"], row["derived"]["time_us"]
            order = "faster" if t0 > (1 + SAME) * t1 else "slower" if t1 > (1 + SAME) * t0 else "same"
            for words, meant in (("better than", "faster"), ("faster than", "faster"), ("slower than", "slower")):
                check(not why.startswith(words) or order == meant, f"{where}: the times are {t0} and {t1}")
            check(("Time stays" in why) == (order == "same"), f"{where}: the times are {t0} and {t1}")
            for after, earlier in re.findall(r"Time ([\d.]+) us instead of ([\d.]+) us", why):
                check(abs(float(after) / t1 - 1) < 1e-3 and abs(float(earlier) / t0 - 1) < 1e-3, f"{where}: the table has {t0} and {t1}")
            better, _, worse = why.partition(". The price: ")
            if "does more than" in better or "does more:" in better:
                better, worse = "", better
            for part, sign in ((better, 1), (worse, -1)):
                for after, what, earlier in re.findall(COUNT + r" (?!us)([a-z -]+?) instead of " + COUNT, part):
                    if re.search(r"(requests?|launch(es)?|instructions?|branch(es)?|wavefronts?|sectors? for \w+)$", what):
                        check(sign * (number_of(earlier) - number_of(after)) > 0, f"{where}: {after} and {earlier} {what}")
                for after, earlier in re.findall(COUNT + r" sectors, not " + COUNT, part):
                    check(sign * (number_of(earlier) - number_of(after)) > 0, f"{where}: {after} and {earlier} sectors")
            for after, earlier in re.findall(r"touches ([\d.]+) sectors instead of ([\d.]+)", why):
                check(after != earlier, f"{where}: {after} instead of {earlier}")
            for after, earlier in re.findall(r"uses (\d+) % of [a-z']+(?: sectors')? bytes instead of (\d+) %", why):
                check(after != earlier, f"{where}: {after} % instead of {earlier} %")
check(explained > 50, f"{explained} rows are explained")

for failure in failures:
    print("FAIL", failure)
print(f"{len(results)} results, {len(answers)} answers, {explained} explanations, {len(failures)} failures")
sys.exit(1 if failures else 0)
