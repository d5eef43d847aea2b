"""Drawings of accesses as SVG, from the patterns of a profile (docs/profile-format.md)."""
import colorsys

from warpgrind import markup

LANES, LINE_BYTES, SECTOR_BYTES, WORD_BYTES = 32, 128, 32, 4
CELL, ROW, LEFT = 17, 18, 76  # pixels
MOST_ROWS = 8
_EMPTY = "rgba(128,128,128,0.10)"
_MOVED = "rgba(128,128,128,0.38)"
_TEXT = 'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="10"'


def lane_colour(lane):
    """From blue (lane 0) over green to orange (lane 31), light enough for black digits."""
    red, green, blue = colorsys.hls_to_rgb((0.58 - 0.5 * lane / (LANES - 1)) % 1, 0.68, 0.62)
    return f"#{int(red * 255):02x}{int(green * 255):02x}{int(blue * 255):02x}"


def _words(pattern, word_bytes, row_bytes):
    """{number of the word: lanes}, counted from the row of row_bytes in which the access begins."""
    start = (pattern.get("alignment") or 0) % row_bytes
    out = {}
    for lane, offset in enumerate(pattern["addresses"]):
        if offset is None:
            continue
        first = start + offset
        for word in range(first // word_bytes, (first + max(1, pattern["lane_bytes"]) - 1) // word_bytes + 1):
            out.setdefault(word, []).append(lane)
    return out


def _chosen(rows):
    """The rows to draw; None stands for those left out."""
    return rows if len(rows) <= MOST_ROWS else [*rows[:MOST_ROWS - 2], None, rows[-1]]


def _cell(x, y, lanes, moved, title):
    fill = lane_colour(lanes[0]) if lanes else _MOVED if moved else _EMPTY
    label = "" if not lanes else str(lanes[0]) if len(lanes) == 1 else "#"
    text = (f'<text x="{x + CELL / 2:.1f}" y="{y + ROW / 2 + 3.5:.1f}" text-anchor="middle" fill="#111" {_TEXT}>{label}</text>' if label else "")
    return (f'<g><title>{markup.escape(title)}</title><rect x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{CELL - 1}" height="{ROW - 2}" rx="2" '
            f'fill="{fill}"/>{text}</g>')


def _label(x, y, text, anchor="end", colour="currentColor"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" {_TEXT}>{markup.escape(text)}</text>'


def _who(lanes):
    return f"lane {lanes[0]}" if len(lanes) == 1 else f"{len(lanes)} lanes: {', '.join(map(str, lanes[:8]))}{' ...' if len(lanes) > 8 else ''}"


def _svg(width, height, parts, alternative):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{markup.escape(alternative)}" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" style="max-width:100%;height:auto;background:none">{"".join(parts)}</svg>')


def global_access(pattern):
    """A row is a line of 128 bytes, a box in it a word of 4 bytes, a group of eight a sector."""
    words = _words(pattern, WORD_BYTES, LINE_BYTES)
    per_line, per_sector = LINE_BYTES // WORD_BYTES, SECTOR_BYTES // WORD_BYTES
    sectors = {word // per_sector for word in words}
    lines = sorted({word // per_line for word in words})
    parts, y = [], 16
    for sector in range(4):
        parts.append(_label(LEFT + sector * (per_sector * CELL + 6) + per_sector * CELL / 2, 11, f"sector {sector}", "middle", markup.QUIET))
    for line in _chosen(lines):
        if line is None:
            parts.append(_label(LEFT, y + 13, f"... {len(lines) - MOST_ROWS + 1} more lines", "start", markup.QUIET))
            y += ROW
            continue
        parts.append(_label(LEFT - 8, y + 13, f"+{(line - lines[0]) * LINE_BYTES:,}"))
        for i in range(per_line):
            word = line * per_line + i
            lanes, moved = words.get(word, []), word // per_sector in sectors
            title = _who(lanes) if lanes else "moved, but not asked for" if moved else "not moved"
            byte = word * WORD_BYTES - lines[0] * LINE_BYTES
            parts.append(_cell(LEFT + i * CELL + i // per_sector * 6, y, lanes, moved, f"byte +{byte:,}: {title}"))
        y += ROW
    return _svg(LEFT + per_line * CELL + 4 * 6, y + 2, parts, f"{len(sectors)} sectors in {len(lines)} lines")


def shared_access(pattern, banks=32, bank_bytes=4):
    """A column is a bank, a box one word in it. Different words of one bank are served one after the other."""
    words = _words(pattern, bank_bytes, banks * bank_bytes)
    rows = sorted({word // banks for word in words})
    per_bank = [sum(word % banks == bank for word in words) for bank in range(banks)]
    parts, y = [_label(LEFT - 8, 11, "bank", "end", markup.QUIET)], 16
    for bank in range(banks):
        parts.append(_label(LEFT + bank * CELL + CELL / 2, 11, str(bank), "middle", markup.QUIET))
    for row in _chosen(rows):
        if row is None:
            parts.append(_label(LEFT, y + 13, f"... {len(rows) - MOST_ROWS + 1} more rows", "start", markup.QUIET))
            y += ROW
            continue
        parts.append(_label(LEFT - 8, y + 13, f"+{(row - rows[0]) * banks * bank_bytes:,}"))
        for bank in range(banks):
            lanes = words.get(row * banks + bank, [])
            parts.append(_cell(LEFT + bank * CELL, y, lanes, False, f"bank {bank}: {_who(lanes) if lanes else 'nothing'}"))
        y += ROW
    most = max(per_bank, default=0)
    # Wide accesses are served in parts, and some GPUs give two words of a bank at a time: more words are no conflict there.
    conflict = (pattern.get("wavefronts") or most) > (pattern.get("ideal_wavefronts") or 1)
    parts.append(_label(LEFT - 8, y + 13, "words"))
    for bank, number in enumerate(per_bank):
        colour = markup.BAD if conflict and number == most else "currentColor"
        parts.append(_label(LEFT + bank * CELL + CELL / 2, y + 13, str(number), "middle", colour))
    return _svg(LEFT + banks * CELL + 4, y + ROW + 2, parts, f"{most} words in the fullest bank")


def access(pattern, model=None):
    if pattern.get("space") == "shared":
        banks = (model or {}).get("banks") or {}
        return shared_access(pattern, banks.get("banks") or 32, banks.get("bank_bytes") or 4)
    return global_access(pattern)


def bars(rows, unit=""):
    """Rows (name, value, text) as horizontal bars from zero."""
    most = max((value for _, value, _ in rows), default=0) or 1
    left, width, parts = max(60, 7 * max((len(n) for n, _, _ in rows), default=0)), 420, []
    for i, (name, value, text) in enumerate(rows):
        y = i * 24
        length = max(1.5, value / most * width)
        parts.append(f'<text x="{left - 8}" y="{y + 16}" text-anchor="end" fill="currentColor" {_TEXT}>{markup.escape(name)}</text>'
                     f'<rect x="{left}" y="{y + 4}" width="{length:.1f}" height="16" rx="2" fill="{markup.MARK}"/>'
                     f'<text x="{left + length + 6:.1f}" y="{y + 16}" fill="currentColor" {_TEXT}>{markup.escape(text + unit)}</text>')
    return _svg(left + width + 110, len(rows) * 24 + 4, parts, "; ".join(f"{n}: {t}{unit}" for n, _, t in rows))
