#!/usr/bin/env python3
"""A part of the installation is missing, after a partial build or a full disk: each command names the file, where it was looked
for and what to do, and ends with exit code 2. It never takes NVIDIA's library of the name, and never blames the program.

  missing_parts.py --list
  missing_parts.py --build DIR NAME     exit code 0 passed, 1 failed, 77 skipped (the reason is printed)

The build folder is copied with hard links, and the part is left out of the copy. NVIDIA's libraries are played by empty ones
with their names (SONAME), so that no toolkit is needed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import whole_run  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
SKIP = 77
KERNEL = "#include <cmath>\n__global__ void k(float* x) { *x = cosf(*x); }\nint main() { k<<<1, 1>>>(nullptr); return 0; }\n"
OPENS = """#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** files) {
  for (int i = 1; i < count; i++) {
    void* library = dlopen(files[i], RTLD_NOW);
    printf("%s\\n", library && dlsym(library, "of_nvidia") ? "NVIDIA's" : library ? "opened" : dlerror());
  }
  return 0;
}
"""


class Part:
    def __init__(self, macro, columns):
        words = [c.strip().strip('"') for c in columns]
        self.needed_by = words[0]
        self.package, self.stands_in = "", macro == "WG_LIBRARY"
        self.configured = macro == "WG_CONFIGURED"
        if macro == "WG_PART":
            self.folder, self.file, self.target = words[1:4]
        else:
            self.folder, self.file, self.target = "libraries" if self.stands_in else "toolkit", *words[1:3]
        if self.stands_in:
            self.package = words[4]
        self.name = self.file.rpartition("/")[2]


def read_table():
    """The rows of src/common/base/parts.inc."""
    text = (SOURCE / "src/common/base/parts.inc").read_text()
    stubs = re.search(r"#define WG_STUBS\(name\)(.*?[^\\])\n", text, re.S).group(1).replace("\\\n", "\n")
    text = re.sub(r"#.*?[^\\]\n", "\n", re.sub(r"^//.*", "", text, flags=re.M), flags=re.S)
    text = re.sub(r'^WG_STUBS\("(.*)"\)', lambda m: stubs.replace('" name "', m[1]).replace('" name', m[1] + '"'), text,
                  flags=re.M)
    text = re.sub(r",\n\s+", ", ", text)
    rows = re.findall(r"^\s*(WG_(?:PART|LIBRARY|CONFIGURED))\((.*)\)\s*$", text, re.M)
    return [Part(macro, re.findall(r'"[^"]*"|[^,]+', re.sub(r",\s*", ",", columns))) for macro, columns in rows]


class Layout:
    """A build folder, or an installation, made of hard links to the files of the build."""

    def __init__(self, build, folder, installed=False):
        self.build, self.root, self.installed = build, folder, installed
        self.libraries = folder / ("lib/warpgrind" if installed else "lib")
        self.toolkit = self.libraries if installed else folder / "toolkit"
        self.program = folder / "bin/warpgrind"
        self.link(build / "bin/warpgrind", self.program)
        for path in sorted((build / "lib").rglob("*")):
            self.link(path, self.libraries / path.relative_to(build / "lib"))
        if not installed:
            for path in sorted((build / "toolkit").rglob("*")):
                self.link(path, self.toolkit / path.relative_to(build / "toolkit"))
            (folder / "build.ninja").touch()

    @staticmethod
    def link(path, to):
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            to.symlink_to(os.readlink(path))
        elif path.is_file():
            try:
                os.link(path, to)
            except OSError:  # another file system
                shutil.copy2(path, to)

    def path(self, part):
        return (self.libraries if part.folder == "libraries" else self.toolkit) / part.file

    def hide(self, part):
        path = self.path(part)
        if path.is_symlink() or path.is_file():
            path.unlink()

    def restore(self, part):
        path = self.path(part)
        self.hide(part)
        self.link(self.build / ("lib" if part.folder == "libraries" else "toolkit") / part.file, path)


class Test:
    def __init__(self, build, folder):
        self.build, self.folder, self.problems = build, folder, []
        self.parts = read_table()

    def part(self, file):
        return next(p for p in self.parts if p.file == file)

    def of_kind(self, kind):
        return [p for p in self.parts if p.needed_by == kind]

    def run(self, *command, cwd=None):
        print("$", *command, flush=True)
        environment = whole_run.environment(XDG_CACHE_HOME=str(self.build / "test-cache"), TMPDIR=str(self.folder))
        environment.pop("LD_LIBRARY_PATH", None)
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=environment, cwd=cwd or self.folder)
        print(done.stdout + done.stderr, flush=True)
        return done

    def refused(self, done, layout, part, stdout=r"\A\Z"):
        """By name, with the place and the way out, and with exit code 2."""
        said = f"the installation of warpgrind is not complete: {part.file} is missing"
        way = "install warpgrind again" if layout.installed else f"ninja -C {layout.root} {part.target}"
        for what, found in ((f"exit code 2, not {done.returncode}", done.returncode == 2), (said, said in done.stderr),
                            (f"{layout.path(part)}", f"looked for {layout.path(part)}\n" in done.stderr),
                            (way, way in done.stderr), (f"stdout like {stdout}", re.search(stdout, done.stdout))):
            if not found:
                self.problems.append(f"{part.file}: expected {what}")
        if report := whole_run.sanitizer_report(done.stderr):
            self.problems.append(report)

    # ---- Programs, and what plays NVIDIA's libraries
    def compile(self, output, text, *flags):
        source = output.with_name(output.name + ".c")
        source.write_text(text)
        subprocess.run(["cc", "-o", str(output), str(source), *map(str, flags)], check=True)
        return output

    def nvidias(self, name):
        folder = self.folder / "nvidia"
        folder.mkdir(exist_ok=True)
        library = folder / name
        return library if library.exists() else self.compile(
            library, "int of_nvidia(void) { return 1; }\n", "-shared", "-fPIC", f"-Wl,-soname,{name}")

    def user(self, output, library, *flags):
        """A program or library that needs `library`, and finds it by its run path before LD_LIBRARY_PATH is looked at."""
        text = '#include <stdio.h>\nint of_nvidia(void);\nint main(void) { puts("started"); return 1 - of_nvidia(); }\n'
        return self.compile(output, text, library, "-Wl,--disable-new-dtags", f"-Wl,-rpath,{library.parent}", *flags)


def table(test):
    """The table has each library that CMake installs, and targets that ninja knows."""
    scripts = "".join((test.build / f"{folder}cmake_install.cmake").read_text() for folder in ("src/", ""))
    of_build = re.escape(f"{test.build}/lib/") + '([^"]*)"'
    installed = set(re.findall(r'lib/warpgrind[^"]*" TYPE (?!DIRECTORY)\w+ (?:OPTIONAL )?FILES "' + of_build, scripts))
    links = {f for f in installed if re.fullmatch(r"lib(cu|nv|nccl)[\w-]*\.so", f)}
    versions = installed - links
    ours = {p.file for p in test.parts if p.folder == "libraries"}
    left_out = {p.file for p in test.parts if p.package}
    if len(versions) < 10:
        test.problems.append(f"CMake installs hardly anything: {versions}")
    for file in sorted(versions - ours):
        test.problems.append(f"{file} is installed and not in src/common/base/parts.inc")
    for file in sorted(ours - versions - left_out):
        test.problems.append(f"{file} is in src/common/base/parts.inc and not installed")
    rules = test.build / "build.ninja"
    if not rules.exists():
        print("not built by ninja: its targets are not looked at")
        return
    made = re.findall(r"^build ([^:]+):", rules.read_text(), re.M)
    targets = {name for names in made for name in names.split()}
    for part in test.parts:
        if part.target not in targets and not (part.package and part.file not in versions):
            test.problems.append(f"{part.file}: ninja knows no target {part.target}")
        if part.folder == "toolkit" and not part.configured and not part.package and f"toolkit/{part.file}" not in targets:
            if (test.build / "toolkit" / part.file).exists():
                test.problems.append(f"nothing makes toolkit/{part.file}")
        if part.configured and not os.path.lexists(test.build / "toolkit" / part.file) and "lib64/nvcc" not in part.file:
            test.problems.append(f"toolkit/{part.file} is not there, and CMake writes it")


def every_run(test):
    layout = Layout(test.build, test.folder / "layout")
    program = test.compile(test.folder / "program", "int main(void) { return 0; }\n")
    for part in test.of_kind("every_run"):
        layout.hide(part)
        test.refused(test.run(layout.program, "run", program), layout, part)
        test.refused(test.run(layout.program, "check", program), layout, part)
        layout.path(part).touch()  # as a full disk leaves it
        test.refused(test.run(layout.program, "run", program), layout, part)
        layout.restore(part)


def linked_library(test):
    """Each library of NVIDIA's name, of a program that is linked with it."""
    layout = Layout(test.build, test.folder / "layout")
    for part in (p for p in test.parts if p.stands_in and p.needed_by == "client"):
        layout.hide(part)
        program = test.user(test.folder / f"uses_{part.name}", test.nvidias(part.name))
        test.refused(test.run(layout.program, "run", program), layout, part)


