"""Parser of the expected findings in the comments of cases/*.cu; README.md has their grammar."""
import pathlib
import re
import shlex

HERE = pathlib.Path(__file__).resolve().parent
SEVERITIES = ("INFO", "WARNING", "ERROR")
IDS = re.compile(r"((?:C\d{3}\s+)+)(.*)")
CASE = re.compile(r'CASE\((C\d{3}),\s*"((?:[^"\\]|\\.)*)"\)\s*\{(?:\s*//\s*(\w+))?')
ITEM = re.compile(r"([\w.]+)([=~])(.*)", re.S)


class Place:
    """A line that takes part in an expected finding, and what its access has to be."""

    def __init__(self, line, wanted):
        self.line, self.wanted = line, wanted


class Group:
    """One expected finding."""

    def __init__(self, severities, kinds):
        self.severities, self.kinds = severities, kinds
        self.places, self.some = [], []          # all of these lines; at least one of these
        self.origins, self.causes = [], []       # lines
        self.count, self.words, self.origin_words = None, [], []

    def name(self):
        return "|".join(self.severities) + " " + "|".join(self.kinds)


class Expectation:
    def __init__(self, case, area, line):
        self.case, self.area, self.line = case, area, line
        self.name = self.what = ""
        self.groups = {}        # by kind, with its tag
        self.allowed = []       # (severity, kind): at most this severity
        self.lines = set()      # that an expected finding may name
        self.options = []
        self.clean = self.hangs = False

    def is_bug(self):
        return bool(self.groups)


def code_line(lines, index):
    """Number of the line that a comment is about: its own, or the next with code when it stands alone."""
    while lines[index].split("//")[0].strip() == "":
        index += 1
    return index + 1


def add_finding(e, words, line):
    severities = words[0].split("|")
    assert all(s in SEVERITIES for s in severities), f"{words[0]} is no severity"
    key, items = words[1], words[2:]
    group = e.groups.setdefault(key, Group(severities, key.split("#")[0].split("|")))
    assert group.severities == severities, f"{key}: two severities"
    wanted = {}
    for item in items:
        if item == "some":
            continue
        name, sign, value = ITEM.fullmatch(item).groups()
        if name == "count":
            group.count = int(value)
        elif name == "message":
            group.words.append(value)
        elif name == "origin.object":
            group.origin_words.append(value)
        elif name in ("thread", "block"):
            wanted[name] = [int(x) for x in value.split(",")]
        elif name in ("access", "object", "bytes"):
            wanted[name] = int(value) if name == "bytes" else value
        else:
            raise ValueError(f"{item}: no such item")
        assert (sign == "~") == (name in ("message", "origin.object", "object")), f"{item}: = and ~ are different"
    if "some" in items:
        group.some.append(line)
    else:
        group.places.append(Place(line, wanted))


def add_place(e, words, line, late):
    kind = words[1].removeprefix("of=") if len(words) > 1 else None
    late.append((e, words[0], kind, line))


def add(e, text, line, late):
    words = shlex.split(text)
    if words[0] == "clean":
        e.clean = True
    elif words[0] == "at-most":
        e.allowed.append((words[1], words[2]))
        e.clean = True
    elif words[0] == "may":
        e.allowed.append((words[1], words[2]))
    elif words[0] == "hangs_on_gpu":
        e.hangs = True
    elif words[0] == "options":
        e.options += words[1:]
    else:
        e.lines.add(line)
        if words[0] in ("origin", "cause"):
            add_place(e, words, line, late)
        elif words[0] != "any":
            add_finding(e, words, line)


def read_area(path):
    lines = path.read_text().split("\n")
    text = "\n".join(lines)
    cases, late = {}, []
    for m in CASE.finditer(text):
        e = cases[m[1]] = Expectation(m[1], path.stem, text.count("\n", 0, m.start()) + 1)
        e.what, e.name = re.sub(r"\\(.)", r"\1", m[2]), m[3] or ""
    for index, line in enumerate(lines):
        for part in line.split("//!")[1:]:
            found = IDS.fullmatch(part.strip())
            assert found, f"{path}:{index + 1}: {part!r}"
            for case in found[1].split():
                assert case in cases, f"{path}:{index + 1}: no {case} here"
                try:
                    add(cases[case], found[2].strip(), code_line(lines, index), late)
                except (AssertionError, AttributeError, ValueError) as error:
                    raise SystemExit(f"{path}:{index + 1}: {error}")
    for e, what, kind, line in late:
        groups = [g for key, g in e.groups.items() if kind in (None, key)]
        assert groups, f"{path}:{line}: {what} of no finding"
        for group in groups:
            getattr(group, what + "s").append(line)
    for e in cases.values():
        assert bool(e.groups) != e.clean, f"{path}: {e.case} expects {'two things' if e.clean else 'nothing'}"
    return cases


def read_all():
    cases = {}
    for path in sorted((HERE / "cases").glob("*.cu")):
        for case, e in read_area(path).items():
            assert case not in cases, f"{case} is in {path} and in {cases[case].area}.cu"
            cases[case] = e
    return dict(sorted(cases.items()))


def read_pending(cases, file="pending.txt"):
    """{id: reason} of the cases that no checker finds yet; pending_clang.txt: in programs of clang. A line may name a whole area."""
    pending = {}
    for line in (HERE / file).read_text().splitlines():
        if line and not line.startswith("#"):
            case, _, reason = line.partition(" ")
            assert reason.strip(), f"{file}: {case} needs a reason"
            area = [e.case for e in cases.values() if e.area == case]
            pending |= dict.fromkeys(area or [case], reason.strip())
    return pending
