"""What a cell shows below its output: findings, the compiler's messages, counters beside lines, times."""
import os

from warpgrind import figures, findings_view, markup


class Findings:
    """Errors of kernels in a plain run, under their lines."""

    def __init__(self, ran):
        self._found, self._sources = [f for f in ran.findings if f.severity != "INFO"], ran.sources_by_finding()
        self._named = ran.named

    def __repr__(self):
        return "\n".join(f.text for f in self._found)

    def _repr_html_(self):
        return "".join(findings_view.finding_html(f.json, self._sources, self._named) for f in self._found)


class Messages:
    """The compiler's messages under the lines of the cell."""

    def __init__(self, found, sources, named):
        self._found, self._sources, self._named = found, sources, named

    def __repr__(self):
        out = []
        for m in self._found:
            text = self._sources.get(os.path.normpath(m.file), "").split("\n")
            out.append(f"{self._named(m.file, m.line)}: {m.severity}: {m.text}")
            out += [f"  {text[m.line - 1]}"] if 0 < m.line <= len(text) and any(text) else []
        return "\n".join(out)

    def _repr_html_(self):
        sources = {**self._sources, **{m.file: self._sources[os.path.normpath(m.file)] for m in self._found
                                       if os.path.normpath(m.file) in self._sources}}
        return "".join(findings_view.message_html(m, sources, self._named) for m in self._found)


class Profiled:
    """What `%%cuda -p` shows: kernels, advice, and the counters beside the lines."""

    def __init__(self, ran, metrics):
        self._run, self._metrics = ran, metrics

    def _chosen(self):
        """(kernel, metric, value) of --metrics"""
        for kernel in self._run.kernels:
            for name in self._metrics:
                metric = kernel.json.get("metrics", {}).get(name)
                yield kernel.short_name, name, figures.of_metric(metric) if metric else "not counted: docs/counters.md lists what is"

    def __repr__(self):
        return "\n".join([repr(self._run), repr(self._run.source()), *(f"{k}  {n}  {v}" for k, n, v in self._chosen())])

    def _repr_html_(self):
        chosen = [[markup.code(k), markup.code(n), markup.escape(v)] for k, n, v in self._chosen()]
        return (self._run._repr_html_() + (markup.table(["kernel", "metric", "value"], chosen, left=2) if chosen else "")
                + self._run.source()._repr_html_())


class Times:
    """What `%%cuda -p -l nsys` shows: the estimated times of kernels, copies and calls."""

    def __init__(self, ran):
        sums = {}
        for profile in ran.json:
            for item in [*profile.get("timeline", []), *profile.get("host_timeline", [])]:
                one = sums.setdefault((item["kind"], item["name"]), [0, 0.0])
                one[0] += 1
                one[1] += item["end_ns"] - item["begin_ns"]
        order = ["kernel", "library call", "copy", "memset", "call"]
        self._rows = sorted(((kind, name, n, ns) for (kind, name), (n, ns) in sums.items()),
                            key=lambda row: (order.index(row[0]) if row[0] in order else 9, -row[3]))

    def __repr__(self):
        return "\n".join(f"{kind:8} {name:50} {n:6}  {figures.duration(ns)}" for kind, name, n, ns in self._rows)

    def _repr_html_(self):
        rows = [[kind, markup.code(name), figures.count(n), figures.duration(ns), figures.duration(ns / n)] for kind, name, n, ns in self._rows]
        return (markup.heading("Times", "estimated; the host's own computing takes none")
                + markup.table(["", "name", "number", "total", "mean"], rows, left=2))