def opened_library(test):
    """The same, opened while the program runs: by its name, without a version, by NVIDIA's path. The error of dlopen() names
    our file, and the run is not complete."""
    layout = Layout(test.build, test.folder / "layout")
    program = test.compile(test.folder / "opens", OPENS, "-ldl")
    newest = set()
    for part in (p for p in test.parts if p.stands_in and p.needed_by == "client"):
        layout.hide(part)
        nvidias, plain = test.nvidias(part.name), part.name[:part.name.index(".so") + 3]
        names = [part.name, nvidias] + ([] if plain in newest or plain == "libcudart.so" else [plain])
        newest.add(plain)
        for name in names:
            done = test.run("env", f"LD_LIBRARY_PATH={nvidias.parent}", layout.program, "run", "--quiet", program, name)
            test.refused(done, layout, part, rf"\A{re.escape(str(layout.path(part)))}: cannot open shared object file")
        layout.restore(part)


def library_of_a_library(test):
    """Libraries that the program's own library needs, and those that a library of ours needs."""
    layout = Layout(test.build, test.folder / "layout")
    part = test.part("libcufft.so.12")
    middle = test.folder / "libmiddle.so"
    nvidias = test.nvidias(part.name)
    test.compile(middle, "int of_nvidia(void);\nint middle(void) { return of_nvidia(); }\n", "-shared", "-fPIC", nvidias)
    program = test.compile(test.folder / "program", "int middle(void);\nint main(void) { return middle(); }\n", middle,
                           "-Wl,-rpath,$ORIGIN", f"-Wl,-rpath-link,{nvidias.parent}")
    layout.hide(part)
    test.refused(test.run(layout.program, "run", program), layout, part)
    layout.restore(part)
    if not layout.path(test.part("libcublas.so.13")).exists():
        return
    part = test.part("libcublasLt.so.13")
    layout.hide(part)
    program = test.user(test.folder / "uses_cublas", test.nvidias("libcublas.so.13"))
    test.refused(test.run(layout.program, "run", program), layout, part)


