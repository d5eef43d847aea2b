#!/usr/bin/env python3
"""Recordings of `warpgrind run --steps`: programs/steps.cu, as clang compiles it and, where it is installed, nvcc.

  steps_test.py --list
  steps_test.py --build DIR CASE     exit code 0 passed, 1 failed
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import whole_run  # noqa: E402
from debugger_test import run_cases  # noqa: E402

SOURCE = HERE / "programs/steps.cu"
TEXT = ["", *SOURCE.read_text().splitlines()]
COMPILERS = ["clang", *(["nvcc"] if shutil.which("nvcc") or pathlib.Path("/usr/local/cuda/bin/nvcc").exists() else [])]


def line_of(text):
    found = [n for n, line in enumerate(TEXT) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


def warpgrind(build, *words):
    return subprocess.run([str(build / "bin/warpgrind"), "run", "--quiet", *words], capture_output=True, text=True,
                          env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))


def record(build, compiler, *options, arguments=(), result="no error"):
    """The recordings by kernel."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "profile.json"
        run = warpgrind(build, "--steps", "--compiler", compiler, "--json", str(path), *options, str(SOURCE), *arguments)
        assert run.returncode == 0 and result in run.stdout, run.stdout + run.stderr
        profile = json.loads(path.read_text())
    assert any(s["text"] for s in profile["sources"] if s["file"].endswith("steps.cu")), "the source is in the profile"
    return {r["name"].split("(")[0].removeprefix("void "): r for r in profile["recordings"]}


def runs(text):
    """Inverse of src/analysis/recorder/lane_text.h."""
    out = []
    for run in text.split("\t") if text else []:
        head, _, first = run.partition(":")
        count, _, step = head.partition("+")
        out += [str(int(first) + k * int(step)) if step else first for k in range(int(count or 1))]
    return out


def steps_at(recording, line):
    """(step, mask) of all steps at a line. A step without lanes has those of the warp's step before."""
    masks, out = {}, []
    for step in recording["steps"]:
        masks[step["warp"]] = int(step["lanes"], 16) if "lanes" in step else masks[step["warp"]]
        if recording["places"][step["place"]]["line"] == line:
            out.append((step, masks[step["warp"]]))
    return out


def accesses(recording, line, space, kind):
    return [a for step, _ in steps_at(recording, line) for a in step.get("accesses", ()) if (a["space"], a["kind"]) == (space, kind)]


def bank_conflicts(build):
    """The read of a column of the tile: 32 passes without padding, one with it. All else has no conflict."""
    fill, read = line_of("tile[row][threadIdx.x] = "), line_of("= tile[threadIdx.x][row]")
    for compiler in COMPILERS:
        recordings = record(build, compiler)
        for kernel, pitch, passes in (("transpose<0>", 32, 32), ("transpose<1>", 33, 1)):
            r = recordings[kernel]
            columns = accesses(r, read, "shared", "load")
            assert len(columns) == 32 and all(a["wavefronts"] == passes and a["ideal_wavefronts"] == 1 for a in columns), columns[:2]
            assert runs(columns[0]["addresses"]) == [str(4 * pitch * lane) for lane in range(32)], columns[0]
            rows = accesses(r, fill, "shared", "store")
            assert len(rows) == 32 and all(a["wavefronts"] == 1 for a in rows)
            loads, stores = accesses(r, fill, "global", "load"), accesses(r, read, "global", "store")
            assert len(loads) == len(stores) == 32 and all(a["sectors"] == 4 for a in loads + stores)
            assert {r["objects"][a["object"]]["name"] for a in loads} == {"in"}
            assert {r["objects"][a["object"]]["name"] for a in stores} == {"out"}
            assert r["shared"] == [{"name": "tile", "type": f"float[32][{pitch}]", "format": "floating", "offset": 0,
                                    "bytes": 128 * pitch, "element_bytes": 4}], r["shared"]


def contents_of_the_tile(build):
    """The values after all writes are those of the input, and each barrier is waited for by the first warp."""
    for compiler in COMPILERS:
        r = record(build, compiler)["transpose<1>"]
        memory = {}
        for step in r["steps"]:
            for a in step.get("accesses", ()):
                if a["space"] == "shared" and a["kind"] == "store":
                    memory.update(zip(runs(a["addresses"]), (struct.unpack("<f", struct.pack("<I", int(v)))[0] for v in runs(a["values"]))))
        assert memory == {str(4 * (33 * row + column)): float(32 * row + column) for row in range(32) for column in range(32)}
        waits = [(s["warp"], s.get("waits"), s.get("opens")) for s in r["steps"] if "waits" in s]
        assert len(waits) == 2 and [w[1] for w in waits] == ["0", "0"] and waits[0][2] is None and waits[1][2] == "0", waits


