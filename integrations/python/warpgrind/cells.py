"""Cells as source files. A file begins with a line that stands for the magic's own line, so that line N of the file is line N of the
cell, as the notebook counts them."""
import os
import shlex

from warpgrind import sources

FIRST_LINE = "// the line of the magic\n"
CELL_NAME = "cell.cu"
SHARED = "shared"


class Group:
    """Sources of %%cuda_group_save that are one program."""

    def __init__(self):
        self.files = {}  # name: text of the cell

    def text(self, suffix):
        return {name: text for name, text in self.files.items() if name.endswith(suffix)}


class Cells:
    """All groups of a notebook. `name()` says where a line of a file is, as the reader knows it."""

    def __init__(self):
        self._groups = {}
        self._places = {}  # path: words for it

    def save(self, group, name, text):
        if os.path.splitext(name)[1] not in (".cu", ".h") or os.path.basename(name) != name:
            raise ValueError(f'the name of a source must end in ".h" or ".cu" and have no folder: "{name}"')
        self._groups.setdefault(group, Group()).files[name] = FIRST_LINE + text

    def delete(self, group):
        self._groups.pop(group, None)

    def known(self, group):
        return group in self._groups

    def has_sources(self, group):
        return bool(self._groups[group].text(".cu"))

    def files_of_cell(self, text):
        """The sources of one cell with those of the group `shared`, and the folders of its headers."""
        return self._files({CELL_NAME: FIRST_LINE + text})

    def files_of_group(self, group):
        return self._files(self._groups[group].files)

    def _files(self, own):
        shared = self._groups.get(SHARED, Group()).files
        texts = {**shared, **own}
        # One folder for each set of files: an unchanged program is found again, and compiled only once.
        whole = "\0".join(f"{name}\0{text}" for name, text in sorted(texts.items()))
        folder = sources.folder_with(whole, texts)
        paths = [os.path.join(folder, name) for name in own if name.endswith(".cu")]
        paths += [os.path.join(folder, name) for name in shared if name.endswith(".cu") and name not in own]
        for name in texts:
            self._places[os.path.join(folder, name)] = "line {} of this cell" if name == CELL_NAME else "line {} of the cell of " + name
        return paths, folder

    def name(self, file, line):
        words = self._places.get(os.path.normpath(file))
        return words.format(line) if words else f"{os.path.basename(file)}:{line}"

    @staticmethod
    def texts(folder):
        """{path: text} of the sources in it"""
        out = {}
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name.endswith((".cu", ".h")):
                with open(path, encoding="utf-8") as file:
                    out[path] = file.read()
        return out


def split_line(line):
    """The words of a magic's line. Double quotes keep words together, as in nvcc4jupyter: -c "-O3 -DN=4"."""
    out = []
    for i, part in enumerate(line.strip().split('"')):
        if i % 2 == 0:
            out += part.split()
        elif part.startswith("-") and out and out[-1].startswith("-"):  # argparse would take it for an option
            out[-1] += ("=" if out[-1].startswith("--") else "") + part
        elif part:
            out.append(part)
    return out


def split_options(text):
    """Options in one argument, as words"""
    try:
        return shlex.split(text)
    except ValueError:  # a single quotation mark
        return text.split()
