#!/usr/bin/env python3
"""The course's data against the lab: every topic has a chapter, every section of the documents a rung that exists, and what
the texts name (rungs, parameters, terms, counters) is there.

course_data_test.py --warpgrind BINARY --lab FOLDER --counters FILE
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

parser = argparse.ArgumentParser()
for name in ("warpgrind", "lab", "counters"):
    parser.add_argument(f"--{name}", required=True)
arguments = parser.parse_args()
lab = pathlib.Path(arguments.lab)
failures = []


def check(good, what):
    if not good:
        failures.append(what)


def listed_topics():
    """{topic: {rung: role}} as `warpgrind lab all --list` prints them, and the topics that this build left out."""
    text = subprocess.run([arguments.warpgrind, "lab", "all", "--list"], capture_output=True, text=True, check=True).stdout
    topics, rungs = {}, None
    for line in text.splitlines():
        head = re.match(r"(\w+): .* \(course: ", line)
        if head:
            rungs = topics.setdefault(head[1], {})
        row = re.match(r"(\S.*?) {2,}(rung|bound|sweep|library|host) {2,}", line)
        if row and rungs is not None:
            rungs[row[1]] = row[2]
    overview = subprocess.run([arguments.warpgrind, "lab"], capture_output=True, text=True, check=True).stdout
    out = re.findall(r"^left out: ([\w, ]+) \(", overview, re.M)
    return topics, {name for names in out for name in names.split(", ")}


def texts(value):
    """All strings inside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


topics, left_out = listed_topics()
check(len(topics) >= 10, f"the lab lists topics: {sorted(topics)}")
course = json.loads((lab / "course/course.json").read_text())
terms = json.loads((lab / "course/glossary.json").read_text())["terms"]
chapters = {path.parent.name: json.loads(path.read_text()) for path in sorted(lab.glob("*/chapter.json"))}
names = {t["term"].lower() for t in terms}
counters = pathlib.Path(arguments.counters).read_text()
measured = {t["topic"]: t["rows"] for t in json.loads((lab / "results/h200/lab-full.json").read_text())["topics"]}

for topic in topics:
    check(topic in chapters, f"the topic {topic} has no chapter: lab/{topic}/chapter.json")
    check(topic in course["order"], f"lab/course/course.json has no place for the chapter {topic}")
check(len(set(course["order"])) == len(course["order"]), "a chapter comes twice")
# One order: of the chapters, the weeks of docs/teaching.md, the exercises, and `warpgrind lab`. A beginner starts with the first.
teaching = (lab.parent / "docs/teaching.md").read_text()
weeks = re.findall(r"^\| \d+ \|[^|]*\|([^|]*)\|", teaching, re.M)
check([t for week in weeks for t in re.findall(r"`(\w+)`", week)] == course["order"], "the weeks of docs/teaching.md have another order than the chapters")
check(f"start with the first, `{course['order'][0]}`" in " ".join(course["opening"]), "the opening sends beginners to the first chapter")
exercises = sorted((json.loads(path.read_text()) for path in lab.parent.glob("exercises/*/exercise.json")), key=lambda e: e["order"])
places = [course["order"].index(e["topic"]) for e in exercises]
check(places == sorted(places), "the exercises have another order than the chapters")
listed = [topic for topic in topics if topic in course["order"]]
check(listed == [t for t in course["order"] if t in listed], f"warpgrind lab lists {listed}")
for topic in course["order"]:
    check(topic in topics or topic in left_out, f"the course has a chapter {topic}, the lab has no such topic")


def check_rung(where, topic, choice):
    if topic not in topics:
        check(topic in left_out, f"{where}: no topic {topic}")
        return
    check(choice["rung"] in topics[topic], f"{where}: {topic} has no rung '{choice['rung']}'")
    rows = [r for r in measured.get(topic, []) if r["rung"] == choice["rung"]]
    at = choice.get("at", {})
    check(not rows or any(set(at) <= set(r["parameters"]) for r in rows), f"{where}: {choice['rung']} has no parameters {at}")