def later_process(test):
    """A program that a script starts, and a plugin that a program opens: NVIDIA's library is there by its run path."""
    layout = Layout(test.build, test.folder / "layout")
    part = test.part("libcusparse.so.12")
    program = test.user(test.folder / "program", test.nvidias(part.name))
    script = test.folder / "script.sh"
    script.write_text(f"#!/bin/sh\n{program} || exit $?\n")
    script.chmod(0o755)
    plugin = test.folder / "libplugin.so"
    test.user(plugin, test.nvidias(part.name), "-shared", "-fPIC")
    opens = test.compile(test.folder / "opens", OPENS, "-ldl")
    layout.hide(part)
    test.refused(test.run(layout.program, "run", script), layout, part)
    test.refused(test.run(layout.program, "run", opens, plugin), layout, part)


def installation(test):
    """Without a build folder, the advice is to install again."""
    layout = Layout(test.build, test.folder / "prefix", installed=True)
    part = test.part("libcurand.so.10")
    layout.hide(part)
    test.refused(test.run(layout.program, "run", test.user(test.folder / "program", test.nvidias(part.name))), layout, part)
    runtime = test.part("libcudart.so.13")
    layout.hide(runtime)
    test.refused(test.run(layout.program, "run", test.folder / "program"), layout, runtime)


