"""Counters of one test."""
import gpu
import pytest


def test_copy_is_coalesced(warpgrind):
    gpu.run("strided")
    warpgrind.reset()
    gpu.run("copy")
    gpu.run("copy")
    copy = warpgrind.kernels["copy"]
    assert copy.launches == 2
    assert copy.global_load_sectors_per_request <= 4
    assert copy.smsp__warps_launched_sum == 4
    assert copy.counter("smsp__warps_launched.sum") == 4
    assert 0 < copy.estimated_seconds < 1
    assert copy.block == (64, 1, 1)


def test_only_its_own_kernels(warpgrind):
    assert len(warpgrind.kernels) == 0
    gpu.run("strided")
    assert [k.short_name for k in warpgrind.kernels] == ["strided"]
    assert "str*" in warpgrind.kernels and "copy" not in warpgrind.kernels
    with pytest.raises(KeyError, match='no kernel called "copy" ran; there ran strided'):
        warpgrind.kernels["copy"]


def test_near_names(warpgrind):
    gpu.run("copy")
    with pytest.raises(AttributeError, match="did you mean global_load_sectors"):
        warpgrind.kernels["copy"].global_load_sector


def test_strided_is_not_coalesced(warpgrind):  # fails
    gpu.run("strided")
    assert warpgrind.kernels["strided"].global_load_sectors_per_request <= 4