def branch(build):
    """Each side of a branch has the lanes that take it, and variables their values of all lanes."""
    for compiler in COMPILERS:
        r = record(build, compiler, "--block", "1,0,0")["split"]
        assert r["index"] == [1, 0, 0] and not r.get("cut"), r["index"]
        taken = sum(1 << lane for lane in range(32) if (32 + lane) % 3 == 0)
        sides = [steps_at(r, line_of(text)) for text in ("out[i] = i;", "out[i] = -i;")]
        assert [[mask for _, mask in side] for side in sides] == [[taken], [taken ^ 0xffffffff]], sides
        assert [len(runs(side[0][0]["accesses"][0]["addresses"])) for side in sides] == [11, 21]
        changes = [c for s in r["steps"] for c in s.get("changes", ()) if r["variables"][c["variable"]]["name"] == "i"]
        assert len(changes) == 1 and runs(changes[0]["values"]) == [str(32 + lane) for lane in range(32)], changes


def limits(build):
    """A long loop is cut, with the reason; the kernel's result is not."""
    r = record(build, "clang", "--steps-limit", "4096", arguments=["long"])["spin"]
    assert len(r["steps"]) == 20000 and r["cut"] == "the block takes more than 20000 steps", (len(r["steps"]), r.get("cut"))


def values_of_global_memory(build):
    """What each lane reads and writes; not where --steps-limit asks for small recordings."""
    fill = line_of("tile[row][threadIdx.x] = ")
    for compiler in COMPILERS:
        r = record(build, compiler)
        first = accesses(r["transpose<0>"], fill, "global", "load")[0]
        numbers = [struct.unpack("<f", struct.pack("<I", int(v)))[0] for v in runs(first["values"])]
        assert numbers == [float(lane) for lane in range(32)], numbers
        assert {o["format"] for o in r["transpose<0>"]["objects"]} == {"floating"}, r["transpose<0>"]["objects"]
        store = accesses(r["split"], line_of("out[i] = -i;"), "global", "store")[0]
        assert runs(store["values"]) == [str(-lane & 0xffffffff) for lane in range(32) if lane % 3], store
        small = record(build, compiler, "--steps-limit", "64")["transpose<0>"]
        assert not any("values" in a for a in accesses(small, fill, "global", "load"))


def structures(build):
    """A structure in shared memory has its numbers, so the page shows them and no bits."""
    for compiler in COMPILERS:
        one, = record(build, compiler, arguments=["partials"])["partials"]["shared"]
        assert (one["name"], one["type"], one["bytes"], one["element_bytes"]) == ("part", "Partial[32]", 384, 12), one
        wanted = [("sum", "floating", 0, 4, 4), ("at.x", "signed", 4, 2, 2), ("at.y", "signed", 6, 2, 2), ("flags", "character", 8, 4, 1)]
        have = [(m["name"], m["format"], m["offset"], m["bytes"], m["element_bytes"]) for m in one["members"]]
        assert [m[:1] + m[2:] for m in have] == [m[:1] + m[2:] for m in wanted], have
        assert [m[1] for m in have[:3]] == [m[1] for m in wanted[:3]] and have[3][1] in ("character", "unsigned"), have


def fault(build):
    """The recording of a kernel that faults ends with the step, and names the lane."""
    line = line_of("out[place] = 1;")
    for compiler in COMPILERS:
        r = record(build, compiler, arguments=["fault"], result="illegal memory access")["outside"]
        assert "write of 4 bytes" in r["fault"]["text"] and r["cut"] == r["fault"]["text"], r["fault"]
        assert r["fault"]["lane"] == 5 and r["fault"]["step"] == len(r["steps"]) - 1, r["fault"]
        step = r["steps"][-1]
        assert step["warp"] == 0 and r["places"][step["place"]]["line"] == line, step


def small_recordings(build):
    """Each recording has its own limit, and says which option sets it."""
    recordings = record(build, "clang", "--steps-limit", "4")
    assert len(recordings) == 3, recordings.keys()
    for name in ("transpose<0>", "transpose<1>"):
        assert recordings[name]["cut"] == "it has 4 KiB; --steps-limit KIB is the limit", recordings[name]["cut"]
        assert 2 < len(recordings[name]["steps"]) < 60, len(recordings[name]["steps"])


def options(build):
    """Wrong combinations are refused with the way out. A run without --steps records nothing."""
    refused = warpgrind(build, "--steps", str(SOURCE))
    assert refused.returncode == 2 and "--report FILE or --json FILE" in refused.stderr, refused.stderr
    refused = warpgrind(build, "--steps", "--no-counters", "--json", "/dev/null", str(SOURCE))
    assert refused.returncode == 2 and "--no-counters" in refused.stderr, refused.stderr
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "profile.json"
        assert warpgrind(build, "--compiler", "clang", "--json", str(path), str(SOURCE)).returncode == 0
        assert "recordings" not in json.loads(path.read_text())


CASES = [bank_conflicts, contents_of_the_tile, branch, values_of_global_memory, fault, structures, small_recordings, limits, options]

if __name__ == "__main__":
    run_cases(CASES, __doc__)
