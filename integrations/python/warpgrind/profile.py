"""Objects over a profile's JSON (docs/profile-format.md): kernels with counters by name, and findings."""
import difflib
import fnmatch
import json
import pathlib
import re

# "names": counters of docs/counters.md; "short": their short names. tests/pytest/counter_names.py makes the file.
_NAMES = json.loads(pathlib.Path(__file__).with_name("counter_names.json").read_text(encoding="utf-8"))
COUNTERS = frozenset(_NAMES["names"])
SHORT_NAMES = _NAMES["short"]
_FULL_TO_SHORT = {full: short for short, full in SHORT_NAMES.items()}
# A name in Nsight Compute's form is no Python name: "smsp__inst_executed.sum" is also smsp__inst_executed_sum.
_AS_PYTHON_NAME = {re.sub(r"\W", "_", name): name for name in COUNTERS}


def counter_name(name):
    """The name in profiles of a counter, given in any form; KeyError with near names if there is none."""
    if name in SHORT_NAMES:
        return SHORT_NAMES[name]
    if name in COUNTERS:
        return name
    if name in _AS_PYTHON_NAME:
        return _AS_PYTHON_NAME[name]
    near = difflib.get_close_matches(name, [*SHORT_NAMES, *_AS_PYTHON_NAME], n=3, cutoff=0.5)
    raise KeyError(f"no counter is called {name}" + (f"; did you mean {', '.join(near)}?" if near else "")
                   + " (docs/counters.md)")


def counters_of(metrics):
    """{short name, or Nsight Compute's where there is none: value}"""
    return {_FULL_TO_SHORT.get(name, name): metric["value"] for name, metric in metrics.items()}


def _outside(text, what, last=False):
    """Position of the first (or last) `what` outside of <> and (); -1: there is none."""
    depth, found = 0, -1
    for i, c in enumerate(text):
        if depth == 0 and c == what:
            if not last:
                return i
            found = i
        if c in "<(":
            depth += 1
        elif c in ">)" and depth > 0:
            depth -= 1
    return found


def short_name(name):
    """ "void ns::scale<4>(float*, int)" -> "ns::scale<4>"."""
    name = name.replace("(anonymous namespace)::", "")
    end = _outside(name, "(")
    name = name[:end] if end >= 0 else name
    return name[_outside(name, " ", last=True) + 1:]


def _forms(name, mangled_name):
    """Forms of a kernel's name that a pattern may match, as report::matches() of warpgrind has them."""
    short = short_name(name)
    end = _outside(short, "<")
    plain = short[:end] if end >= 0 else short
    untagged = plain.split("[abi:")[0]  # Numba's tags
    forms = [name, short, plain, mangled_name]
    return forms + [text[_outside(text, ":", last=True) + 1:] for text in (short, plain, untagged)]


def matches(pattern, name, mangled_name=""):
    return any(form == pattern or fnmatch.fnmatchcase(form, pattern) for form in _forms(name, mangled_name))


class Kernel:
    """All launches of a kernel. Each counter of docs/counters.md is an attribute, by its short name
    (`global_load_sectors_per_request`) or by Nsight Compute's (`smsp__inst_executed_sum`)."""

    def __init__(self, data):
        self.json = data
        self.name = data["name"]
        self.mangled_name = data.get("mangled_name", "")
        self.short_name = short_name(self.name).split("[abi:")[0]
        self.launches = data.get("launches", 0)
        self.grid = tuple(data.get("grid", ()))
        self.block = tuple(data.get("block", ()))

    def counter(self, name):
        """The value of a counter by any of its names, "smsp__inst_executed.sum" included."""
        full = counter_name(name)
        metric = self.json.get("metrics", {}).get(full)
        if metric is None:
            raise LookupError(f"{self.short_name} has no {name}: it did nothing of the kind, or the GPU model does not have it")
        return metric["value"]

    def metric(self, name):
        """Value, unit and origin of a counter."""
        self.counter(name)
        return self.json["metrics"][counter_name(name)]

    def has(self, name):
        return counter_name(name) in self.json.get("metrics", {})

    @property
    def counters(self):
        """{short name, or Nsight Compute's where there is none: value}"""
        return counters_of(self.json.get("metrics", {}))

    @property
    def estimated_seconds(self):
        """Estimated time of all launches on the modelled GPU."""
        return self.counter("time") * 1e-9

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.counter(name)
        except LookupError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self):
        have = self.json.get("metrics", {})
        return sorted([*super().__dir__(), *(short for short, full in SHORT_NAMES.items() if full in have),
                       *(name for name, full in _AS_PYTHON_NAME.items() if full in have)])

    def __repr__(self):
        return f"<Kernel {self.short_name}: {self.launches} launch{'' if self.launches == 1 else 'es'}>"


