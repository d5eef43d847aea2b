#!/usr/bin/env python3
"""Keeps products and sums of the device math library apart.

  uncontract.py IN.ll OUT.ll

Programs are compiled with products and sums fused wherever possible (-fmad=true, -ffp-contract=fast), and that holds for the
whole module, the library's functions too. But arithmetic in two pieces needs the same rounded x*y in two places: as a product,
and in the difference to it. The library writes fma where it wants a fused product. Every other product becomes PTX's mul.rn, which
no compiler fuses. This is the last step, so that the optimiser sees plain products.
"""
import re
import sys


def main():
    source, out = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        text = f.read()
    product = re.compile(r"= fmul (float|double) ([^ ,]+), ([^ ,\n]+).*")
    text = product.sub(lambda m: f"= call {m[1]} @wg_product_{m[1]}({m[1]} {m[2]}, {m[1]} {m[3]})", text)
    left = re.search(r".* fmul .*", text)
    if left:
        sys.exit(f"uncontract.py: a product of a kind that is not known here: {left[0]}")
    for name in ("float", "double"):
        text += f"declare {name} @wg_product_{name}({name}, {name}) memory(none)\n"
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
