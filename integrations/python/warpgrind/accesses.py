"""The accesses of a source line: how the 32 lanes of a warp looked, as data, text and drawings."""
from warpgrind import drawing, lines_view, markup
from warpgrind.errors import Refused
from warpgrind.profile import counters_of
from warpgrind.results import command_text, pandas, with_profile_file

_OF_PATTERN = ("count", "mask", "lane_bytes", "space", "addresses", "alignment", "sectors", "ideal_sectors", "lines_128", "wavefronts",
               "ideal_wavefronts", "block", "warp")
_OF_FRAME = ("count", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")


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
        patterns = [{name: p.get(name) for name in _OF_PATTERN} for p in site["patterns"]]
        return {"kind": site["kind"], "space": site["space"], "ptx": site["ptx"], "file": site["file"], "line": site["line"],
                "requests": sum(p["count"] for p in patterns) + (site.get("patterns_other") or 0), "patterns": patterns,
                "counters": counters_of(site["metrics"])}

    def frame(self):
        """A pandas frame: a row per pattern."""
        return pandas().DataFrame([{"kind": s["kind"], "space": s["space"], **{name: p[name] for name in _OF_FRAME}}
                                   for s in self.sites for p in s["patterns"]])

    @property
    def text(self):
        words = ["--kernel", self.kernel.short_name, "--line", str(self.line), *(["--file", self._file] if self._file else [])]
        return with_profile_file(self._run.data, lambda path: command_text(["explain", path, *words]))

    def __repr__(self):
        return self.text.rstrip()

    def _decisive(self, site):
        """The most frequent pattern, and the worst if it is worse."""
        typical, worst = site["patterns"][0], max(site["patterns"], key=self._waste)
        return [typical] if self._waste(worst) <= self._waste(typical) else [typical, worst]

    @staticmethod
    def _caption(site, pattern):
        way = "to" if site["kind"] == "store" else "from"
        what = f"{site['kind']} {way} {site['space']} memory, {pattern['lane_bytes']} bytes a lane: "
        if site["space"] == "shared":
            ideal = pattern["ideal_wavefronts"] or 1
            plural = "" if pattern["wavefronts"] == 1 else "s"
            return what + f"{pattern['wavefronts']} wavefront{plural} (ideal {ideal})", pattern["wavefronts"] > ideal
        plural = "" if pattern["sectors"] == 1 else "s"
        ideal = pattern["ideal_sectors"] or 0
        return what + f"{pattern['sectors']} sector{plural} (ideal {ideal})", pattern["sectors"] > ideal

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
