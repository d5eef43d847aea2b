"""The source of a kernel with counters beside each line."""
import os

from warpgrind import figures, markup

_COST = ("memory_l2_theoretical_sectors_global", "memory_l1_wavefronts_shared", "memory_l2_theoretical_sectors_local")


def _value(metrics, name):
    metric = metrics.get(name)
    return metric["value"] if metric else 0


def _ratio(metrics, above, below):
    whole = _value(metrics, below)
    return _value(metrics, above) / whole if whole else None


def lines_of(kernel):
    """Plain dictionaries, one per source line that ran, by file and line."""
    out = []
    for line in kernel.get("lines", []):
        m = line["metrics"]
        out.append({"file": line["file"], "line": line["line"], "executed": _value(m, "inst_executed"),
                    "global_sectors": _value(m, _COST[0]),
                    "sectors_per_request": _ratio(m, _COST[0], "warpgrind__global_requests.sum"),
                    "excessive_sectors": _value(m, "derived__memory_l2_theoretical_sectors_global_excessive"),
                    "shared_wavefronts": _value(m, _COST[1]),
                    "wavefronts_per_request": _ratio(m, _COST[1], "warpgrind__shared_requests.sum"),
                    "bank_conflicts": _value(m, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
                    "divergent_branches": _value(m, "warpgrind__divergent_branches.sum")})
    return sorted(out, key=lambda one: (one["file"], one["line"]))


def cost(line):
    return line["global_sectors"] + line["shared_wavefronts"]


def _marked(text, bad):
    return markup.coloured(text, markup.BAD) if bad else markup.escape(text)


def _bar(share):
    return (f'<div style="background:{markup.SHADE};width:70px;height:9px;margin-top:5px;border-radius:2px">'
            f'<div style="background:{markup.MARK};width:{70 * share:.0f}px;height:9px;border-radius:2px"></div></div>')


def _row(number, text, line, total):
    if line is None:
        return [markup.coloured(number, markup.QUIET), markup.code(text), "", "", "", "", ""]
    per_request, wavefronts = line["sectors_per_request"], line["wavefronts_per_request"]
    return [markup.coloured(number, markup.QUIET), markup.code(text), figures.count(line["executed"]) if line["executed"] else "",
            "" if per_request is None else _marked(figures.count(round(per_request, 2)), line["excessive_sectors"] > 0),
            "" if wavefronts is None else _marked(figures.count(round(wavefronts, 2)), line["bank_conflicts"] > 0),
            figures.count(line["divergent_branches"]) if line["divergent_branches"] else "",
            _bar(cost(line) / total) if total and cost(line) else ""]


HEADINGS = ("line", "source", "executed by warps", "sectors / request", "wavefronts / request", "divergent branches", "memory traffic")


def kernel_html(kernel, sources):
    """HTML of one kernel of a detailed profile; sources: {file: text}. Empty: the profile has no lines of it."""
    lines = lines_of(kernel)
    total, parts = sum(map(cost, lines)), []
    for file in dict.fromkeys(line["file"] for line in lines):
        text, of_file = sources.get(file, "").split("\n"), {line["line"]: line for line in lines if line["file"] == file}
        if file not in sources:
            continue
        first, last = max(1, min(of_file) - 2), min(len(text), max(of_file) + 1)
        rows = [_row(n, text[n - 1], of_file.get(n), total) for n in range(first, last + 1)]
        used = [i for i in range(len(HEADINGS)) if i < 2 or any(row[i] for row in rows)]
        rows = [[row[i] for i in used] for row in rows]
        parts.append(markup.heading(os.path.basename(file)) if len({line["file"] for line in lines}) > 1 else "")
        parts.append(markup.table([HEADINGS[i] for i in used], rows, left=2))
    return "".join(parts)


def kernel_text(kernel, sources):
    out = []
    for line in lines_of(kernel):
        text = sources.get(line["file"], "").split("\n")
        source = text[line["line"] - 1].strip() if line["line"] <= len(text) else ""
        marks = [f"{line['sectors_per_request']:.2f} sectors/request"] if line["sectors_per_request"] is not None else []
        marks += [f"{line['wavefronts_per_request']:.2f} wavefronts/request"] if line["wavefronts_per_request"] is not None else []
        out.append(f"{line['line']:5}  {source[:70]:70}  {', '.join(marks)}".rstrip())
    return "\n".join(out)
