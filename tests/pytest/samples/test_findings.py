"""Findings of --warpgrind-check, each in the test that made it."""
import gpu
import pytest


def test_clean():
    gpu.run("copy")


def test_race():  # fails
    gpu.run("race", threads=128)


def test_clean_again():
    gpu.run("copy")


def test_same_race_again():  # fails
    gpu.run("race", threads=128)


@pytest.mark.warpgrind(findings="allowed")
def test_allowed(warpgrind):
    gpu.run("race", threads=128)
    assert [f.kind for f in warpgrind.findings] == ["race-shared"]
    assert "block" in warpgrind.findings[0].text


@pytest.mark.xfail(reason="known race", strict=True)
def test_expected_failure():
    gpu.run("race", threads=128)


@pytest.fixture
def racing_fixture():
    yield
    gpu.run("race", threads=128)


def test_outside(warpgrind):  # fails, and the run goes on
    gpu.run("copy", threads=64, words=32)


def test_race_in_teardown(racing_fixture):  # an error at teardown
    gpu.run("copy")


def test_after_all():
    gpu.run("copy")
