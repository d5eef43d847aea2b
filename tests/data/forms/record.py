#!/usr/bin/env python3
"""record.py [PTXAS]: asks NVIDIA's assembler about each line of forms.txt and forms_100a.txt (one instruction) and rewrites its mark: '+' it takes
the instruction, '-' it refuses its types or operands (what it refuses for another reason, as an address of 32 bits in global
memory, does not belong here). A new form: add its line with any mark, run this. Registers are named
by their type: %u32_0 to %u32_7.

drawn.txt has random forms, most of them wrong, with a mark for each target of TARGETS. Forms about which the parser and the assembler
differ are not there: those are of suffixes that mean nothing and that the assembler passes over (neg.global_dim.s16)."""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CHUNK = 60  # the assembler gives up after some hundred errors
TARGETS = ("sm_90a", "sm_100a", "sm_120a")  # of drawn.txt


def complaints(ptxas, head, lines):
    """Indices of the lines that it names, and whether it took the whole."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(head + "\n".join(lines) + "\nret;\n}\n")
        file.flush()
        run = subprocess.run([ptxas, "-arch=" + re.search(r"\.target (\w+)", head)[1], file.name, "-o", "/dev/null"], capture_output=True, text=True)
    first = head.count("\n") + 1
    return {int(n) - first for n in re.findall(r"line (\d+); (?:error|fatal)", run.stderr)}, run.returncode == 0


def refused(ptxas, head, lines):
    """Indices of the lines that it refuses. It does not name all of them at once: until it takes the rest."""
    left, out = list(range(len(lines))), set()
    while left:
        bad, good = complaints(ptxas, head, [lines[k] for k in left])
        if good:
            break
        if not bad:  # it stopped without a line
            if len(left) == 1:
                return out | set(left)
            half = len(left) // 2
            for part in (left[:half], left[half:]):
                out |= {part[k] for k in refused(ptxas, head, [lines[k] for k in part])}
            break
        out |= {left[k] for k in bad}
        left = [k for n, k in enumerate(left) if n not in bad]
    return out


def main():
    ptxas = sys.argv[1] if len(sys.argv) > 1 else "ptxas"
    for architecture in ("", "_100a"):
        record(ptxas, (HERE / f"head{architecture}.txt").read_text(), HERE / f"forms{architecture}.txt")
    record_drawn(ptxas, (HERE / "head.txt").read_text(), HERE / "drawn.txt")


def marks(ptxas, head, lines):
    out = []
    for begin in range(0, len(lines), CHUNK):
        chunk = lines[begin:begin + CHUNK]
        bad = refused(ptxas, head, chunk)
        out += ["-" if k in bad else "+" for k in range(len(chunk))]
    return out


def record_drawn(ptxas, head, path):
    lines = [line[len(TARGETS) + 1:] for line in path.read_text().splitlines()]
    of_targets = [marks(ptxas, head.replace("sm_90a", target), lines) for target in TARGETS]
    path.write_text("".join(f"{''.join(found)} {line}\n" for *found, line in zip(*of_targets, lines)))
    print(f"{path.name}: {len(lines)} forms, taken: {', '.join(f'{t} {m.count(chr(43))}' for t, m in zip(TARGETS, of_targets))}")


def record(ptxas, head, path):
    lines = [line[2:] for line in path.read_text().splitlines()]
    marked = [f"{mark} {line}" for mark, line in zip(marks(ptxas, head, lines), lines)]
    path.write_text("\n".join(marked) + "\n")
    print(f"{path.name}: {sum(m[0] == '+' for m in marked)} taken, {sum(m[0] == '-' for m in marked)} refused")


if __name__ == "__main__":
    main()
