"""Sections of a run: the profile of a part of this process, while it runs (include/warpgrind/sections.h)."""
import ctypes
import json


def _functions():
    """The functions of the library that `warpgrind run` preloads; None: this process does not run under warpgrind."""
    library = ctypes.CDLL(None)
    try:
        begin, profile, free = library.warpgrind_begin_section, library.warpgrind_section_profile, library.warpgrind_free
    except AttributeError:
        return None
    begin.restype = ctypes.c_int
    begin.argtypes = []
    profile.restype = ctypes.c_void_p  # not c_char_p: the address is needed for warpgrind_free
    profile.argtypes = []
    free.restype = None
    free.argtypes = [ctypes.c_void_p]
    return begin, profile, free


_FUNCTIONS = _functions()


def available():
    """True if this process runs under `warpgrind run` or `warpgrind check`."""
    return _FUNCTIONS is not None


def begin():
    """Waits for the issued work and begins a section. False: impossible here, for example in a forked child."""
    return _FUNCTIONS is not None and _FUNCTIONS[0]() == 0


def profile():
    """The profile of the section until now (docs/profile-format.md), as a dict. None: nothing has called CUDA yet."""
    if _FUNCTIONS is None:
        return None
    text = _FUNCTIONS[1]()
    if not text:
        return None
    try:
        return json.loads(ctypes.string_at(text))
    finally:
        _FUNCTIONS[2](text)
