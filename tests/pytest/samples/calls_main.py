import sys

import pytest

sys.exit(pytest.main(["-p", "warpgrind_pytest.plugin", "--warpgrind", "test_host_only.py"]))
