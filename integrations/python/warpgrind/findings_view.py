"""Findings, each under the line where it happened."""
import os

from warpgrind import markup

AROUND = 1  # lines before and after
_COLOURS = {"ERROR": markup.BAD, "WARNING": "#c9821f", "INFO": markup.QUIET}


def _places(finding):
    """(file, line, what) of the accesses, each line once."""
    out = {}
    for access in finding.get("accesses", []):
        if access.get("line"):
            words = [access.get("role"), access.get("access")]
            if access.get("thread"):
                words.append("by thread ({},{},{}) of block ({},{},{})".format(*access["thread"], *access["block"]))
            out.setdefault((access["file"], access["line"]), []).append(" ".join(word for word in words if word))
    if not out and finding.get("line"):
        out[(finding["file"], finding["line"])] = []
    return [(file, line, "; ".join(what)) for (file, line), what in out.items()]


def source_lines(text, line, mark, what="", column=0):
    """HTML of the lines around `line`, which is marked, and has `what` below it; column: from 1, 0: not known."""
    lines, out = text.split("\n"), []
    for n in range(max(1, line - AROUND), min(len(lines), line + AROUND) + 1):
        here = n == line
        style = f"{markup.MONO};white-space:pre;padding:0 6px;font-size:12px;line-height:1.5" + (f";background:{markup.SHADE}" if here else "")
        arrow = f'<span style="color:{mark};font-weight:bold">{"&#9654;" if here else " "}</span>'
        out.append(markup.div(f'{arrow}<span style="color:{markup.QUIET}">{n:4} </span>{markup.escape(lines[n - 1])}', style))
        if here and what:
            indent = column - 1 if column else len(lines[n - 1]) - len(lines[n - 1].lstrip())
            out.append(markup.div(f'{" " * (6 + indent)}<span style="color:{mark}">^ {markup.escape(what)}</span>', style.replace("white-space:pre;",
                       "white-space:pre-wrap;")))
    return "".join(out)


def finding_html(finding, sources, named=None):
    """sources: {file: text}. named(file, line): a place as the reader knows it."""
    named = named or (lambda file, line: f"{os.path.basename(file)}:{line}")
    colour = _COLOURS.get(finding.get("severity"), markup.BAD)
    out = [markup.div(f'<b style="color:{colour}">{markup.escape(finding.get("severity", ""))}: {markup.escape(finding["kind"])}</b> '
                      + markup.escape(finding["message"]))]
    if finding.get("kernel"):
        out.append(markup.div("in " + markup.code(finding["kernel"]), f"color:{markup.QUIET}"))
    for file, line, what in _places(finding):
        text = sources.get(file)
        if text is None:
            out.append(markup.div(markup.escape(f"{named(file, line)} {what}")))
        else:
            out.append(markup.div(markup.escape(named(file, line)), f"color:{markup.QUIET};margin-top:4px"))
            out.append(source_lines(text, line, colour, what or finding["message"]))
    if finding.get("missing"):
        out.append(markup.div("<b>missing</b> " + markup.escape(finding["missing"])))
    out += [markup.div(markup.escape(note), f"color:{markup.QUIET}") for note in finding.get("notes", [])]
    if finding.get("advice"):
        out.append(markup.div("<b>do</b> " + markup.escape(finding["advice"])))
    return markup.div("".join(out), f"border-left:3px solid {colour};padding:2px 0 2px 10px;margin:8px 0;overflow-x:auto")


def message_html(message, sources, named):
    """A compiler's message under its line. named(file, line): the place as the reader knows it."""
    colour = markup.BAD if message.is_error else _COLOURS["WARNING"]
    text = sources.get(message.file)
    head = markup.div(f'<b style="color:{colour}">{markup.escape(message.severity)}</b> {markup.escape(named(message.file, message.line))}: '
                      f"{markup.escape(message.text)}")
    body = source_lines(text, message.line, colour, message.text, message.column) if text is not None else markup.code("\n".join(message.more))
    return markup.div(head + body, f"border-left:3px solid {colour};padding:2px 0 2px 10px;margin:8px 0;overflow-x:auto")