def complete(test):
    """Nothing is missing: no word of it, and ours is opened."""
    for part in test.parts:
        if part.stands_in and part.name == "libnvidia-ml.so.1" and not (test.build / "lib" / part.file).exists():
            print("libnvidia-ml.so.1 was not built")
            return SKIP
    layout = Layout(test.build, test.folder / "layout")
    program = test.compile(test.folder / "opens", OPENS, "-ldl")
    nvidias = test.nvidias("libnvidia-ml.so.1")
    for name in ("libnvidia-ml.so.1", "libnvidia-ml.so", nvidias):
        done = test.run("env", f"LD_LIBRARY_PATH={nvidias.parent}", layout.program, "run", program, name)
        if done.stdout != "opened\n" or "not complete" in done.stderr:
            test.problems.append(f"{name}: {done.stdout}")


def nvidias_own(test):
    """Nothing is missing, and NVIDIA has libraries that we have not: said once, by name."""
    program = test.build / "tests/run/open_driver"
    if not program.exists() or not (test.build / "lib/libcuda.so.1").exists():
        print("open_driver or libcuda.so.1 was not built")
        return SKIP
    names = ["libcutensor.so.2", "libcudnn.so.9"]
    command = [program, "libcuda.so.1", *(test.nvidias(name) for name in names), test.nvidias("libnvrtc-builtins.so.13.0")]
    done = test.run(test.build / "bin/warpgrind", "run", *command)
    said = re.findall(r"^warpgrind: NVIDIA's own (.*) (?:is|are) loaded; warpgrind has no replacement", done.stderr, re.M)
    if said != [", ".join(names)] or done.returncode != 0:
        test.problems.append(f"named: {said}, exit code {done.returncode}")
    for word in ("warpgrind has no cuTENSOR. Kernels, cuBLAS, ", "warpgrind has no cuDNN. Kernels, cuBLAS, "):
        if done.stderr.count(word) != 1:
            test.problems.append(f"not said once: {word}")
    if "NVIDIA's own" in test.run(test.build / "bin/warpgrind", "run", "--quiet", *command).stderr:
        test.problems.append("--quiet says it, too")


def nvidias_absent(test):
    """The loader does not start a program that is linked to a library of NVIDIA's that is not there: said why."""
    library = test.nvidias("libcutensor.so.2")
    program = test.user(test.folder / "linked", library)
    library.unlink()
    done = test.run(test.build / "bin/warpgrind", "run", program)
    if done.returncode != 127 or f"{program} needs libcutensor.so.2, which is not on this machine" not in done.stderr \
            or "warpgrind has no cuTENSOR" not in done.stderr or "no CUDA code found" in done.stderr:
        test.problems.append(f"exit code {done.returncode}: {done.stderr}")


def compilation(test):
    """Before clang starts: `warpgrind nvcc`, and `run` and `check` of a source."""
    layout = Layout(test.build, test.folder / "layout")
    (test.folder / "k.cu").write_text(KERNEL)
    for part in test.of_kind("every_compilation"):
        if part.configured:
            continue  # below a link to the sources
        layout.hide(part)
        test.refused(test.run(layout.program, "nvcc", "-c", "k.cu"), layout, part)
        for command in ("run", "check"):
            test.refused(test.run(layout.program, command, "--compiler", "clang", "--no-cache", "k.cu"), layout, part)
        layout.restore(part)
    for part in test.of_kind("every_link"):
        layout.hide(part)
        test.refused(test.run(layout.program, "nvcc", "k.cu"), layout, part)
        layout.restore(part)
    (layout.toolkit / "include").unlink()
    done = test.run(layout.program, "nvcc", "-c", "k.cu")
    test.refused(done, layout, test.part("include/cuda_runtime.h")) if f"cmake {layout.root} && " in done.stderr else \
        test.problems.append("cmake makes the link to the headers, and is not named")


