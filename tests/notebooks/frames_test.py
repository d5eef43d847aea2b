"""The frames of results."""
import warpgrind
from samples import COPY, OUTSIDE

ran = warpgrind.run(COPY, gpu="t4")
frame = ran.frame()
assert frame.loc["copy", "global_load_sectors_per_request"] == 4, frame
assert len(warpgrind.diff(ran, warpgrind.run(COPY, args=["x"], gpu="t4")).frame()) > 3
assert list(warpgrind.check(OUTSIDE).frame()["kind"])[0] == "oob-global-write"
assert list(warpgrind.explain(ran).frame()["sectors"]) == [4, 4]