class Kernels:
    """The kernels of a profile. `kernels["scale"]` takes a name as `warpgrind run --expect` does: with or without
    namespaces and template arguments, or a pattern with * and ?."""

    def __init__(self, kernels):
        self._kernels = list(kernels)

    def matching(self, pattern):
        return [k for k in self._kernels if matches(pattern, k.name, k.mangled_name)]

    def __getitem__(self, pattern):
        found = self.matching(pattern)
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{len(found)} kernels match \"{pattern}\": {self._list(found)}; matching() returns them all")
        raise KeyError(f"no kernel called \"{pattern}\" ran" + (f"; there ran {self._list(self._kernels)}" if self._kernels else
                                                               ": no kernel ran"))

    @staticmethod
    def _list(kernels):
        names = list(dict.fromkeys(k.short_name if len({o.short_name for o in kernels}) > 1 else k.name for k in kernels))
        return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")

    def __contains__(self, pattern):
        return bool(self.matching(pattern))

    def __iter__(self):
        return iter(self._kernels)

    def __len__(self):
        return len(self._kernels)

    def __repr__(self):
        return f"<Kernels {self._list(self._kernels) or 'none'}>"


class Finding:
    """One error or warning, with the members of docs/profile-format.md as attributes."""

    def __init__(self, data):
        self.json = data

    def __getattr__(self, name):
        try:
            return self.__dict__["json"][name]
        except KeyError:
            raise AttributeError(f"a finding has no {name}") from None

    @property
    def place(self):
        """ "scale.cu:12"; a PTX line without a source line; empty: not known."""
        if self.json.get("line"):
            return f"{self.json['file']}:{self.json['line']}"
        return f"PTX line {self.json['ptx_line']}" if self.json.get("ptx_line") else ""

    @property
    def text(self):
        """Several lines: what is wrong, where, and what to do."""
        f = self.json
        lines = [f"{f['kind']}: {f.get('severity', 'ERROR')}: {f['message']}"]
        if f.get("kernel"):
            lines.append(f"  kernel {f['kernel']}")
        if self.place:
            lines.append(f"  at {self.place}" + (f": {f['text']}" if f.get("text") else ""))
        for access in f.get("accesses", []):
            line = self._access(access)
            if line:
                lines.append(f"  {line}")
        lines += [f"  missing: {f['missing']}"] if f.get("missing") else []
        lines += [f"  {note}" for note in f.get("notes", [])]
        lines += [f"  do: {f['advice']}"] if f.get("advice") else []
        return "\n".join(lines)

    @staticmethod
    def _access(a):
        place = f"{a['file']}:{a['line']}" if a.get("line") else f"PTX line {a['ptx_line']}" if a.get("ptx_line") else ""
        words = [a.get("role"), a.get("access"), f"of {a['object']}" if a.get("object") else "", f"at {place}" if place else "",
                 f"by block {a['block']}, thread {a['thread']}" if a.get("block") and a.get("thread") else ""]
        return " ".join(word for word in words if word)

    def __repr__(self):
        return f"<Finding {self.json['kind']}{' at ' + self.place if self.place else ''}>"


class Profile:
    """One or more profiles of the processes of a run, as `--json` writes them."""

    def __init__(self, *profiles):
        self._profiles = [p for p in profiles if p]

    @property
    def json(self):
        """A list of the files' contents (docs/profile-format.md)."""
        return self._profiles

    def _all(self, member):
        return [one for p in self.json for one in p.get(member, [])]

    @property
    def kernels(self):
        return Kernels(Kernel(k) for k in self._all("kernels"))

    @property
    def findings(self):
        return [Finding(f) for f in self._all("findings")]

    @property
    def transfers(self):
        return self._all("transfers")

    @property
    def library_calls(self):
        return self._all("library_calls")

    @property
    def launched(self):
        """{name: launches} of all kernels that ran, counted or not."""
        out = {}
        for p in self.json:
            for k in p.get("activity", {}).get("launched", p.get("kernels", [])):
                name = short_name(k["name"]).split("[abi:")[0]
                out[name] = out.get(name, 0) + k["launches"]
        return out

    def joined(self):
        """One profile's JSON with the kernels and findings of all, for programs that read one file."""
        all_profiles = self.json
        if len(all_profiles) < 2:
            return all_profiles[0] if all_profiles else {"format": 2, "kernels": []}
        first = all_profiles[0]
        activity = dict(first.get("activity", {}))
        activity["launched"] = [k for p in all_profiles for k in p.get("activity", {}).get("launched", [])]
        return dict(first, kernels=self._all("kernels"), findings=self._all("findings"), activity=activity)


def read(path):
    """The profile in a file that `warpgrind run --json FILE` wrote."""
    return Profile(json.loads(pathlib.Path(path).read_text(encoding="utf-8")))