def linked_with_a_name(test):
    """-lcufft and its like: the library and its stub."""
    layout = Layout(test.build, test.folder / "layout")
    (test.folder / "k.cu").write_text(KERNEL)
    stubs = [p for p in test.parts if re.fullmatch(r"lib64/lib(?!cudart)\w[\w-]*\.so", p.file)]
    if len(stubs) < 9:
        test.problems.append(f"few stubs: {[s.file for s in stubs]}")
    for stub in stubs:
        library = next(p for p in test.parts if p.stands_in and p.name.startswith(stub.name + "."))
        option = "-l" + stub.name[3:-3]
        nvidias = f"-L{test.nvidias(stub.name).parent}"
        for part in (library, stub):
            if not layout.path(library if part is stub else stub).exists():
                continue  # left out of this build
            layout.hide(part)
            test.refused(test.run(layout.program, "nvcc", "k.cu", nvidias, option), layout, part)
            layout.restore(part)


def judge(test):
    """The judge does not blame the answer."""
    layout = Layout(test.build, test.folder / "layout")
    exercises = SOURCE / "exercises"
    answer = test.folder / "vector_add"
    test.run(layout.program, "exercise", "--exercises", exercises, "start", "vector_add")
    for part in (p for kind in ("every_run", "every_compilation", "every_link") for p in test.of_kind(kind)):
        if part.configured:
            continue
        layout.hide(part)
        for words in (["check"], ["check", "--all", "."]):
            done = test.run(layout.program, "exercise", "--exercises", exercises, *words, cwd=answer)
            test.refused(done, layout, part)
        test.refused(test.run(layout.program, "serve", "--data", test.folder / "data"), layout, part)
        layout.restore(part)


def runtime_compilation(test):
    """The log of our NVRTC names the file."""
    library = test.build / "lib/nvrtc/libnvrtc.so.13"
    if not library.exists():
        print("libnvrtc.so.13 was not built")
        return SKIP
    layout = Layout(test.build, test.folder / "layout")
    program = test.compile(test.folder / "compiles", r'''#include <nvrtc.h>
#include <stdio.h>
int main(void) {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, "__global__ void k(float* x) { *x = cosf(*x); }", "k.cu", 0, 0, 0);
  const nvrtcResult result = nvrtcCompileProgram(program, 0, 0);
  static char log[10000];
  nvrtcGetProgramLog(program, log);
  fputs(log, stderr);
  return result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE ? 2 : 1;
}
''', f"-I{SOURCE / 'include'}", layout.libraries / "nvrtc/libnvrtc.so.13", f"-Wl,-rpath,{layout.libraries / 'nvrtc'}")
    part = test.part("libdevice.bc")
    layout.hide(part)
    test.refused(test.run(program), layout, part)


CASES = [table, every_run, linked_library, opened_library, library_of_a_library, later_process, installation, complete, nvidias_own, nvidias_absent,
         compilation,
         linked_with_a_name, judge, runtime_compilation]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("name", nargs="?")
    args = parser.parse_args()
    if args.list:
        print("\n".join(c.__name__ for c in CASES))
        return 0
    case, build = next(c for c in CASES if c.__name__ == args.name), args.build.resolve()
    # In the build folder, for the hard links.
    with tempfile.TemporaryDirectory(prefix="missing-parts-", dir=build / "tests/run") as folder:
        test = Test(build, pathlib.Path(folder))
        code = case(test)
    for problem in test.problems:
        print("FAILED:", problem)
    return 1 if test.problems else code or 0


if __name__ == "__main__":
    sys.exit(main())
