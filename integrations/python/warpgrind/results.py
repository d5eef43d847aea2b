"""What `warpgrind.run` and `check` return: data, a text for the terminal, and HTML for a notebook. accesses.py and changes.py have what
`explain` and `diff` return."""
import json
import os
import pathlib
import tempfile

from warpgrind import drawing, figures, findings_view, lines_view, markup, program
from warpgrind.errors import Refused, WarpgrindError
from warpgrind.profile import Profile

# (heading, counter, digits): the columns of the table of kernels, left out where no kernel has a value.
COLUMNS = [("time", "time"), ("load sectors / request", "global_load_sectors_per_request"),
           ("store sectors / request", "global_store_sectors_per_request"), ("bank conflicts", "shared_bank_conflicts"),
           ("divergent branches", "divergent_branches"), ("occupancy", "occupancy"), ("bound by", "time_limit")]


def pandas():
    try:
        import pandas
    except ImportError:
        raise WarpgrindError("frame() needs pandas, which is not installed; .counters has the same as dictionaries") from None
    return pandas


def with_profile_file(data, use):
    """use(path of a file with this profile)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        pathlib.Path(path).write_text(json.dumps(data), encoding="utf-8")
        return use(path)


def command_text(words, good=(0,)):
    """The output of a command of warpgrind that prints text."""
    ended = program.run([program.find(), *words])
    if ended.code not in good:
        raise Refused(ended.err.strip() or f"warpgrind {words[0]} ended with exit code {ended.code}")
    return ended.out


class Run(Profile):
    """A run of a program: its output, exit code, kernels with counters, and findings (errors of kernels, too)."""

    def __init__(self, profiles, output="", errors="", exit_code=0, warnings=(), messages=""):
        super().__init__(*profiles)
        self.output, self.errors, self.exit_code = output, errors, exit_code
        self.warnings = list(warnings)  # of the compiler: messages.Message
        self.messages = messages  # of warpgrind itself
        self.named = None  # named(file, line): a place as the reader knows it

    def names_lines(self, named):
        self.named = named

    @property
    def data(self):
        """The profile as a dictionary (docs/profile-format.md); of several processes with CUDA, all their kernels."""
        return self.joined()

    @property
    def gpu(self):
        return self.data.get("gpu", "")

    @property
    def counters(self):
        """{kernel: {counter: value}}"""
        return {k.short_name: k.counters for k in self.kernels}

    @property
    def sources(self):
        """{file: text} of a detailed run"""
        return {s["file"]: s.get("text", "") for p in self.json for s in p.get("sources", [])}

    def lines(self, kernel=None):
        """The counters of each source line: a list of dictionaries."""
        return lines_view.lines_of(self._kernel(kernel).json)

    def frame(self):
        """A pandas frame: a row per kernel, a column per counter."""
        return pandas().DataFrame.from_dict(self.counters, orient="index")

    def _kernel(self, pattern):
        if pattern is None:
            kernels = list(self.kernels)
            if len(kernels) != 1:
                raise KeyError(f"which kernel? There ran {', '.join(k.short_name for k in kernels) or 'none'}")
            return kernels[0]
        return self.kernels[pattern]

    # ---- Text

    def unexplained(self):
        """Messages of warpgrind that no finding repeats, such as an instruction that it does not support."""
        return "" if any(f.severity != "INFO" for f in self.findings) else self.messages

    def _rows(self):
        columns = [(heading, name) for heading, name in COLUMNS if any(k.has(name) for k in self.kernels)]
        rows = [[k.short_name, str(k.launches), *(figures.of_metric(k.metric(name)) if k.has(name) else "" for _, name in columns)]
                for k in self.kernels]
        return ["kernel", "launches", *(heading for heading, _ in columns)], rows

    def __repr__(self):
        out = [f"ran on a virtual {self.gpu}" + (f": exit code {self.exit_code}" if self.exit_code else "")]
        headings, rows = self._rows()
        for row in rows:
            out.append(f"  {row[0]}: " + ", ".join(f"{h} {v}" for h, v in zip(headings[1:], row[1:]) if v))
        out += ["  no kernel ran"] if not rows else []
        out += [f.text for f in self.findings if f.severity != "INFO"]
        return "\n".join(out + ([self.unexplained()] if self.unexplained() else []))

    @property
    def text(self):
        """The report of `warpgrind show`: all tables, and what to do."""
        return with_profile_file(self.data, lambda path: command_text(["show", path], good=(0, 1)))

    # ---- HTML

    def _advice_html(self):
        out = []
        for kernel in self.kernels:
            for one in kernel.json.get("advice", [])[:3]:
                gain = ""
                if one["estimated_gain"]:
                    gain = f" ({figures.duration(one['time_ns'])} to {figures.duration(one['without_cause_ns'])}, estimated)"
                places = ", ".join(f"line {p['line']}" for p in one["places"][:3] if p["line"])
                out.append(f"<li><b>{markup.escape(kernel.short_name)}</b>{': ' + markup.escape(places) if places else ''}: "
                           f'<span title="{markup.escape(one["text"])}">{markup.escape(one["title"])}</span>{markup.escape(gain)}</li>')
        return markup.heading("What to do") + f'<ul style="margin:0 0 4px 18px;padding:0">{"".join(out)}</ul>' if out else ""

    def _repr_html_(self):
        headings, rows = self._rows()
        kernels = list(self.kernels)
        cells = []
        for kernel, row in zip(kernels, rows):
            named = f'<span title="{markup.escape(kernel.name)}, grid {kernel.grid}, block {kernel.block}">{markup.code(row[0])}</span>'
            cells.append([named, *map(markup.escape, row[1:])])
        note = "counts are exact, times are estimated" if rows else "no kernel ran"
        out = [markup.heading(f"Virtual {self.gpu}", note), markup.table(headings, cells) if rows else "", self._advice_html()]
        if self.exit_code:
            out.append(markup.div(f"exit code {self.exit_code}", f"color:{markup.BAD}"))
        if self.unexplained():
            out.append(markup.div(markup.code(self.unexplained())))
        out += [findings_view.finding_html(f.json, self.sources_by_finding(), self.named) for f in self.findings if f.severity != "INFO"]
        return markup.div("".join(out))

    def sources_by_finding(self):
        """{file: text} of the findings' files: from the profile, or read."""
        out = dict(self.sources)
        for finding in self._all("findings"):
            for one in [finding, *finding.get("accesses", [])]:
                file = one.get("file")
                if file and file not in out and os.path.isfile(file):
                    out[file] = pathlib.Path(file).read_text(encoding="utf-8", errors="replace")
        return out

    def source(self, kernel=None):
        """The counters beside the lines of one kernel, or of all."""
        return SourceView(self, [self._kernel(kernel)] if kernel is not None else list(self.kernels))

    def bars(self, counter):
        """A drawing that compares one counter of all kernels."""
        return Bars([(k.short_name, k.counter(counter), figures.of_metric(k.metric(counter))) for k in self.kernels], counter)


