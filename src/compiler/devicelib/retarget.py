#!/usr/bin/env python3
"""Turns the LLVM IR of AMD's OCML, the open device math library of ROCm, into IR for NVPTX.

  retarget.py OCML.ll OUT.ll

OCML is plain arithmetic; only four things of it are AMD's own, and each is replaced by name:
- data layout and triple: left out, so that clang gives its own;
- the private address space 5, where its stack variables live: NVPTX makes local memory of generic allocas by itself;
- intrinsics for instructions of AMD's GPUs: what stands for them is in amdgcn_operations.cpp (amdgcn.class alone has a
  generic twin with the same bits, llvm.is.fpclass);
- llvm.exp2.f32 and llvm.log2.f32, which on AMD's GPUs are instructions good to 1 ulp: NVPTX has no such.
Its settings (__oclc_*) are loads of constants that ROCm links in; here they become functions of amdgcn_operations.cpp.
"""
import re
import sys

OPERATIONS = {  # intrinsic -> function of amdgcn_operations.cpp
    "llvm.amdgcn.rcp.f32": "wg_rcp_f32", "llvm.amdgcn.rcp.f64": "wg_rcp_f64",
    "llvm.amdgcn.rsq.f32": "wg_rsq_f32", "llvm.amdgcn.rsq.f64": "wg_rsq_f64",
    "llvm.amdgcn.frexp.mant.f32": "wg_frexp_mant_f32", "llvm.amdgcn.frexp.mant.f64": "wg_frexp_mant_f64",
    "llvm.amdgcn.frexp.exp.i32.f32": "wg_frexp_exp_f32", "llvm.amdgcn.frexp.exp.i32.f64": "wg_frexp_exp_f64",
    "llvm.amdgcn.fract.f32": "wg_fract_f32", "llvm.amdgcn.fract.f64": "wg_fract_f64",
    "llvm.amdgcn.fmed3.f32": "wg_fmed3_f32", "llvm.amdgcn.trig.preop.f64": "wg_trig_preop_f64",
    "llvm.amdgcn.class.f32": "llvm.is.fpclass.f32", "llvm.amdgcn.class.f64": "llvm.is.fpclass.f64",
    "llvm.ldexp.f32.i32": "wg_ldexp_f32", "llvm.ldexp.f64.i32": "wg_ldexp_f64",
    "llvm.amdgcn.ldexp.f32": "wg_ldexp_f32", "llvm.amdgcn.ldexp.f64": "wg_ldexp_f64",
    "llvm.exp2.f32": "wg_exp2_f32", "llvm.log2.f32": "wg_log2_f32",
    "llvm.canonicalize.f32": "wg_canonicalize_f32",
    # a product and a sum that may be fused: they are, so that results do not depend on the optimiser
    "llvm.fmuladd.f32": "llvm.fma.f32", "llvm.fmuladd.f64": "llvm.fma.f64",
}
SETTINGS = ("unsafe_math_opt", "correctly_rounded_sqrt32", "daz_opt", "finite_only_opt", "ISA_version")


def functions(text):
    """The module in pieces: whole function definitions, and single lines of everything else."""
    return re.split(r"(?ms)(^define .*?^}\n)", text)


def is_half(piece):
    """Half precision is the headers' (they compute in float): nothing of OCML's is needed."""
    return re.search(r"\bhalf\b", piece) is not None


def retarget(text):
    text = re.sub(r"(?m)^target .*\n", "", text)
    text = re.sub(r",? addrspace\(5\)", "", text).replace(".p5(", ".p0(")
    text = re.sub(r"addrspacecast (ptr %\w+) to ptr\b", r"bitcast \1 to ptr", text)
    text = text.replace("linkonce_odr protected", "linkonce_odr")
    for old, new in OPERATIONS.items():
        text = text.replace("@" + old + "(", "@" + new + "(")
    for setting in SETTINGS:
        text = re.sub(rf"load (i\d+), ptr addrspace\(4\) @__oclc_{setting}\b.*", rf"call \1 @wg_{setting}()", text)
        text = re.sub(rf"(?m)^@__oclc_{setting} = .*\n", "", text)
    pieces = [p for p in functions(text) if not (p.startswith("define") and is_half(p))]
    lines = []
    declared = set()
    for piece in pieces:
        if piece.startswith("define"):
            lines.append(re.sub(r", !tbaa !\d+|, !range !\d+|, !fpmath !\d+", "", piece))
            continue
        for line in piece.splitlines(True):
            name = re.match(r"declare .*?@([\w.]+)\(", line)
            if line.startswith("!") or line.startswith("source_filename"):
                continue
            if name and (is_half(line) or name[1] in declared or "amdgcn" in name[1]):
                continue
            if name:
                declared.add(name[1])
            lines.append(line)
    text = "".join(lines)
    for setting in SETTINGS:
        width = "i32" if setting == "ISA_version" else "i8"
        text += f"declare {width} @wg_{setting}() memory(none)\n"
    left = sorted(set(re.findall(r"@(llvm\.amdgcn[\w.]+|__oclc_\w+)|(addrspace\([^4]\))", text)))
    if left:
        sys.exit(f"retarget.py: this version of OCML uses what is not known here: {left}")
    return text


def main():
    source, out = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        text = retarget(f.read())
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
