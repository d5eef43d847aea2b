"""The changes from one run to another."""
from warpgrind import figures, markup
from warpgrind.errors import Refused
from warpgrind.results import command_text, pandas, with_profile_file

# (heading, counter, what a rise means)
_CHANGES = [("time", "time", "worse"),
            ("global load requests", "global_load_requests", ""),
            ("global load sectors", "global_load_sectors", "worse"),
            ("global load sectors / request", "global_load_sectors_per_request", "worse"),
            ("global store sectors", "global_store_sectors", "worse"),
            ("global store sectors / request", "global_store_sectors_per_request", "worse"),
            ("excessive sectors", "global_excessive_sectors", "worse"),
            ("shared wavefronts", "shared_wavefronts", ""),
            ("bank conflicts", "shared_bank_conflicts", "worse"),
            ("divergent branches", "divergent_branches", "worse"),
            ("instructions by warps", "instructions", ""),
            ("registers a thread", "registers", ""),
            ("occupancy", "occupancy", "better"),
            ("compute to global memory access", "compute_to_memory_ratio", "better"),
            ("bound by", "time_limit", "")]
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
                    rows.append({"figure": heading, "counter": name, "before": was, "after": now,
                                 "verdict": self._verdict(name, was, now, rise)})
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

        def of(before):
            return with_profile_file(self._after.data, lambda after: command_text(["diff", before, after, *pairs], good=(0, 1)))

        return with_profile_file(self._before.data, of)

    def frame(self):
        """A pandas frame: a row per change."""
        return pandas().DataFrame([{"kernel": title, **row} for title, rows in self.changes.items() for row in rows])

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
                texts = (row["figure"], self._figure(row, "before"), self._figure(row, "after"))
                cells.append([*map(markup.escape, texts), markup.coloured(figures.change(row["before"], row["after"]), colour),
                              markup.coloured(row["verdict"], colour)])
            out.append(markup.heading(title, self._speed() if rows else "nothing changed"))
            out.append(markup.table(["", "before", "after", "change", ""], cells) if rows else "")
        return markup.div("".join(out))
