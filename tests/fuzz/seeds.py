#!/usr/bin/env python3
"""seeds.py FOLDER FILE.ptx...: writes each kernel of the files as a module of its own, with what the file has outside of
kernels, for the fuzz target of the whole chain. Long kernels are left out: one compilation should take milliseconds."""
import pathlib
import re
import sys

LONGEST = 6000  # characters


def pieces(text):
    """Top-level pieces of a module: (is a kernel, text)."""
    out, depth, begin = [], 0, 0
    clean = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), text)
    for i, c in enumerate(clean):
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
        if depth == 0 and (c == "}" and "{" in clean[begin:i] and re.search(r"\.(entry|func)\b", clean[begin:i]) or c == ";"):
            piece = text[begin:i + 1]
            out.append((bool(re.search(r"\.entry\b", clean[begin:i])), piece))
            begin = i + 1
    return out


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for path in map(pathlib.Path, sys.argv[2:]):
        text = path.read_text()
        header = "".join(re.findall(r"^\s*\.(?:version|target|address_size)[^\n]*\n", text, re.M))
        body = re.sub(r"^\s*\.(?:version|target|address_size)[^\n]*\n", "", text, flags=re.M)
        parts = pieces(body)
        common = "".join(p for kernel, p in parts if not kernel)
        for number, (kernel, piece) in enumerate(parts):
            module = header + common + piece + "\n"
            if not kernel or len(module) > LONGEST:
                module = header + piece + "\n" if kernel else ""
            if module and len(module) <= LONGEST:
                (folder / f"{path.stem}-{number}.ptx").write_text(module)
                count += 1
    print(f"{count} seeds")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
