#!/usr/bin/env python3
"""Machine instructions that ptxas makes of a PTX instruction: the source S of src/engine/sass/costs.inc.

  count_machine_code.py [--arch sm_90a] [--most N] OPCODE...     bfe, vadd4, mbarrier.init

For each form of tests/data/forms/forms.txt that has the opcode: the number of instructions, and their opcodes (12 bits, hexadecimal).
The kernel loads the sources and stores the result. Loads, stores and the end of the kernel are not counted; a predicate that is loaded or
stored adds an ISETP or a SEL, a result of 64 bits up to two moves. Needs ptxas, but no disassembler: an instruction has 16 bytes.
"""
import argparse
import pathlib
import re
import struct
import subprocess
import tempfile

FORMS = pathlib.Path(__file__).resolve().parent.parent / "tests/data/forms/forms.txt"
HEAD = """.version 8.5
.target {arch}
.address_size 64
.extern .shared .align 16 .b8 sh[];
.visible .entry k(.param .u64 p)
{{
.reg .b64 %at; .reg .u32 %truth;
ld.param.u64 %at, [p];
"""
# LDG, STG, LDC, ULDC, EXIT, NOP
UNCOUNTED = {0x981, 0x986, 0xb82, 0xab9, 0x94d, 0x918}
LAST_BRANCH = 0x947


def width(kind):
    return re.sub("[a-z]|x2", "", kind)


def kernel(form, arch):
    """The form with its sources loaded and its results stored. None: it has operands that this cannot do."""
    registers = dict.fromkeys(re.findall(r"%([a-z]\w*?)_(\d)", form))
    results = re.match(r"\S+\s+%(\w+?)_(\d)(?:\|%(\w+?)_(\d))?[,;.]", form)
    text, at = HEAD.format(arch=arch), 0
    for kind, number in registers:
        text += f".reg .{kind} %{kind}_{number};\n"
        if kind == "pred":
            text += f"ld.global.u32 %truth, [%at+{at}]; setp.ne.u32 %pred_{number}, %truth, 0;\n"
        elif width(kind) in ("16", "32", "64"):
            text += f"ld.global.b{width(kind)} %{kind}_{number}, [%at+{at}];\n"
        else:
            return None
        at += 64
    text += form + "\n"
    written = [(results[1], results[2]), (results[3], results[4])] if results else []
    for kind, number in written:
        if kind == "pred":
            text += f"selp.u32 %truth, 1, 0, %pred_{number}; st.global.u32 [%at+{at}], %truth;\n"
        elif kind:
            text += f"st.global.b{width(kind)} [%at+{at}], %{kind}_{number};\n"
        at += 64
    return text + "ret;\n}\n"


def opcodes(cubin):
    """The low 12 bits of each instruction of the kernel, without what follows its end."""
    sections, = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3c)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, sections + 64 * k) for k in range(count)]
    for header in headers:
        name = headers[names][4] + header[0]
        if cubin[name:cubin.index(0, name)] == b".text.k":
            code = cubin[header[4]:header[4] + header[5]]
            found = [struct.unpack_from("<Q", code, k)[0] & 0xfff for k in range(0, len(code), 16)]
            while found and found[-1] in (0x918, LAST_BRANCH):
                found.pop()
            return found
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--most", type=int, default=6, help="forms of an opcode")
    parser.add_argument("opcodes", nargs="+")
    arguments = parser.parse_args()
    forms = [line[2:] for line in FORMS.read_text().splitlines() if line.startswith("+")]
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "k.cubin")
        for opcode in arguments.opcodes:
            chosen = [f for f in forms if re.match(rf"{re.escape(opcode)}[. ;]", f)][:arguments.most]
            for form in chosen:
                text = kernel(form, arguments.arch)
                if text is None:
                    continue
                ptx.write_text(text)
                run = subprocess.run(["ptxas", f"-arch={arguments.arch}", ptx, "-o", cubin], capture_output=True, text=True)
                if run.returncode != 0:
                    print(f"{form}  not alone: {run.stderr.splitlines()[0]}")
                    continue
                code = [o for o in opcodes(cubin.read_bytes()) if o not in UNCOUNTED]
                print(f"{form}  {len(code)}: {' '.join(f'{o:03x}' for o in code[:40])}")


if __name__ == "__main__":
    main()