check(len(course["documents"]) == 5, "five documents")
for document in course["documents"]:
    check(document["sections"], f"{document['id']} has no sections")
    for section in document["sections"]:
        where = f"{document['id']}, '{section['title']}'"
        check(section["shown"], f"{where}: no rung shows it")
        for choice in section["shown"]:
            check_rung(where, choice["topic"], choice)

for topic, chapter in chapters.items():
    where = f"lab/{topic}/chapter.json"
    check(chapter["topic"] == topic, f"{where}: its topic is {chapter['topic']}")
    check(chapter["question"].strip() and chapter["opening"] and chapter["take_away"], f"{where}: question, opening and take_away")
    recorded = chapter.get("recorded", {"sizes": "1"})
    check(set(recorded) <= {"sizes", "type", "rungs", "slow"} and re.fullmatch(r"[0-9x,]+", recorded["sizes"]), f"{where}: `recorded` has sizes, type, rungs, slow: {recorded}")
    for step in chapter.get("steps", []):
        check(all(t.strip() for t in texts(step["text"])) and "before" in step, f"{where}: a step has a text and what is before it")
        check_rung(where, topic, step)
        check_rung(where, topic, step["before"])
    for rung in [*chapter.get("rungs", {}), *chapter.get("compared", {}), *chapter.get("compared", {}).values()]:
        check_rung(where, topic, {"rung": rung})
    # A ladder is a topic, or in LADDER / VARIANT what is in front of the slash. Its first rung is compared with none.
    ladders = {}
    for rung, role in topics.get(topic, {}).items():
        if role == "rung":
            ladders.setdefault(rung.partition(" / ")[0] if " / " in rung else "", []).append(rung)
    for rung in [later for ladder in ladders.values() for later in ladder[1:] if "rungs" in chapter]:
        check(rung in chapter["rungs"], f"{where}: `rungs` has no sentence for '{rung}'")
    for chart in chapter.get("charts", []):
        check(chart["question"].endswith("?"), f"{where}: '{chart['question']}' is no question")
        for rung in chart.get("rungs", []):
            check_rung(where, topic, {"rung": rung, "at": chart.get("at", {})})
        for metric in chart["y"].removeprefix("metric:").split(" / ") if chart["y"].startswith("metric:") else []:
            check(f"`{metric}`" in counters, f"{where}: no counter {metric}")

    for each in chapter.get("try", []):
        words = each["command"].split()
        check("warpgrind" in words and each["question"].strip(), f"{where}: try '{each}'")
        if words[:2] == ["warpgrind", "lab"]:
            check(words[2] == topic, f"{where}: '{each['command']}' runs another topic")
            rung = words[words.index("--rung") + 1] if "--rung" in words else ""
            check(topic not in topics or any(rung in r for r in topics[topic]), f"{where}: no rung '{rung}'")

for path in sorted(lab.parent.glob("exercises/*/exercise.json")):
    topic = json.loads(path.read_text())["topic"]
    check(topic in chapters, f"{path.parent.name}: no chapter {topic} would name it")

for text in texts([course, chapters, terms]):
    for name in re.findall(r"\[\[([^\]|]+)", text):
        check(name.lower() in names, f"the glossary has no '{name}': {text}")
check(len(names) == len(terms), "a term comes twice")
for term in terms:
    check(term["means"].strip(), f"{term['term']} means nothing")
    for metric in term.get("metrics", []):
        check(f"`{metric}`" in counters, f"'{term['term']}' names no counter: {metric}")
    for other in term.get("see", []):
        check(other.lower() in names, f"'{term['term']}' sees '{other}', which is not there")

for failure in failures:
    print("FAIL", failure)
sections = sum(len(d["sections"]) for d in course["documents"])
print(f"{len(topics)} topics, {len(chapters)} chapters, {sections} sections, {len(terms)} terms, {len(failures)} failures")
sys.exit(1 if failures else 0)
