"""Hooks of pytest. Without --warpgrind only the options, the marker and the fixture exist."""
import pytest

MARKER = ("warpgrind(expect=None, require_kernels=None, gpu=None, findings=None): needs a GPU. On the virtual GPU (--warpgrind), "
          "`expect` (a condition of `warpgrind run --expect`, or a list) must hold, a kernel of each name in `require_kernels` "
          "must run, `gpu` must be the modelled one, and findings=\"allowed\" lets findings pass")

ARGUMENTS = ("expect", "require_kernels", "gpu", "findings")


def pytest_addoption(parser):
    group = parser.getgroup("warpgrind", "tests on a virtual GPU")
    group.addoption("--warpgrind", action="store_true", help="runs the session on warpgrind's virtual GPU")
    group.addoption("--warpgrind-check", action="store_true", help="also checks kernels: findings fail the test that made them")
    group.addoption("--warpgrind-gpu", metavar="MODEL", help="GPU model (`warpgrind gpus` lists them)")
    group.addoption("--warpgrind-args", metavar="ARGS", help="further options of `warpgrind run` or `warpgrind check`")
    group.addoption("--warpgrind-suppress", metavar="FILE", help="findings that fail no test (`warpgrind check --gen-suppressions`)")
    group.addoption("--warpgrind-program", metavar="FILE", help="the program warpgrind (default: $WARPGRIND, then PATH)")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config, parser, args):
    # Before conftest files are loaded: they may open CUDA.
    options = early_config.known_args_namespace
    asks = options.warpgrind or options.warpgrind_check
    if not asks or options.help or options.version:
        return
    from warpgrind_pytest import restart

    restart.start_again(early_config, options, early_config.invocation_params.args)


def pytest_configure(config):
    config.addinivalue_line("markers", MARKER)
    if not (config.option.warpgrind or config.option.warpgrind_check):
        return
    from warpgrind_pytest.session import Session

    config.pluginmanager.register(Session(config), "warpgrind_session")


def pytest_collection_modifyitems(items):
    for item in items:
        for mark in item.iter_markers("warpgrind"):
            wrong = [repr(value) for value in mark.args] + [name for name in mark.kwargs if name not in ARGUMENTS]
            if mark.kwargs.get("findings", "allowed") != "allowed":
                wrong.append(f"findings={mark.kwargs['findings']!r}")
            if wrong:
                raise pytest.UsageError(f"{item.nodeid}: the marker warpgrind does not take {', '.join(wrong)}; it takes "
                                        "expect=, require_kernels=, gpu= and findings=\"allowed\"")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if item.get_closest_marker("warpgrind") is None:
        return
    session = item.config.pluginmanager.getplugin("warpgrind_session")
    if session is not None:
        session.skip_for_another_gpu(item)
        return
    from warpgrind_pytest import real_gpu

    if not real_gpu.present():
        raise pytest.skip.Exception("needs a GPU: there is none; --warpgrind runs it on a virtual one", _use_item_location=True)


@pytest.fixture
def warpgrind(request):
    """The profile of the test until now: `kernels`, `findings`, `transfers`, `library_calls`, `launched`, `json`."""
    session = request.config.pluginmanager.getplugin("warpgrind_session")
    if session is None:
        pytest.skip("needs the profile of the virtual GPU: --warpgrind")
    return session.current
