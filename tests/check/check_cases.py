#!/usr/bin/env python3
"""Runs cases of tests/check/cases under `warpgrind check` and compares what it finds with the comments in their sources.

  check_cases.py --list                          the ids of all cases, one a line
  check_cases.py --build DIR [ID|AREA|all]...    runs them; exit code 0 all as expected, 1 not, 77 one that is pending

Every expected finding must be there with its severity, kind, lines and threads, and no other ERROR or WARNING; the exit code is 1
exactly when there is one. A case in pending.txt may fail; one that does not must leave that list. README.md has the rest.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import expectations  # noqa: E402
import whole_run  # noqa: E402

SKIP = 77
TIMEOUT_S = 300


class NoResult(Exception):
    pass


def lines_of(place, area):
    """Lines of the area's source that a place of the profile names, also as the caller of what was inlined."""
    places = [place] + place.get("inlined_at", [])
    return {p["line"] for p in places if pathlib.PurePath(p.get("file", "")).name == area + ".cu" and p.get("line")}


def access_lines(finding, area):
    return set().union(*(lines_of(a, area) for a in finding.get("accesses", [])), set())


def all_text(finding):
    parts = [finding.get("message", ""), finding.get("advice", ""), finding.get("missing", ""), *finding.get("notes", [])]
    parts += [(finding.get("cause") or {}).get("text", "")]
    parts += [a.get("object", "") for a in finding.get("accesses", [])]
    return "\n".join(parts).lower()


def has_access(finding, place, area):
    for a in finding.get("accesses", []):
        if place.line not in lines_of(a, area):
            continue
        w = place.wanted
        same = all(list(a.get(k, [])) == w[k] for k in ("thread", "block") if k in w)
        same &= "bytes" not in w or a.get("bytes") == w["bytes"]
        same &= all(w[k].lower() in a.get(k, "").lower() for k in ("access", "object") if k in w)
        if same:
            return True
    return False


def differences(finding, group, e):
    """Differences between a finding and the expected one; empty: it matches."""
    out = []
    if finding.get("severity") not in group.severities:
        out.append(f"severity {finding.get('severity')}")
    cause, origin = finding.get("cause") or {}, finding.get("origin") or {}
    named = access_lines(finding, e.area) | lines_of(cause, e.area)
    for place in group.places:
        if place.line not in named:
            out.append(f"line {place.line} does not take part")
        elif place.wanted and not has_access(finding, place, e.area):
            wanted = " ".join(f"{k}={v}" for k, v in place.wanted.items())
            out.append(f"no access of line {place.line} with {wanted}")
    if group.some and not named & set(group.some):
        out.append(f"none of lines {group.some} takes part")
    for line in group.origins:
        if line not in lines_of(origin, e.area):
            out.append(f"the origin is not line {line}")
    for line in group.causes:
        if line not in named:
            out.append(f"the cause is not line {line}")
    if group.count is not None and finding.get("count") != group.count:
        out.append(f"count {finding.get('count')}, expected {group.count}")
    text = all_text(finding)
    out += [f"its text has no {word!r}" for word in group.words if word.lower() not in text]
    out += [f"its origin has no {word!r}" for word in group.origin_words
            if word.lower() not in (origin.get("object", "") + origin.get("kind", "")).lower()]
    return out


def strange_lines(finding, e):
    return sorted(access_lines(finding, e.area) - e.lines)


def shown(finding, area):
    places = []
    for a in finding.get("accesses", []):
        of_thread = f" thread {a['thread']} block {a['block']}" if "thread" in a else ""
        lines = ",".join(map(str, sorted(lines_of(a, area)))) or f"{a.get('file')}:{a.get('line')}"
        places.append(f"{a.get('access')} at {lines}{of_thread}")
    return f"{finding.get('severity')} {finding.get('kind')}: {finding.get('message')} [{'; '.join(places)}]"


def is_allowed(finding, e):
    """True if an unexpected finding is allowed: another instance of an expected one, or one that the case permits."""
    for group in e.groups.values():
        if finding["kind"] in group.kinds and finding["severity"] in group.severities and not strange_lines(finding, e):
            return True
    rank = expectations.SEVERITIES.index
    return any(finding["kind"] == kind and rank(finding["severity"]) <= rank(most) for most, kind in e.allowed)