class SourceView:
    def __init__(self, run, kernels):
        self._run, self._kernels = run, kernels

    def _repr_html_(self):
        return "".join(markup.heading(k.short_name, f"{figures.duration(k.time)} estimated" if k.has("time") else "")
                       + (lines_view.kernel_html(k.json, self._run.sources) or "no lines: compile with -lineinfo") for k in self._kernels)

    def __repr__(self):
        return "\n".join(f"{k.short_name}\n{lines_view.kernel_text(k.json, self._run.sources)}" for k in self._kernels)


class Bars:
    def __init__(self, rows, name):
        self.rows, self._counter = rows, name

    def _repr_html_(self):
        return markup.heading(self._counter.replace("_", " ")) + drawing.bars(self.rows)

    def __repr__(self):
        most = max((v for _, v, _ in self.rows), default=0) or 1
        return "\n".join(f"{name:20} {'#' * max(1, round(40 * value / most))} {text}" for name, value, text in self.rows)


class Check(Run):
    """A run under `warpgrind check`. `bad`: it has errors or warnings."""

    MOST = 3  # findings that are open in a notebook

    @property
    def bad(self):
        return any(f.severity in ("ERROR", "WARNING") for f in self.findings)

    def frame(self):
        """A pandas frame: a row per finding."""
        return pandas().DataFrame([{n: f.json.get(n) for n in ("severity", "kind", "message", "kernel", "file", "line", "count")}
                                    for f in self.findings])

    def _summary(self):
        count = {s: sum(f.severity == s for f in self.findings) for s in ("ERROR", "WARNING")}
        return ", ".join(f"{n} {s.lower()}{'' if n == 1 else 's'}" for s, n in count.items())

    def __repr__(self):
        return "\n".join([f"warpgrind check: {self._summary()}", *(f.text for f in self.findings if f.severity != "INFO")])

    def _repr_html_(self):
        colour = markup.BAD if self.bad else markup.GOOD
        sources = self.sources_by_finding()
        found = [findings_view.finding_html(f.json, sources, self.named) for f in self.findings if f.severity != "INFO"]
        more = markup.details(f"{len(found) - self.MOST} more", "".join(found[self.MOST:])) if len(found) > self.MOST else ""
        return markup.div(f'<b style="color:{colour}">warpgrind check: {self._summary()}</b>' + "".join(found[:self.MOST]) + more)
