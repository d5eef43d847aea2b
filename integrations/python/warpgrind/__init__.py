"""Profiles of warpgrind as Python objects.

`profile` has the objects; `sections` makes the profile of a part of the running process (include/warpgrind/sections.h).
Functions that run, check and explain programs will be here, too."""
from warpgrind.profile import Finding, Kernel, Kernels, Profile

__all__ = ["Finding", "Kernel", "Kernels", "Profile"]
