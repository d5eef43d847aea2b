"""The functions of warpgrind/sections.h, without pytest."""
import os
import sys

from warpgrind import sections
from warpgrind.profile import Kernel, Kernels, Profile

assert sections.available()
assert sections.profile() is None, "nothing has called CUDA yet"
assert sections.begin()

import gpu  # noqa: E402


def launched():
    return Profile(sections.profile()).launched


gpu.run("copy")
assert launched() == {"copy": 1}
gpu.run("copy")
assert launched() == {"copy": 2}, "the section goes on"
first = sections.profile()
assert first["kernels"][0]["launches"] == 2 and first["launches"] == first["timeline"] == first["host_timeline"] == []
assert sections.begin()
assert launched() == {}
gpu.run("strided")
profile = sections.profile()
assert [k["name"] for k in profile["kernels"]] == ["strided"]
assert profile["activity"]["launched"][0]["launches"] == 1
assert profile["kernels"][0]["launches"] == 1 and profile["transfers"] == []

# An error that the program reads is in the section that made it.
name = gpu.ctypes.c_void_p()
assert gpu.driver.cuModuleGetFunction(gpu.ctypes.byref(name), gpu._gpu.module, b"nothing") == 500
assert [(f["call"], f["count"]) for f in sections.profile()["activity"]["failed_calls"]] == [("cuModuleGetFunction", 1)]
assert sections.begin()
assert sections.profile()["activity"]["failed_calls"] == []

# Names of kernels and counters.
templates = Kernels(Kernel({"name": name}) for name in ("void ns::add<float>(float*, int)", "void ns::add<double>(double*, int)",
                                                       "cudapy::app::half[abi:v1][abi:c8](Array<float, 1, C>)"))
assert len(templates.matching("add")) == len(templates.matching("ns::add")) == 2
assert templates["add<float>"].short_name == "ns::add<float>" and templates["half"].short_name == "cudapy::app::half"
for wrong, message in (("add", "2 kernels match"), ("sub", 'no kernel called "sub" ran; there ran ns::add<float>')):
    try:
        templates[wrong]
    except KeyError as error:
        assert message in error.args[0], error
    else:
        raise AssertionError(wrong)
try:
    templates["half"].global_load_sectors
except AttributeError as error:
    assert "cudapy::app::half has no global_load_sectors" in str(error)
else:
    raise AssertionError("no such figure")

child = os.fork()
if child == 0:  # CUDA does not work in it
    os._exit(0 if not sections.begin() and sections.profile() is None else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("good")
sys.stdout.flush()
