#!/usr/bin/env python3
"""keep_finds.py CORPUS FOLDER...: copies into CORPUS what processes of scripts/fuzz.sh added and nothing else reaches, the
shortest first. Nothing runs again: of each input that a process added, or was given and found useful, libFuzzer wrote the
features that were new to this process (numbers of 4 bytes; FOLDER/features.N/SHA1), the same numbers in all processes."""
import array
import pathlib
import shutil
import sys


def main():
    corpus, folders = pathlib.Path(sys.argv[1]), [pathlib.Path(f) for f in sys.argv[2:]]
    finds = {path.name: path for folder in folders for path in (folder / "finds").iterdir()}
    reached, known = {}, set()
    for path in (p for folder in folders for p in folder.glob("features.*/*")):
        features = array.array("I", path.read_bytes())
        if path.name in finds:
            reached.setdefault(path.name, set()).update(features)
        else:
            known.update(features)
    kept = 0
    for name in sorted(reached, key=lambda name: (finds[name].stat().st_size, name)):
        if reached[name] <= known:
            continue
        known |= reached[name]
        shutil.copyfile(finds[name], corpus / name)
        kept += 1
    print(f"{kept} of {len(finds)} new inputs kept, {len(list(corpus.iterdir()))} in the corpus")


if __name__ == "__main__":
    main()
