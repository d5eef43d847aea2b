"""What `warpgrind.run`, `check`, `explain` and `diff` return: data, a text for the terminal, and HTML for a notebook."""
import json
import os
import pathlib
import tempfile

from warpgrind import drawing, figures, findings_view, lines_view, markup, program
from warpgrind.errors import Refused, WarpgrindError
from warpgrind.profile import Profile, counters_of

# (heading, counter, digits): the columns of the table of kernels, left out where no kernel has a value.
COLUMNS = [("time", "time"), ("load sectors / request", "global_load_sectors_per_request"),
           ("store sectors / request", "global_store_sectors_per_request"), ("bank conflicts", "shared_bank_conflicts"),
           ("divergent branches", "divergent_branches"), ("occupancy", "occupancy"), ("bound by", "time_limit")]


def _pandas():
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

    def __init__(self, profiles, output="", errors="", exit_code=0, warnings="", messages=""):
        super().__init__(*profiles)
        self.output, self.errors, self.exit_code, self.warnings = output, errors, exit_code, warnings
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
        return _pandas().DataFrame.from_dict(self.counters, orient="index")

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
                gain = f" ({figures.duration(one['time_ns'])} to {figures.duration(one['without_cause_ns'])}, estimated)" if one["estimated_gain"] else ""
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
        return _pandas().DataFrame([{n: f.json.get(n) for n in ("severity", "kind", "message", "kernel", "file", "line", "count")}
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


class Accesses:
    """The accesses of one line of a kernel: how the 32 lanes looked, drawn. `sites`: a list of dictionaries."""

    MOST = 3  # sites that are drawn

    def __init__(self, run, kernel, line, file=None):
        self._run = run
        self.kernel, self.line, self._file = kernel, line, file
        model = run.data.get("model") or {}
        self._model = model
        found = [s for s in kernel.json.get("sites", []) if s["line"] == line and s.get("patterns")
                 and (file is None or s["file"].endswith(file))]
        # The ones that waste most come first; the same drawing is shown once.
        found.sort(key=lambda s: -max(self._waste(p) * p["count"] for p in s["patterns"]))
        self.sites = [self._plain(site) for site in found]
        if not found:
            lines = sorted({s["line"] for s in kernel.json.get("sites", []) if s.get("patterns") and s["line"]})
            raise Refused(f"line {line} of {kernel.short_name} has no access to memory; these lines have: {', '.join(map(str, lines))}")

    @staticmethod
    def _waste(pattern):
        if pattern.get("space") == "shared":
            return (pattern.get("wavefronts") or 1) / (pattern.get("ideal_wavefronts") or 1)
        return (pattern.get("sectors") or 1) / (pattern.get("ideal_sectors") or 1)

    @staticmethod
    def _plain(site):
        patterns = [{n: p.get(n) for n in ("count", "mask", "lane_bytes", "space", "addresses", "alignment", "sectors", "ideal_sectors", "lines_128",
                                           "wavefronts", "ideal_wavefronts", "block", "warp")} for p in site["patterns"]]
        return {"kind": site["kind"], "space": site["space"], "ptx": site["ptx"], "file": site["file"], "line": site["line"],
                "requests": sum(p["count"] for p in patterns) + (site.get("patterns_other") or 0), "patterns": patterns,
                "counters": counters_of(site["metrics"])}

    def frame(self):
        """A pandas frame: a row per pattern."""
        return _pandas().DataFrame([{"kind": s["kind"], "space": s["space"], **{n: p[n] for n in ("count", "sectors", "ideal_sectors", "wavefronts",
                                                                                                 "ideal_wavefronts")}}
                                    for s in self.sites for p in s["patterns"]])

    @property
    def text(self):
        return with_profile_file(self._run.data, lambda path: command_text(["explain", path, "--kernel", self.kernel.short_name, "--line", str(self.line)]
                                                                           + (["--file", self._file] if self._file else [])))

    def __repr__(self):
        return self.text.rstrip()

    def _decisive(self, site):
        """The most frequent pattern, and the worst if it is worse."""
        typical, worst = site["patterns"][0], max(site["patterns"], key=self._waste)
        return [typical] if self._waste(worst) <= self._waste(typical) else [typical, worst]

    @staticmethod
    def _caption(site, pattern):
        what = f"{site['kind']} {'to' if site['kind'] == 'store' else 'from'} {site['space']} memory, {pattern['lane_bytes']} bytes a lane: "
        if site["space"] == "shared":
            ideal = pattern["ideal_wavefronts"] or 1
            plural = "" if pattern["wavefronts"] == 1 else "s"
            return what + f"{pattern['wavefronts']} wavefront{plural} (ideal {ideal})", pattern["wavefronts"] > ideal
        plural = "" if pattern["sectors"] == 1 else "s"
        return what + f"{pattern['sectors']} sector{plural} (ideal {pattern['ideal_sectors']})", pattern["sectors"] > (pattern["ideal_sectors"] or 0)

    def _repr_html_(self):
        text = self._run.sources.get(self.sites[0]["file"], "").split("\n")
        quoted = text[self.line - 1].strip() if self.line <= len(text) else ""
        out, drawn = [markup.heading(f"{self.kernel.short_name}, line {self.line}", ""), markup.div(markup.code(quoted))], []
        for site, pattern in ((s, p) for s in self.sites for p in self._decisive(s)):
            key = (site["kind"], site["space"], str(pattern["addresses"]))
            if key in drawn:
                continue
            drawn.append(key)
            if len(drawn) > self.MOST:
                continue
            caption, is_bad = self._caption(site, pattern)
            share = f"{pattern['count']:,} of {site['requests']:,} requests look like this"
            out.append(markup.div(f"{markup.coloured(caption, markup.BAD if is_bad else markup.GOOD)} "
                                  f'<span style="color:{markup.QUIET}">{markup.escape(share)}</span>', "margin:8px 0 2px 0"))
            out.append(drawing.access(pattern, self._model))
        if len(drawn) > self.MOST:
            out.append(markup.div(f"not drawn: {len(drawn) - self.MOST} more of this line; .sites has all", f"color:{markup.QUIET}"))
        out.append(markup.div("A number is the lane that asks for the box; # several lanes; grey boxes are moved, but not asked for.",
                              f"color:{markup.QUIET};font-size:12px"))
        return markup.div("".join(out))


# (heading, counter, what a rise means)
_CHANGES = [("time", "time", "worse"), ("global load requests", "global_load_requests", ""), ("global load sectors", "global_load_sectors", "worse"),
            ("global load sectors / request", "global_load_sectors_per_request", "worse"), ("global store sectors", "global_store_sectors", "worse"),
            ("global store sectors / request", "global_store_sectors_per_request", "worse"), ("excessive sectors", "global_excessive_sectors", "worse"),
            ("shared wavefronts", "shared_wavefronts", ""), ("bank conflicts", "shared_bank_conflicts", "worse"),
            ("divergent branches", "divergent_branches", "worse"), ("instructions by warps", "instructions", ""),
            ("registers a thread", "registers", ""), ("occupancy", "occupancy", "better"),
            ("compute to global memory access", "compute_to_memory_ratio", "better"), ("bound by", "time_limit", "")]
TOLERANCE = 0.05  # a smaller change of the estimated time decides nothing


class Diff:
    """Changes from one run to another. `changes`: {"before -> after": [{counter, before, after, verdict}]}."""

    def __init__(self, before, after, pairs=()):
        self._before, self._after, self._pairs = before, after, self._paired(before, after, list(pairs))
        if not self._pairs:
            raise Refused(f"the runs have no kernel in common; name two: pairs=[(\"{self._one(before)}\", \"{self._one(after)}\")]")

    @staticmethod
    def _one(run):
        return next((k.short_name for k in run.kernels), "BEFORE")

    @staticmethod
    def _paired(before, after, pairs):
        if pairs:
            return [(before.kernels[a], after.kernels[b]) for a, b in pairs]
        same = [(a, b) for a in before.kernels for b in after.kernels if a.short_name == b.short_name]
        if not same and len(before.kernels) == 1 and len(after.kernels) == 1:
            return [(next(iter(before.kernels)), next(iter(after.kernels)))]
        return same

    @staticmethod
    def _title(a, b):
        return a.short_name if a.short_name == b.short_name else f"{a.short_name} -> {b.short_name}"

    @staticmethod
    def _verdict(name, was, now, rise):
        if not rise or isinstance(was, str) or was == now:
            return ""
        if name == "time" and abs(now - was) <= TOLERANCE * was:
            return ""
        return rise if now > was else {"worse": "better", "better": "worse"}[rise]

    @property
    def changes(self):
        out = {}
        for a, b in self._pairs:
            rows = []
            for heading, name, rise in _CHANGES:
                was, now = (k.metric(name)["value"] if k.has(name) else 0 for k in (a, b))
                if was != now:
                    rows.append({"figure": heading, "counter": name, "before": was, "after": now, "verdict": self._verdict(name, was, now, rise)})
            if not any(row["counter"] == "global_excessive_sectors" for row in rows):
                for row in rows:  # wider or fewer requests, not worse ones
                    row["verdict"] = "" if row["counter"].endswith("sectors_per_request") else row["verdict"]
            out[self._title(a, b)] = rows
        return out

    @property
    def speedup(self):
        """Estimated time before divided by that after, over all pairs."""
        return sum(a.time for a, _ in self._pairs) / sum(b.time for _, b in self._pairs)

    @property
    def text(self):
        """The report of `warpgrind diff`."""
        pairs = [word for a, b in self._pairs for word in ("--pair", f"{a.short_name}={b.short_name}")]
        return with_profile_file(self._before.data, lambda x: with_profile_file(self._after.data, lambda y: command_text(["diff", x, y, *pairs],
                                                                                                                        good=(0, 1))))

    def frame(self):
        """A pandas frame: a row per change."""
        return _pandas().DataFrame([{"kernel": title, **row} for title, rows in self.changes.items() for row in rows])

    @staticmethod
    def _figure(row, side):
        return figures.of_metric({"value": row[side], "unit": {"time": "ns", "occupancy": "%"}.get(row["counter"], "")})

    def __repr__(self):
        out = []
        for title, rows in self.changes.items():
            out.append(f"{title}: " + (self._speed() if rows else "nothing changed"))
            out += [f"  {r['figure']:34} {self._figure(r, 'before'):>16} to {self._figure(r, 'after'):>16}  "
                    f"{figures.change(r['before'], r['after']):>10}  {r['verdict']}".rstrip() for r in rows]
        return "\n".join(out)

    def _speed(self):
        factor = self.speedup
        if abs(factor - 1) <= TOLERANCE:
            return "as fast as before (estimated)"
        return f"{factor:.2f} times as fast (estimated)" if factor > 1 else f"{1 / factor:.2f} times slower (estimated)"

    def _repr_html_(self):
        out = []
        for title, rows in self.changes.items():
            cells = []
            for row in rows:
                colour = {"better": markup.GOOD, "worse": markup.BAD}.get(row["verdict"], markup.QUIET)
                cells.append([markup.escape(row["figure"]), markup.escape(self._figure(row, "before")), markup.escape(self._figure(row, "after")),
                              markup.coloured(figures.change(row["before"], row["after"]), colour), markup.coloured(row["verdict"], colour)])
            out.append(markup.heading(title, self._speed() if rows else "nothing changed"))
            out.append(markup.table(["", "before", "after", "change", ""], cells) if rows else "")
        return markup.div("".join(out))


def find_kernel(run, pattern):
    """The kernel that a pattern names; without one, the kernel that takes most time."""
    if pattern is not None:
        return run.kernels[pattern]
    kernels = list(run.kernels)
    if not kernels:
        raise Refused("no kernel ran, so no access can be drawn")
    return max(kernels, key=lambda k: k.time if k.has("time") else 0)


def worst_line(kernel):
    """The line of the first advice that has accesses, else the one with the most traffic."""
    lines = {s["line"] for s in kernel.json.get("sites", []) if s.get("patterns") and s["line"]}
    for advice in kernel.json.get("advice", []):
        for place in advice["places"]:
            if place["line"] in lines:
                return place["line"]
    ordered = sorted((line for line in lines_view.lines_of(kernel.json) if line["line"] in lines), key=lines_view.cost)
    if not ordered:
        raise Refused(f"{kernel.short_name} has no access with a source line")
    return ordered[-1]["line"]



def line_with(run, kernel, text):
    """The first line of the kernel that has an access and this text."""
    for place in sorted({(s["file"], s["line"]) for s in kernel.json.get("sites", []) if s.get("patterns") and s["line"]}):
        lines = run.sources.get(place[0], "").split("\n")
        if place[1] <= len(lines) and text in lines[place[1] - 1]:
            return place[1]
    raise Refused(f"no line of {kernel.short_name} with an access to memory has the text \"{text}\"")
