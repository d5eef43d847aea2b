#!/usr/bin/env python3
"""Runs the shell steps of integrations/github-action/action.yml as GitHub's runner does, in a repository with a pull request.

  action_test.py --list
  action_test.py --warpgrind FILE [--archive FILE] [--root FOLDER] CASE...

--archive: the action installs this archive of `make package` instead of using FILE. --root: a system's root folder in which the steps run
(chroot; as root). 77: a tool is missing.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

SLOW = """__global__ void copy(const int* in, int* out, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8 % n + (blockIdx.x * blockDim.x + threadIdx.x) * 8 / n;
  out[i] = in[i];
}
"""
FAST = """__global__ void copy(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
"""
RACE = """__global__ void copy(const int* in, int* out, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[255 - threadIdx.x];
}
"""
MAIN = """
int main() {
  const int n = 1 << 14;
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemset(in, 0, n * sizeof(int));
  copy<<<n / 256, 256>>>(in, out, n);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
"""


def skip(reason):
    print(reason)
    sys.exit(77)


class Runner:
    """What the runner does of a composite action: inputs, conditions, environment files. `uses` steps are listed, not run."""

    def __init__(self, options, folder, repository):
        self.options, self.folder, self.repository = options, pathlib.Path(folder), repository
        self.temp = self.folder / "temp"
        self.temp.mkdir()
        self.files = {name: self.folder / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
        for file in self.files.values():
            file.touch()
        self.used = []

    def inside(self, path):
        """A path as the steps see it."""
        return "/" + os.path.relpath(path, self.options.root) if self.options.root else str(path)

    def value(self, text, inputs, base):
        known = {"runner.temp": self.inside(self.temp), "github.event.pull_request.base.sha": base,
                 "github.event_name": "pull_request" if base else "push"}
        known.update({"inputs." + name: value for name, value in inputs.items()})
        return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda match: known[match[1]], text)

    def holds(self, condition, inputs, base):
        for part in (condition or "").split("&&"):
            match = re.fullmatch(r"(inputs\.[\w-]+|github\.event_name) (==|!=) '(.*)'", part.strip())
            if not match:
                if part.strip() not in ("", "!cancelled()"):
                    sys.exit("a condition that this test does not know: " + part)
                continue
            value = self.value("${{ %s }}" % match[1], inputs, base)
            if (value == match[3]) != (match[2] == "=="):
                return False
        return True

    def run(self, action, given, base=""):
        """(exit code of the job, what it printed)"""
        unknown = set(given) - set(action["inputs"])
        assert not unknown, unknown
        inputs = {name: given.get(name, entry.get("default", "")) for name, entry in action["inputs"].items()}
        inputs = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in inputs.items()}
        failed, printed = 0, ""
        for step in action["runs"]["steps"]:
            always = "cancelled()" in step.get("if", "")
            if (failed and not always) or not self.holds(step.get("if"), inputs, base):
                continue
            if "uses" in step:
                self.used.append((step["uses"], {k: self.value(str(v), inputs, base) for k, v in step["with"].items()}))
                continue
            assert step["shell"] == "bash", step
            script = self.folder / "step.sh"
            script.write_text(self.value(step["run"], inputs, base))
            environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.inside(self.folder), "CI": "true",
                           "LANG": "C.UTF-8",
                           "RUNNER_TEMP": self.inside(self.temp), "GITHUB_ACTION_PATH": self.inside(self.folder / "checkout/integrations/github-action"),
                           **{name: self.inside(file) for name, file in self.files.items()}}
            if not self.options.archive:
                environment["PATH"] = os.path.dirname(self.options.warpgrind) + ":" + environment["PATH"]
            for line in self.files["GITHUB_PATH"].read_text().splitlines():
                environment["PATH"] = line + ":" + environment["PATH"]
            environment.update({name: self.value(str(value), inputs, base) for name, value in step.get("env", {}).items()})
            words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", self.inside(script)]
            if self.options.root:
                words = ["chroot", self.options.root, "env", "-i", *["%s=%s" % pair for pair in environment.items()], "sh", "-c",
                         'cd "$1" && shift && exec "$@"', "sh", self.inside(self.repository), *words]
            done = subprocess.run(words, cwd=self.repository, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            printed += "== %s\n%s" % (step["name"], done.stdout)
            if done.returncode:
                failed = failed or done.returncode
        return failed, printed

    def summary(self):
        return self.files["GITHUB_STEP_SUMMARY"].read_text()

    def outputs(self):
        return dict(line.split("=", 1) for line in self.files["GITHUB_OUTPUT"].read_text().splitlines())


def expect(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text):
            sys.exit("no %r in:\n%s" % (pattern, text))


def commit(repository, kernel):
    (repository / "copy.cu").write_text(kernel + MAIN)
    git = ["git", "-C", str(repository), "-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "change"], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


BUILD = {"build": "warpgrind nvcc -lineinfo -o copy copy.cu", "command": "./copy"}


def good(runner, action):
    commit(runner.repository, FAST)
    code, text = runner.run(action, {**BUILD, "expect": "copy*: global_store_sectors_per_request <= 4\n\n  shared_bank_conflicts == 0\n"})
    assert code == 0, text
    expect(runner.summary(), r"\| kernels that ran \| 1 in 1 processes \|", r"\| expectations that do not hold \| 0 \|", r"\| findings \| 0 \|")
    assert runner.outputs()["findings"] == "0", runner.outputs()
    assert [name.split("@")[0] for name, _ in runner.used] == ["github/codeql-action/upload-sarif", "actions/upload-artifact"], runner.used
    sarif = list((runner.temp / "warpgrind/sarif").glob("*.sarif"))
    assert len(sarif) == 2, sarif


def finds_the_race(runner, action):
    commit(runner.repository, RACE)
    code, text = runner.run(action, {**BUILD, "tool": "check"})
    assert code == 1, text
    expect(text, r"::error::warpgrind: 1 findings", r"race-shared")
    expect(runner.summary(), r"\| findings \| 1 \|", r"race-shared")
    assert runner.outputs()["findings"] == "1"
    assert len(runner.used) == 2, runner.used  # uploaded all the same


def expectation_does_not_hold(runner, action):
    commit(runner.repository, SLOW)
    code, text = runner.run(action, {**BUILD, "tool": "run", "sarif": "false", "artifact": "", "expect": "global_store_sectors_per_request <= 4"})
    assert code == 1, text
    expect(text, r"::error::warpgrind: 1 expectations do not hold")
    assert not runner.used, runner.used


def worse_than_the_base(runner, action):
    base = commit(runner.repository, FAST)
    commit(runner.repository, SLOW)
    code, text = runner.run(action, {**BUILD, "tool": "run", "compare": "true", "fail-on": "worse"}, base)
    assert code == 1, text
    expect(text, r"::error::warpgrind: counters are worse than at the base")
    expect(runner.summary(), r"\| counters beside the base's \| worse \|", r"Changes since the base")


def no_worse_than_the_base(runner, action):
    base = commit(runner.repository, SLOW)
    commit(runner.repository, FAST)
    code, text = runner.run(action, {**BUILD, "tool": "run", "compare": "true", "fail-on": "worse"}, base)
    assert code == 0, text
    expect(runner.summary(), r"\| counters beside the base's \| not worse \|")


def command_fails(runner, action):
    commit(runner.repository, FAST)
    code, text = runner.run(action, {"command": "false; true", "tool": "run"})
    assert code == 1, text
    expect(text, r"::error::warpgrind: the command failed with exit code 1")


def base_does_not_build(runner, action):
    base = commit(runner.repository, "no C++\n")
    commit(runner.repository, FAST)
    code, text = runner.run(action, {**BUILD, "tool": "run", "compare": "true", "fail-on": "worse command"}, base)
    assert code == 0, text
    expect(text, r"::warning::the base of the pull request could not be run")


CASES = {f.__name__: f for f in (good, finds_the_race, expectation_does_not_hold, worse_than_the_base, no_worse_than_the_base, command_fails,
                                 base_does_not_build)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--warpgrind")
    parser.add_argument("--archive")
    parser.add_argument("--root")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return
    try:
        import yaml
    except ImportError:
        skip("PyYAML is not installed (Debian: python3-yaml)")
    action = yaml.safe_load((ROOT / "integrations/github-action/action.yml").read_text())
    for name in options.cases or CASES:
        with tempfile.TemporaryDirectory(dir=options.root and os.path.join(options.root, "tmp")) as folder:
            folder = pathlib.Path(folder)
            os.chmod(folder, 0o755)
            repository = folder / "repository"
            repository.mkdir()
            subprocess.run(["git", "init", "-q", str(repository)], check=True)
            for part in ("integrations/github-action", "scripts/install.sh"):
                target = folder / "checkout" / part
                target.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, target)
            runner = Runner(options, folder, repository)
            if options.archive:
                archive = folder / "warpgrind.tar.xz"
                os.link(options.archive, archive) if os.stat(options.archive).st_dev == os.stat(folder).st_dev else shutil.copy(options.archive, archive)
                action["inputs"]["archive"]["default"] = runner.inside(archive)
            CASES[name](runner, action)
            print("ok", name)


if __name__ == "__main__":
    main()
