"""Profiles of the child processes that a test starts. A process of a run writes its profile when it ends; its options
name the file."""
import itertools
import json
import os
import pathlib

OPTIONS = "WARPGRIND_OPTIONS"


class Children:
    def __init__(self):
        self._before = os.environ.get(OPTIONS)
        self._numbers = itertools.count(1)
        self._folder = None
        options = self._options()
        run_folder = os.path.dirname(options.get("status", ""))
        # A file that the user named (--json) is left alone: then children write theirs beside it, and no test gets them.
        given = options.get("json", "")
        self._root = run_folder if run_folder and given in ("", os.path.join(run_folder, os.path.basename(given))) else None

    def _options(self):
        try:
            options = json.loads(self._before or "")
        except ValueError:
            return {}
        return options if isinstance(options, dict) else {}

    @property
    def gpu(self):
        return self._options().get("gpu", "")

    def begin(self):
        """The children of now on write into a folder of their own. The run deletes it at its end."""
        if self._root is None:
            return
        self._folder = pathlib.Path(self._root, f"pytest.{os.getpid()}.{next(self._numbers)}")
        try:
            self._folder.mkdir()
        except OSError:
            self._folder = None
            return
        options = self._options()
        options["json"] = str(self._folder / "profile.json")
        os.environ[OPTIONS] = json.dumps(options)

    def end(self):
        if self._before is not None:
            os.environ[OPTIONS] = self._before

    def profiles(self):
        """Of the children that have ended, in the order of their starts."""
        out = []
        if self._folder is None:
            return out
        for file in sorted(self._folder.glob("*.json"), key=lambda f: (f.stat().st_mtime, f.name)):
            try:
                profile = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue  # it is being written
            if isinstance(profile, dict):
                out.append(profile)
        return out
