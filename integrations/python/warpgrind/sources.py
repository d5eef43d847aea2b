"""CUDA sources given as text: files with names that stay the same, so that an unchanged text is not compiled again."""
import hashlib
import os
import pathlib
import shutil

MOST_FOLDERS = 300


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "warpgrind" / "python"


def is_text(target):
    """True for a source text, False for the path of a program or a source."""
    return isinstance(target, str) and ("\n" in target or "{" in target)


def file_with(text, name="source.cu"):
    """A file with this text, always at the same place."""
    return os.path.join(folder_with(f"{name}\0{text}", {name: text}), name)


def folder_with(key, texts):
    """A folder with files of these texts ({name: text}); the same one for the same key."""
    folder = cache_folder() / hashlib.sha256(key.encode()).hexdigest()[:24]
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue  # its time stays, by which compilers know that it did not change
        temporary = folder / f".{name}.{os.getpid()}"
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
        _remove_old(folder.parent)
    os.utime(folder)
    return str(folder)


def _remove_old(parent):
    try:
        folders = sorted((f for f in parent.iterdir() if f.is_dir()), key=lambda f: f.stat().st_mtime)
        for folder in folders[:-MOST_FOLDERS]:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass  # another process removes, too
