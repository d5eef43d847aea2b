import pytest


@pytest.mark.warpgrind("copy", require_kernel="copy")  # neither is an argument of the marker
def test_nothing():
    pass
