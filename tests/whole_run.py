"""What whole runs (`warpgrind run PROGRAM`) of all tests have in common."""
import os


def environment(**changes):
    """Of a run. In a build for a sanitizer (tests/CMakeLists.txt) the program is not instrumented, but our library is: then
    the sanitizer's own library must come first."""
    result = {**os.environ, **changes}
    if "WARPGRIND_TEST_PRELOAD" in os.environ:
        result["LD_PRELOAD"] = os.environ["WARPGRIND_TEST_PRELOAD"]
    return result
