#!/usr/bin/env python3
"""make_png.py KIND FILE: writes a PNG of 13 x 10 pixels (rows x columns), made by hand: no library
chooses its form.

KIND: rgb, rgba, rgb16, grey, grey1 (1 bit), palette, interlaced; truncated (the first 60 %), broken (wrong checksum),
huge (a header that promises 100000 x 100000 pixels).
"""
import struct
import sys
import zlib

ROWS, COLUMNS = 13, 10
# colour type, bits, samples a pixel
FORMS = {"rgb": (2, 8, 3), "rgba": (6, 8, 4), "rgb16": (2, 16, 3), "grey": (0, 8, 1), "grey1": (0, 1, 1),
         "palette": (3, 8, 1)}
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def line(kind, r, columns):
    colour, bits, samples = FORMS[kind]
    if bits == 1:
        text = "".join(str((r + c) % 2) for c in columns)
        return bytes(int(text[i:i + 8].ljust(8, "0"), 2) for i in range(0, len(text), 8))
    values = [(40 * s + 17 * r + 11 * c) % (4 if colour == 3 else 256) for c in columns for s in range(samples)]
    return b"".join(bytes([v] * (bits // 8)) for v in values)


def png(kind):
    form = kind if kind in FORMS else "rgb"
    colour, bits, _ = FORMS[form]
    rows, columns = (100000, 100000) if kind == "huge" else (ROWS, COLUMNS)
    header = struct.pack(">IIBBBBB", columns, rows, bits, colour, 0, 0, kind == "interlaced")
    passes = ADAM7 if kind == "interlaced" else [(0, 0, 1, 1)]
    lines = b"".join(b"\0" + line(form, r, range(left, COLUMNS, across))
                     for top, left, down, across in passes for r in range(top, ROWS, down))
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    if colour == 3:
        out += chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 20, 20, 20]))
    out += chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    if kind == "broken":
        out = out[:-20] + bytes([out[-20] ^ 1]) + out[-19:]
    return out[:len(out) * 6 // 10] if kind == "truncated" else out


def main():
    kind, path = sys.argv[1:]
    with open(path, "wb") as file:
        file.write(png(kind))


if __name__ == "__main__":
    main()
