"""Pieces of HTML for notebooks. All styles are inline and no colour depends on the background, so that output reads on light and on
dark pages, in Jupyter, VS Code and exported files."""
import html

# Of middle brightness: they read as text on white and on black.
GOOD, BAD, QUIET, MARK = "#2e9e5b", "#e0513f", "#8a8a8a", "#4a8fe0"
LINE = "rgba(128,128,128,0.35)"
SHADE = "rgba(128,128,128,0.12)"
MONO = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
CELL = "padding:2px 12px 2px 0;border:0;background:none;vertical-align:top"


def escape(text):
    return html.escape(str(text), quote=True)


def div(content, style=""):
    return f'<div style="{style}">{content}</div>'


def heading(text, note=""):
    note = f' <span style="color:{QUIET};font-weight:normal">{escape(note)}</span>' if note else ""
    return div(escape(text) + note, "font-weight:600;margin:8px 0 2px 0")


def code(text):
    return f'<span style="{MONO};white-space:pre">{escape(text)}</span>'


def coloured(text, colour):
    return f'<span style="color:{colour}">{escape(text)}</span>'


def table(headings, rows, left=1):
    """Rows of cells that are HTML already. The first `left` columns are texts, the others numbers."""
    def side(i):
        return "left" if i < left else "right"

    head = "".join(f'<th style="{CELL};text-align:{side(i)};font-weight:normal;color:{QUIET}">{escape(h)}</th>'
                   for i, h in enumerate(headings))
    body = "".join('<tr style="background:none">'
                   + "".join(f'<td style="{CELL};white-space:nowrap;text-align:{side(i)}">{c}</td>' for i, c in enumerate(row))
                   + "</tr>" for row in rows)
    return ('<div style="overflow-x:auto"><table style="border-collapse:collapse;border:0;margin:4px 0;font-size:13px;width:auto">'
            f'<thead><tr style="background:none;border-bottom:1px solid {LINE}">{head}</tr></thead><tbody>{body}</tbody></table></div>')


def details(summary, content, is_open=False):
    return (f'<details{" open" if is_open else ""} style="margin:4px 0"><summary style="cursor:pointer">{escape(summary)}</summary>'
            f"{content}</details>")
