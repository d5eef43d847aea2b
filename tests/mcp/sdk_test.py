"""`warpgrind mcp` with the official client from npm: sdk_test.py WARPGRIND WORK. Exit code 77 (skipped, with the reason) where there is no Node, where
npm cannot install the client, or where no sandbox can be made."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def install(work):
    """The folder node_modules with what package-lock.json names; it stays for the next test."""
    modules, lock = work / "node_modules", HERE / "package-lock.json"
    installed = modules / "installed.lock"
    if installed.exists() and installed.read_bytes() == lock.read_bytes():
        return modules
    work.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, work / name)
    # Scripts of packages are not run; these need none.
    npm = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"], cwd=work, capture_output=True, text=True)
    if npm.returncode != 0:
        skip("npm cannot install the client: " + (npm.stderr.strip().splitlines() or ["?"])[0])
    shutil.copy(lock, installed)
    return modules


def main():
    warpgrind, work = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    for program in ("node", "npm"):
        if not shutil.which(program):
            skip(f"{program} is not installed")
    modules = install(work)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)  # started by root, programs run as another user
        ended = subprocess.run(["node", HERE / "sdk_client.mjs", "--warpgrind", warpgrind, "--modules", modules, "--folder", folder], timeout=280)
    sys.exit(ended.returncode)


if __name__ == "__main__":
    main()
