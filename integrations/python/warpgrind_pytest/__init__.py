"""The pytest plugin of warpgrind: `pytest --warpgrind` (docs/ci.md)."""
