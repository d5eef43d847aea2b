"""The plugin of a session on the virtual GPU: a section of the profile for each test, its findings, the summary."""
import collections
import ctypes
import json

import pytest

from warpgrind_pytest import conditions, suppressions
from warpgrind_pytest.children import Children
from warpgrind_pytest.recorder import Recorder

NEED_A_GPU = ("warpgrind", "gpu", "cuda")  # markers
MOST_LINES = 20  # of each list of the summary
MOST_COLUMNS = 48  # of a kernel's name there


class Session:
    def __init__(self, config):
        self.config = config
        self.current = None  # Recorder of the running test
        self._children = Children()
        self._checks = config.option.warpgrind_check
        self._suppressed = suppressions.read(config.option.warpgrind_suppress) if config.option.warpgrind_suppress else []
        self._reported = collections.Counter()  # findings of the running test that have failed a phase of it, as JSON
        self._passed = False  # the call of the running test
        self._kernels = {}  # name: [launches, tests]
        self._tests = self._with_kernels = 0
        self._idle = []  # tests that need a GPU and launched nothing

    # ---- A test

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.current, self._passed = Recorder(self._children), False
        self._reported.clear()
        yield
        self.current = None
        self._children.end()

    @staticmethod
    def _marks(item, name):
        return [mark.kwargs[name] for mark in item.iter_markers("warpgrind") if mark.kwargs.get(name) is not None]

    def skip_for_another_gpu(self, item):
        for gpu in self._marks(item, "gpu"):
            if self._children.gpu.lower() != gpu.lower():
                raise pytest.skip.Exception(f"needs --warpgrind-gpu {gpu}; this session models {self._children.gpu}",
                                            _use_item_location=True)

    # Findings fail the phase that made them, after the last action of the phase.

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self, item):
        self._fail_by_findings(item)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self, item):
        self._fail_by_findings(item)
        for mark in item.iter_markers("warpgrind"):
            why = conditions.failure(self.config.option, self.current.whole(), mark.kwargs.get("expect"),
                                     mark.kwargs.get("require_kernels"))
            if why:
                pytest.fail(f"warpgrind: a condition of the marker does not hold\n{why}", pytrace=False)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item):
        self._fail_by_findings(item)

    def _fail_by_findings(self, item):
        text = self._new_findings(item)
        if text:
            pytest.fail(text, pytrace=False)

    def _new_findings(self, item):
        """Text of the findings since the last call; empty: none, or they are allowed."""
        if "allowed" in self._marks(item, "findings"):
            return ""
        seen, new = collections.Counter(), []
        for finding in filter(self._is_bad, self.current.whole().findings):
            key = json.dumps(finding.json, sort_keys=True)
            seen[key] += 1
            if seen[key] > self._reported[key]:
                new.append(finding)
        self._reported = seen
        if not new:
            return ""
        title = "warpgrind check" if self._checks else "warpgrind"
        return f"{title}: {len(new)} finding{'s' if len(new) > 1 else ''}\n" + "\n".join(f.text for f in new)

    def _is_bad(self, finding):
        """Without --warpgrind-check only faults of kernels count: errors of calls are the test's to judge."""
        if finding.severity == "INFO" or any(suppressions.suppresses(s, finding.json) for s in self._suppressed):
            return False
        return self._checks or (finding.severity == "ERROR" and finding.kind != "API error")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if self.current is None:
            return
        if call.when == "call":
            self._passed = report.passed
        if report.failed and call.when != "teardown":
            text = self._new_findings(item)  # of a test that failed by itself
            if text:
                report.sections.append(("warpgrind", text))
        if call.when == "teardown":
            # xdist sends attributes of reports to the process that prints the summary.
            report.warpgrind_launched = self.current.whole().launched
            report.warpgrind_passed_a_gpu_test = self._passed and any(item.get_closest_marker(name) for name in NEED_A_GPU)

    # ---- The summary, in the process that prints it

    def pytest_runtest_logreport(self, report):
        launched = getattr(report, "warpgrind_launched", None)
        if launched is None:
            return
        self._tests += 1
        self._with_kernels += bool(launched)
        for name, launches in launched.items():
            of_kernel = self._kernels.setdefault(name, [0, 0])
            of_kernel[0] += launches
            of_kernel[1] += 1
        if report.warpgrind_passed_a_gpu_test and not launched:
            self._idle.append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter):
        if not self._tests:
            return
        tr = terminalreporter
        tr.section(f"warpgrind: virtual {self._children.gpu or 'GPU'}")
        tr.write_line(f"kernels ran in {self._with_kernels} of {_counted(self._tests, 'test')}")
        ordered = sorted(self._kernels.items(), key=lambda entry: (-entry[1][1], entry[0]))
        shown = [(_shortened(name), counts) for name, counts in ordered[:MOST_LINES]]
        width = max((len(name) for name, _ in shown), default=0)
        for name, (launches, tests) in shown:
            tr.write_line(f"  {name:{width}}  {_counted(launches, 'launch', 'launches')} in {_counted(tests, 'test')}")
        if len(ordered) > MOST_LINES:
            tr.write_line(f"  and {len(ordered) - MOST_LINES} more kernels")
        if self._idle:
            tr.write_line("marked as needing a GPU, and no kernel ran:")
            for nodeid in self._idle[:MOST_LINES]:
                tr.write_line(f"  {nodeid}")
            if len(self._idle) > MOST_LINES:
                tr.write_line(f"  and {len(self._idle) - MOST_LINES} more tests")

    def pytest_unconfigure(self):
        # `warpgrind run` fails a program that uses no CUDA. A session of tests may do so: the summary says it.
        if not self._kernels and not hasattr(self.config, "workerinput"):
            try:
                ctypes.CDLL("libcuda.so.1").cuInit(0)
            except (OSError, AttributeError):
                pass


def _shortened(name):
    """The end of a long name says most: Numba's begin with the module and the functions around the kernel."""
    return name if len(name) <= MOST_COLUMNS else "..." + name[3 - MOST_COLUMNS:]


def _counted(n, one, more=None):
    return f"{n} {one if n == 1 else more or one + 's'}"
