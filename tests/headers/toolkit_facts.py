#!/usr/bin/env python3
"""Compares our headers with the CUDA toolkit's by compiling: every enumerator, every size of a type and place of a member
that include/ declares must have the same value there. The toolkit's headers are compiled, never read.

  toolkit_facts.py --clang CLANG++ --ours INCLUDE_FOLDER --toolkit INCLUDE_FOLDER HEADER...
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# What the toolkit has no more, and we keep for programs of earlier versions, or have added.
OURS_ALONE = re.compile(r"""cudaErrorApiFailureBase|cudaCGScopeMultiGrid|cudaLaunchAttributeMax|cudaDevAttrCooperativeMultiDeviceLaunch|
    cudaDevAttrMaxTimelineSemaphoreInteropSupported|cudaLaunchParams.*|
    cudaDeviceProp\.(clockRate|memoryClockRate|deviceOverlap|kernelExecTimeoutEnabled|computeMode|
    singleToDoublePrecisionPerfRatio|cooperativeMultiDeviceLaunch|maxTexture1DLinear)""", re.X)


def facts_of(clang, folder, headers):
    """Names of enumerators, types, and members as (type, path)."""
    source = "".join(f"#include <{h}>\n" for h in headers)
    dump = subprocess.run([clang, "-x", "c++", "-std=c++17", "-isystem", folder, "-fsyntax-only", "-Xclang", "-ast-dump=json", "-"],
                          input=source, capture_output=True, text=True, check=True).stdout
    enumerators, members, types = [], [], []

    def fields(record, name, path):
        unnamed = None
        for child in record.get("inner", []):
            if child.get("kind") == "CXXRecordDecl" and not child.get("name") and not child.get("isImplicit"):
                unnamed = child
                continue
            if child.get("kind") == "FieldDecl":
                here = path + child["name"] if child.get("name") else path.rstrip(".")
                if child.get("name"):
                    members.append((name, here))
                if unnamed:
                    fields(unnamed, name, here + "." if here else "")
            unnamed = None if child.get("kind") == "FieldDecl" else unnamed

    def walk(node):
        kind, name = node.get("kind"), node.get("name", "")
        if kind == "EnumConstantDecl" and re.match(r"cu|CU|NVRTC|NVJITLINK|MAJOR|MINOR|PATCH", name):
            enumerators.append(name)
        elif kind == "CXXRecordDecl" and node.get("completeDefinition") and re.match(r"cuda|CU|curandD|curandH|curandStateM|mtgp32|dim3|u?(char|short|int|long|longlong)\d|float\d|double\d", name):
            types.append(name)
            fields(node, name, "")
            return
        for child in node.get("inner", []):
            walk(child)

    walk(json.loads(dump))
    return enumerators, types, members


def values(clang, folder, headers, facts, known):
    """Value of each fact by a compiler. `known`: only these facts."""
    enumerators, types, members = facts
    rows = [(f"{n}", f"(long long){n}") for n in enumerators]
    rows += [(f"sizeof {t}", f"(long long)sizeof({t})") for t in types]
    rows += [(f"{t}.{m}", f"(long long)offsetof({t}, {m})") for t, m in members]
    rows = [r for r in rows if r[0] not in known]
    with tempfile.TemporaryDirectory() as temporary:
        source = pathlib.Path(temporary) / "facts.cpp"
        while True:
            lines = ["#include <cstddef>", "#include <cstdio>", *[f"#include <{h}>" for h in headers], "int main() {"]
            first = len(lines) + 1
            lines += [f'  std::printf("%s=%lld\\n", "{name}", {expression});' for name, expression in rows]
            source.write_text("\n".join(lines + ["}"]) + "\n")
            built = subprocess.run([clang, "-std=c++17", "-w", "-ferror-limit=0", "-isystem", folder, source, "-o",
                                    f"{temporary}/facts"], capture_output=True, text=True)
            if not built.returncode:
                break
            wrong = {int(n) for n in re.findall(r"facts\.cpp:(\d+):\d+: error", built.stderr)}
            kept = [r for i, r in enumerate(rows) if first + i not in wrong]
            if len(kept) == len(rows):
                sys.exit(built.stderr)
            rows = kept
        out = subprocess.run([f"{temporary}/facts"], capture_output=True, text=True, check=True).stdout
    return dict(line.rsplit("=", 1) for line in out.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clang", default="clang++-19")
    parser.add_argument("--ours", required=True)
    parser.add_argument("--toolkit", required=True)
    parser.add_argument("headers", nargs="+")
    args = parser.parse_args()
    facts = facts_of(args.clang, args.ours, args.headers)
    ours = values(args.clang, args.ours, args.headers, facts, set())
    theirs = values(args.clang, args.toolkit, args.headers, facts, set())
    problems = [f"{n}: ours {v}, the toolkit's {theirs[n]}" for n, v in ours.items() if n in theirs and theirs[n] != v]
    problems += [f"{n}: not in the toolkit" for n in ours if n not in theirs and not OURS_ALONE.fullmatch(n.removeprefix("sizeof "))]
    for problem in problems:
        print(problem)
    print(f"{len(ours)} facts, {len(problems)} problems")
    return 1 if problems or len(ours) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
