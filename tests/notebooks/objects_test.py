"""run, check, explain and diff: their data, texts, HTML and exceptions."""
import os
import pathlib
import tempfile
import time
import xml.etree.ElementTree as Xml

import warpgrind
from samples import COPY, OUTSIDE, WAITS, WRONG
from warpgrind import drawing, program


def expect(error, function, *words):
    try:
        function()
    except error as raised:
        for word in words:
            assert word in str(raised), (word, str(raised))
        return raised
    raise AssertionError(f"{error.__name__} is not raised")


def well_formed(html):
    """All elements are closed, and nothing comes from elsewhere."""
    Xml.fromstring(f"<body>{html}</body>".replace("&#9654;", ">".replace(">", "&gt;")))
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "") and "<script" not in html, html


def runs():
    near = warpgrind.run(COPY, gpu="t4")
    assert near.output == "done with 0 arguments\n" and near.exit_code == 0 and near.gpu == "Tesla T4", repr(near)
    kernel = near.kernels["copy"]
    assert kernel.global_load_sectors_per_request == 4 and kernel.counters["launches"] == 1
    assert near.counters["copy"]["global_store_sectors_per_request"] == 4
    assert near.data["format"] == 2 and isinstance(near.data["kernels"][0], dict)
    assert [line["line"] for line in near.lines() if line["global_sectors"]] == [4], near.lines()
    far = warpgrind.run(COPY, args=["x"], gpu="t4")
    assert far.output == "done with 1 argument\n" and far.kernels["copy"].global_load_sectors_per_request == 32
    for one in (near, near.source(), near.bars("time"), far):
        well_formed(one._repr_html_())
    assert "load sectors / request 4" in repr(near) and "global ld" in near.text
    return near, far


def explains(near, far):
    drawn = warpgrind.explain(far, line="to[i] = from")
    site = drawn.sites[0]
    assert site["patterns"][0]["sectors"] == 32 and site["kind"] == "load" and drawn.line == 4, site
    assert drawn._repr_html_().count("<svg") == 2 and "32 sectors (ideal 4)" in drawn._repr_html_() and "more lines" not in drawn._repr_html_()
    assert "a stride of 8 elements" in repr(drawn)
    well_formed(drawn._repr_html_())
    assert warpgrind.explain(far).line == 4  # the line that costs most
    expect(warpgrind.Refused, lambda: warpgrind.explain(far, line=3), "line 3 of copy has no access", "these lines have: 4")
    expect(warpgrind.Refused, lambda: warpgrind.explain(far, line="nowhere"), "nowhere")
    expect(KeyError, lambda: warpgrind.explain(near, kernel="paste"), "no kernel called", "copy")
    expect(warpgrind.Refused, lambda: warpgrind.explain(warpgrind.run(COPY, detail=False)), "detail=True")


def draws():
    words = {"space": "global", "alignment": 4, "lane_bytes": 4, "addresses": [4 * i for i in range(31)] + [None]}
    picture = Xml.fromstring(drawing.access(words))
    texts = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("30") == 1 and "31" not in texts and "+0" in texts and "+128" not in texts, texts
    banks = {"space": "shared", "alignment": 0, "lane_bytes": 4, "addresses": [128 * i for i in range(32)]}
    texts = [t.text for t in Xml.fromstring(drawing.access(banks)).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[-32:] == ["32"] + ["0"] * 31 and "... 25 more rows" in texts, texts
    same = dict(banks, addresses=[0] * 32)
    texts = [t.text for t in Xml.fromstring(drawing.access(same)).iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("#") == 1 and texts[-32:] == ["1"] + ["0"] * 31, texts


def differs(near, far):
    change = warpgrind.diff(far, near)
    rows = {row["counter"]: row for row in change.changes["copy"]}
    assert rows["global_load_sectors_per_request"]["before"] == 32 and rows["global_load_sectors_per_request"]["verdict"] == "better", rows
    assert rows["global_excessive_sectors"]["after"] == 0
    assert "-87.5 %" in repr(change) and "global ld sectors" in change.text
    well_formed(change._repr_html_())
    assert warpgrind.diff(near, near).changes == {"copy": []} and warpgrind.diff(near, near).speedup == 1
    worse = {row["counter"]: row["verdict"] for row in warpgrind.diff(near, far).changes["copy"]}
    assert worse["global_load_sectors"] == "worse", worse
    expect(KeyError, lambda: warpgrind.diff(near, far, pairs=("copy", "paste")), "paste")


def checks():
    found = warpgrind.check(OUTSIDE)
    assert found.bad and found.exit_code == 3, (found, found.exit_code)
    first = found.findings[0]
    assert first.kind == "oob-global-write" and first.line == 2 and first.severity == "ERROR", first.json
    assert "p[threadIdx.x] = 1;" in found._repr_html_() and "by thread (16,0,0) of block (0,0,0)" in found._repr_html_()
    well_formed(found._repr_html_())
    clean = warpgrind.check(COPY)
    assert not clean.bad and "0 errors, 0 warnings" in repr(clean), clean
    # A plain run stops the kernel, and says where.
    ran = warpgrind.run(OUTSIDE)
    assert ran.exit_code == 3 and ran.findings[0].line == 2, ran
    well_formed(ran._repr_html_())


def refuses():
    wrong = expect(warpgrind.CompileError, lambda: warpgrind.run(WRONG), "does not compile", "no_such_name")
    assert [(m.line, m.is_error) for m in wrong.messages if m.is_error] == [(3, True)], wrong.messages
    expect(warpgrind.Refused, lambda: warpgrind.run(COPY, gpu="t44"), "no GPU model is called")
    expect(warpgrind.Refused, lambda: warpgrind.run("/bin/true"), "no CUDA code found")
    expect(warpgrind.ProgramNotFound, lambda: warpgrind.run("no/such.cu"), "there is no program or source no/such.cu")
    begin = time.monotonic()
    expect(warpgrind.TimedOut, lambda: warpgrind.run(WAITS, timeout=3), "stopped after 3 s")
    assert time.monotonic() - begin < 60
    known = os.environ.pop("WARPGRIND")
    path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
    expect(warpgrind.ProgramNotFound, program.find, "not in PATH", "make wheel")
    os.environ["PATH"], os.environ["WARPGRIND"] = path, "/nowhere/warpgrind"
    expect(warpgrind.ProgramNotFound, program.find, "/nowhere/warpgrind, which is no program")
    os.environ["WARPGRIND"] = known


def takes_files():
    with tempfile.TemporaryDirectory() as folder:
        parts = [pathlib.Path(folder) / name for name in ("a.cu", "b.cu")]
        parts[0].write_text("__global__ void part(int* p) { *p = 5; }\n")
        parts[1].write_text("#include <cstdio>\n__global__ void part(int* p);\nint main() { int* p; cudaMallocManaged(&p, 4); part<<<1, 1>>>(p);\n"
                            "  cudaDeviceSynchronize(); printf(\"%d\\n\", *p + OTHER); int c; while ((c = getchar()) != EOF) putchar(c); }\n")
        ran = warpgrind.run(parts, flags="-DOTHER=2", stdin="typed\n")
        assert ran.output == "7\ntyped\n", ran.output
        assert "part" in ran.kernels


near, far = runs()
explains(near, far)
draws()
differs(near, far)
checks()
refuses()
takes_files()