def compare(findings, e):
    problems = []
    for group in e.groups.values():
        of_kind = [f for f in findings if f["kind"] in group.kinds]
        if not of_kind:
            problems.append(f"no finding {group.name()}")
            continue
        best = min((differences(f, group, e) for f in of_kind), key=len)
        problems += [f"{group.name()}: {difference}" for difference in best]
    seen = set()
    for f in findings:
        if f["severity"] == "INFO":
            continue
        if not is_allowed(f, e):
            problems.append("not expected: " + shown(f, e.area))
        what = (f["kind"], tuple((a.get("access"), a.get("file"), a.get("line")) for a in f.get("accesses", [])))
        if what in seen and f.get("accesses"):
            problems.append("twice: " + shown(f, e.area))
        seen.add(what)
    return problems


def check(e, build, compiler, print_command, more):
    """(findings, problems) of a run."""
    name = whole_run.program_name(build, e.area, compiler)
    if not name:
        raise NoResult(f"{build} has no programs by {compiler} (WARPGRIND_BOTH_COMPILERS, cmake/CudaProgram.cmake)")
    program = build / "tests/check" / name
    with tempfile.TemporaryDirectory(prefix="warpgrind-test-") as folder:
        path = pathlib.Path(folder) / "found.json"
        command = [str(build / "bin/warpgrind"), "check", "--json", str(path), *e.options, *more, str(program), e.case]
        if print_command:
            print("$", " ".join(command))
        environment = whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache"))
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S,
                                  env=environment, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise NoResult(f"no end within {TIMEOUT_S} s")
        if not path.exists():
            raise NoResult(f"exit code {done.returncode}, and no JSON:\n{done.stderr[-2000:]}")
        findings = json.loads(path.read_text())["findings"]
    problems = compare(findings, e)
    if report := whole_run.sanitizer_report(done.stderr):
        problems.append(report)
    expected = 1 if any(f["severity"] != "INFO" for f in findings) else 0
    if done.returncode != expected:
        problems.append(f"exit code {done.returncode}, expected {expected}")
    return findings, problems


def run(e, args, pending):
    """"passed", "failed" or "pending"; prints why."""
    findings = []
    try:
        findings, problems = check(e, args.build, args.compiler, args.verbose, args.option)
    except NoResult as error:
        problems = [str(error)]
    file = "pending.txt" if e.case in pending[0] or args.compiler != "clang" else "pending_clang.txt"
    reason = pending[file != "pending.txt"].get(e.case)
    source = f"{e.case} ({e.area}.cu:{e.line}, {e.what})"
    if not problems and reason:
        print(f"FAILED: {source}: passes; take it out of {file} ({reason})")
        return "failed"
    if not problems:
        print(f"passed: {e.case}")
        return "passed"
    if reason and not args.verbose:
        print(f"pending: {e.case}: {reason}")
        return "pending"
    print(("pending: " if reason else "FAILED: ") + source)
    for problem in problems:
        print("  " + problem)
    for f in findings:
        print("    found " + shown(f, e.area))
    return "pending" if reason else "failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the ids")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--compiler", choices=("nvcc", "clang"), help="of the programs, where both are there (default: nvcc)")
    parser.add_argument("--option", action="append", default=[], help="of `warpgrind check`, for all cases: --option=--schedules=4")
    parser.add_argument("--verbose", action="store_true", help="also the command, and what pending cases lack")
    parser.add_argument("which", nargs="*", default=["all"], help="ids, areas (files of cases/), or all")
    args = parser.parse_args()
    args.build = args.build.resolve()
    cases = expectations.read_all()
    pending = [expectations.read_pending(cases, file) for file in ("pending.txt", "pending_clang.txt")]
    if unknown := sorted(set().union(*pending) - set(cases)):
        parser.error(f"pending.txt, pending_clang.txt: no case {unknown}")
    if args.list:
        print("\n".join(cases))
        return 0
    args.compiler = args.compiler or whole_run.compilers(args.build)[0]
    chosen = [e for e in cases.values() if {e.case, e.area, "all"} & set(args.which)]
    if not chosen:
        parser.error(f"no case or area {args.which}")
    if len(chosen) == 1:
        args.verbose = True
    results = [run(e, args, pending) for e in chosen]
    if len(chosen) > 1:
        print(", ".join(f"{results.count(r)} {r}" for r in ("passed", "failed", "pending")))
    if "failed" in results:
        return 1
    return SKIP if results == ["pending"] else 0


if __name__ == "__main__":
    sys.exit(main())
