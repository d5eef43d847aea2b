#!/usr/bin/env python3
"""Makes the data of tests/unit/debuginfo_*_test.cpp again: PTX of three compilers, and what llvm-dwarfdump reads in it.

  record.py [WARPGRIND]     WARPGRIND: a built program (build/bin/warpgrind), for inlined_warpgrind.ptx

X.scopes lists the functions, blocks, inlined calls and variables of X.ptx with their lines. An address is a count of
instructions. It comes from llvm-dwarfdump, not from warpgrind: the PTX is written as assembly of x86, with one byte for
each instruction, and assembled by clang.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
NVCC = "/usr/local/cuda/bin/nvcc"
CLANG = ["clang++-19", "-x", "cuda", "-DPLAIN_CLANG", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_90",
         "--cuda-device-only", "-Wno-unknown-cuda-version", "-std=c++17", "-S"]


FOLDER = pathlib.Path("/tmp/debuginfo")  # its name is in the output


def compile_all(warpgrind):
    FOLDER.mkdir(exist_ok=True)
    for source in HERE.glob("*.cu"):
        shutil.copy(source, FOLDER)

    def run(*command):
        subprocess.run(command, check=True, cwd=FOLDER)

    for name in ("shapes", "inlined"):
        run(NVCC, "-G", "-arch=sm_90", "-ptx", f"{name}.cu", "-o", f"{name}_nvcc.ptx")
    run(NVCC, "-lineinfo", "-arch=sm_90", "-ptx", "inlined.cu", "-o", "inlined_lineinfo.ptx")
    run(*CLANG, "-g", "-O0", "shapes.cu", "-o", "shapes_clang.ptx")
    if warpgrind:
        run(warpgrind, "nvcc", "-lineinfo", "-arch=sm_90", "-ptx", "inlined.cu", "-o", "inlined_warpgrind.ptx")


def assembly(ptx):
    """The PTX as assembly of x86: labels, a byte for each instruction, and the DWARF sections."""
    symbol = lambda text: text.replace("$", "_D_")
    sections, code, at = {}, [], 0
    for m in re.finditer(r"\.section\s+(\S+)\s*\{(.*?)\}", ptx, re.S):
        code.append(ptx[at:m.start()])
        at = m.end()
        sections[m.group(1)] = m.group(2)
    code.append(ptx[at:])
    out, defined, used = [".text"], set(), set()
    for line in "\n".join(code).split("\n"):
        line = line.split("//")[0].strip().removesuffix("}").strip()
        if label := re.fullmatch(r"([$\w]+):", line):
            defined.add(label.group(1))
            out.append(symbol(line))
        elif line.endswith(";") and not line.startswith((".", "{ .reg")):
            out.append(".byte 0")
    data = []
    for name, text in sections.items():
        data.append(f'.section {name},"MS",@progbits,1' if name == ".debug_str" else f'.section {name},"",@progbits')
        for line in text.split("\n"):
            line = line.split("//")[0].strip()
            if label := re.fullmatch(r"([$\w]+):", line):
                defined.add(label.group(1))
                data.append(symbol(line))
            elif line:
                size, values = line.split(None, 1)
                values = "0" if values.startswith(".debug") else values
                used.update(re.findall(r"[$_A-Za-z][$\w]*", values))
                data.append({".b8": ".byte", ".b16": ".short", ".b32": ".long", ".b64": ".quad"}[size] + " " + symbol(values))
    data.insert(0, ".data")
    data[1:1] = [symbol(name) + ": .quad 0" for name in sorted(used - defined)]
    return "\n".join(out + data) + "\n"


class Entry:
    def __init__(self, tag, depth):
        self.tag, self.depth, self.attributes, self.children = tag, depth, {}, []


def entries(dump):
    top, path, by_offset = Entry("", -1), [], {}
    path.append(top)
    for line in dump.split("\n"):
        if m := re.match(r"0x([0-9a-f]+):( +)DW_TAG_(\w+)", line):
            entry = Entry(m.group(3), len(m.group(2)))
            while path[-1].depth >= entry.depth:
                path.pop()
            path[-1].children.append(entry)
            path.append(entry)
            by_offset[m.group(1)] = entry
        elif m := re.match(r"\s+DW_AT_(\w+)\s+\((.*)\)$", line):
            path[-1].attributes[m.group(1)] = m.group(2)
    return top, by_offset


def scopes(ptx):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "a.s")
        source.write_text(assembly(ptx))
        subprocess.run(["clang-19", "-c", "--target=x86_64-linux-gnu", source, "-o", f"{folder}/a.o"], check=True)
        dump = subprocess.run(["llvm-dwarfdump-19", "--debug-info", f"{folder}/a.o"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    top, by_offset = entries(dump)

    def get(entry, name):
        while entry:
            if name in entry.attributes:
                return entry.attributes[name].strip('"')
            origin = entry.attributes.get("abstract_origin", entry.attributes.get("specification"))
            entry = by_offset.get(re.match(r"0x(\w+)", origin).group(1)) if origin else None
        return ""

    def register(entry):
        """Of a variable that is in one register, its name."""
        m = re.fullmatch(r"DW_OP_regx 0x(\w+)", get(entry, "location"))
        return " " + bytes.fromhex(m.group(1)).decode() if m else ""

    def code(entry, base):
        if "low_pc" not in entry.attributes:
            return ""
        return " %d-%d" % tuple(int(get(entry, key), 16) - base for key in ("low_pc", "high_pc"))

    out = []

    def write(entry, base, depth):
        indent = "  " * depth
        for tag, word in (("formal_parameter", "parameter"), ("variable", "variable")):
            out.extend(f"{indent}{word} {get(c, 'name')} {get(c, 'decl_line') or 0}{register(c)}"
                       for c in entry.children if c.tag == tag)
        for c in entry.children:
            if c.tag == "lexical_block":
                out.append(f"{indent}block{code(c, base)}")
                write(c, base, depth + 1)
            elif c.tag == "inlined_subroutine":
                name = get(c, "linkage_name") or get(c, "MIPS_linkage_name") or get(c, "name")
                out.append(f"{indent}inlined {name} {get(c, 'decl_line')} called {get(c, 'call_line')}{code(c, base)}")
                write(c, base, depth + 1)

    def find(entry):
        if entry.tag == "subprogram" and "low_pc" in entry.attributes:
            name = get(entry, "linkage_name") or get(entry, "MIPS_linkage_name") or get(entry, "name")
            out.append(f"function {name} {get(entry, 'decl_line')}")
            write(entry, int(get(entry, "low_pc"), 16), 1)
        for child in entry.children:
            find(child)

    find(top)
    return "\n".join(out) + "\n"


def main():
    compile_all(sys.argv[1] if len(sys.argv) > 1 else None)
    for path in sorted(FOLDER.glob("*.ptx")):
        shutil.copy(path, HERE)
        if ".debug_info" in path.read_text():
            (HERE / path.name).with_suffix(".scopes").write_text(scopes(path.read_text()))


if __name__ == "__main__":
    main()
