#!/usr/bin/env python3
"""Checks of src/: includes against src/layers.txt, calls of functions that throw, sizes of files and functions, and rows of
tables that nothing reads.

  check_layers.py [--sizes]     --sizes also lists files and functions over the soft limits

Errors: an include of a folder that the including folder's line does not name; a line that names a folder of a later group; a folder
without a line, or in another group than its line. The same holds for parts of a folder with lines FOLDER.PART. Such a line names
only parts that have lines above it.
A constant of src/common/gpu/timing_constants.inc needs a reader: the estimate, or the rule of a constant that has one. So does a
row of src/engine/sass/costs.inc, in classify.cpp, and a value of an enum that is a column of the table of opcodes.
Files may have 800 lines and functions 120; scripts/size_exceptions.txt lists exceptions, one a line: PATH[:FUNCTION] REASON.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE_SOFT, FILE_HARD = 400, 800
FUNCTION_SOFT, FUNCTION_HARD = 60, 120
NOT_A_FUNCTION = re.compile(r"^\s*(if|for|while|switch|else|do|namespace|struct|class|enum|union|extern|return|catch|case|"
                            r"default|try|#)\b|^\s*#|=\s*\{$|\)\s*=>|\[[^\]]*\]\s*(\([^)]*\))?[^;{]*\{$")


def read_layers(errors):
    """Permitted includes of each folder and of each part, and the group of each folder."""
    layers, groups, parts, group = {}, {}, {}, None
    for line in (ROOT / "src/layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("group "):
            group = line.split()[1]
        elif line:
            folder, _, granted = line.partition(":")
            if "." in folder:
                folder, _, part = folder.partition(".")
                above = parts.setdefault(folder, {})
                for other in granted.split():
                    if other not in above:
                        errors.append(f"src/layers.txt: {folder}.{part}: no line above it is of part {other}")
                above[part] = granted.split()
            else:
                layers[folder], groups[folder] = granted.split(), group
    order = list(dict.fromkeys(groups.values()))
    for folder, granted in layers.items():
        for other in granted:
            if other not in groups:
                errors.append(f"src/layers.txt: {folder}: there is no folder {other}")
            elif order.index(groups[other]) > order.index(groups[folder]):
                errors.append(f"src/layers.txt: {folder}, of group {groups[folder]}, may not include {other}, of the later group {groups[other]}")
    for folder in parts:
        if folder not in layers:
            errors.append(f"src/layers.txt: {folder}: its parts have lines, and it has none")
            continue
        for part in parts[folder]:
            if part != "here" and not (ROOT / "src" / groups[folder] / folder / part).is_dir():
                errors.append(f"src/layers.txt: {folder}: there is no subfolder {part}")
    return layers, groups, parts


def part_of(inside):
    """Part of a folder (src/layers.txt) to which the file with this path inside the folder belongs."""
    return inside[0] if len(inside) > 1 else "here"


def check_includes(layers, groups, parts, errors):
    for path in sorted(ROOT.glob("src/*/*/**/*")):
        if path.suffix not in (".h", ".cpp", ".inc"):
            continue
        group, folder, *inside = path.relative_to(ROOT / "src").parts
        part = part_of(inside)
        if groups.get(folder) != group:
            errors.append(f"{path.relative_to(ROOT)}: {folder} has no line in group {group} of src/layers.txt")
            continue
        if folder in parts and part not in parts[folder]:
            errors.append(f"{path.relative_to(ROOT)}: src/layers.txt has no line {folder}.{part}")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            include = re.match(r'\s*#\s*include\s+"([a-z0-9_]+)/([^"]+)"', line)
            if include and include[1] in layers and include[1] != folder and include[1] not in layers[folder]:
                errors.append(f"{path.relative_to(ROOT)}:{number}: {folder} may not include {include[1]} (src/layers.txt)")
            if include and include[1] == folder and folder in parts:
                other = part_of(include[2].split("/"))
                if other != part and other not in parts[folder][part]:
                    errors.append(f"{path.relative_to(ROOT)}:{number}: {folder}.{part} may not include {folder}.{other} (src/layers.txt)")
        foreign = "llvm/" if folder not in ("codegen", "launchpass") else None
        if foreign and re.search(r'#\s*include\s+["<]llvm/', path.read_text(errors="replace")):
            if folder not in ("base", "fatbin", "session"):  # demangling and object files are libraries like any other
                errors.append(f"{path.relative_to(ROOT)}: only codegen and launchpass include LLVM")


# Files that may read the environment. "Settings are decided in src/app/cli" (docs/ARCHITECTURE.md), which passes them to the process
# under test in one variable. The exceptions concern programs, temporary files, the loader, the terminal and NCCL's own variable.
READ_ENVIRONMENT = {
    "src/common/base/installation.cpp", "src/common/base/temporary_folder.cpp", "src/app/cli/class_reports.cpp", "src/app/cli/compile_program.cpp", "src/app/cli/mpi_rank.cpp",
    "src/app/cli/needed_libraries.cpp", "src/app/cli/nvcc_command.cpp", "src/app/cli/sanitizer.cpp", "src/api/runtime/entry.cpp", "src/api/runtime/preload.cpp", "src/api/runtime/preload_open.cpp", "src/api/runtime/preload_tools.cpp", "src/compiler/nvrtc/nvrtc.cpp",
    "src/app/cli/serve_command.cpp", "src/compiler/jitlink/nvidia.cpp", "src/compiler/nvvm/nvvm.cpp", "src/analysis/report/terminal.cpp",
    "src/api/session/options.cpp", "src/api/session/session.cpp", "src/api/adapter/sources.cpp", "src/app/debug/line_editor.cpp",
    "src/compiler/nvrtc/debugged.cpp", "src/api/libraries/nccl/sockets.cpp"}


def check_environment(errors):
    for path in sorted(ROOT.glob("src/**/*.cpp")):
        name = str(path.relative_to(ROOT))
        if re.search(r"\bgetenv\(", path.read_text(errors="replace")) and name not in READ_ENVIRONMENT:
            errors.append(f"{name}: getenv() outside of those that may (READ_ENVIRONMENT)")


# Nothing in src/ may throw: its frames stand between machine code, programs in C and their callers (-fno-exceptions makes a
# call that throws end the process). Found by their spelling: at() with one argument, except these functions of
# our own; numbers from text; functions of std::filesystem without a std::error_code.
OUR_AT = re.compile(r"(\bwait_points|\belf)\.at$")
NUMBER_FROM_TEXT = re.compile(r"\bstd::sto(i|l|ll|ul|ull|f|d|ld)\(")
FILE_FUNCTION = re.compile(r"\b(?<!sys::)(?:fs|filesystem)::((?:recursive_)?directory_iterator(?: \w+)?|absolute|canonical|copy|copy_file|"
                           r"create_\w+|current_path|equivalent|exists|file_size|hard_link_count|is_\w+|last_write_time|"
                           r"permissions|proximate|read_symlink|relative|remove|remove_all|rename|resize_file|space|status|"
                           r"symlink_status|temp_directory_path|weakly_canonical)\(")
FILE_MEMBER = re.compile(r"(?:\.|->)(exists|is_(?!open|array|object|string|number|null|boolean)\w+|file_size|hard_link_count|"
                         r"last_write_time|status|symlink_status|refresh)\(\)")


def arguments(text, start):
    """Arguments of the call whose parenthesis opens before start; None if it is not closed."""
    depth, found = 0, [""]
    for character in text[start:]:
        if character in ")}]" and depth == 0:
            return [argument.strip() for argument in found]
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return None


def check_throwing(errors):
    for path in sorted(ROOT.glob("src/**/*")):
        if path.suffix not in (".h", ".cpp", ".inc"):
            continue
        text = re.sub(r"//.*", "", path.read_text(errors="replace"))
        codes = set(re.findall(r"\bstd::error_code&? (\w+)", text))

        def complain(at, what):
            errors.append(f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, at) + 1}: {what} (exceptions may not leave src)")

        for found in re.finditer(r"(?:\.|->)at\(", text):
            given = arguments(text, found.end())
            if given and len(given) == 1 and not given[0].startswith("Lanes<") and \
                    not OUR_AT.search(text[:found.end() - 1]):
                complain(found.start(), "at() throws: element() of base/element.h")
        for found in NUMBER_FROM_TEXT.finditer(text):
            complain(found.start(), f"{found[0]}) throws: std::from_chars()")
        for found in FILE_FUNCTION.finditer(text):
            given = arguments(text, found.end())
            if not given or not codes & set(given):
                complain(found.start(), f"{found[1]}() throws without a std::error_code")
        for found in re.finditer(r"(?<!:):\s+(?:std::)?(?:fs|filesystem)::(?:recursive_)?directory_iterator", text):
            complain(found.start(), "a range of a folder throws when it goes on: increment(problem)")
        if "<filesystem>" in text:
            for found in FILE_MEMBER.finditer(text):
                complain(found.start(), f"{found[1]}() throws without a std::error_code")


def functions(lines):
    """(name, first line, lines) of the outermost functions; relies on clang-format's indentation."""
    i = 0
    while i < len(lines):
        code = re.sub(r"\s*//.*", "", lines[i]).rstrip()
        if not code.endswith("{"):
            i += 1
            continue
        start = i  # the header may stand on several lines
        while start > 0 and re.sub(r"//.*", "", lines[start - 1]).strip() and \
                not re.search(r"([;{}:]|^\s*#.*)\s*$", re.sub(r"\s*//.*", "", lines[start - 1])):
            start -= 1
        header = " ".join(line.strip() for line in lines[start:i + 1])
        indent = len(lines[start]) - len(lines[start].lstrip())
        if "(" not in header or NOT_A_FUNCTION.search(header):
            i += 1
            continue
        end = i + 1
        while end < len(lines) and not re.match(rf"^\s{{0,{indent}}}\}}", lines[end]):
            end += 1
        name = re.search(r"([~\w:]+|operator[^\s(]*)\s*\(", header)
        yield (name[1] if name else "?"), start + 1, end - start + 1
        i = end + 1


def check_sizes(errors, notes):
    exceptions = {}
    listed = ROOT / "scripts/size_exceptions.txt"
    if listed.exists():
        for line in listed.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                what, _, reason = line.partition(" ")
                exceptions[what] = reason
    for path in sorted(p for folder in ("src", "lab", "bench") for p in ROOT.glob(f"{folder}/**/*")):
        if path.suffix not in (".h", ".cpp", ".cu", ".cc"):
            continue
        name = str(path.relative_to(ROOT))
        lines = path.read_text(errors="replace").splitlines()
        if len(lines) > FILE_SOFT and name not in exceptions:
            (errors if len(lines) > FILE_HARD else notes).append(f"{name}: {len(lines)} lines")
        for function, first, count in functions(lines):
            if count > FUNCTION_SOFT and f"{name}:{function}" not in exceptions:
                (errors if count > FUNCTION_HARD else notes).append(f"{name}:{first}: {function} has {count} lines")


def check_tables(errors):
    src = ROOT / "src"
    sources = {p: p.read_text(errors="replace") for p in src.rglob("*") if p.suffix in (".h", ".cpp", ".inc")}
    words = {p: set(re.findall(r"\w+", re.sub(r"//.*", "", text))) for p, text in sources.items()}
    table = src / "common/gpu/timing_constants.inc"
    rows = re.split(r"(?m)^(?=WG_TIMING(?:_OR_NONE)?\()", sources[table])[1:]
    rules = {re.match(r"\w+\((\w+)", row)[1]: set(re.findall(r"\w+", row)) for row in rows}
    read = {name for name in rules if any(name in found for p, found in words.items() if p != table)}
    while more := {name for name in rules if name not in read and any(name in rules[user] for user in read)}:
        read |= more
    errors += [f"timing_constants.inc: {name} has no reader" for name in rules if name not in read]

    classify = sources[src / "engine/sass/classify.cpp"]
    for name in re.findall(r"(?m)^WG_MACHINE_COST\((\w+)", sources[src / "engine/sass/costs.inc"]):
        if not re.search(rf"Cost::{name}\b|WG_ROW\({name}\)", classify):
            errors.append(f"costs.inc: nothing has the cost {name}")

    opcodes = "".join(text for p, text in sources.items() if "opcodes" in p.parts or p.name == "opcode.cpp")
    header = sources[src / "frontend/ptx/opcode.h"]
    for enum, body in re.findall(r"enum class (\w+) [^{]*{(.*?)}", header, re.DOTALL):
        for value in re.findall(r"\w+", re.sub(r"//.*|= *\d+", "", body)):
            if f"Required<{enum}>" in header and not re.search(rf"{enum}::{value}\b", opcodes):
                errors.append(f"opcode.h: no row has {enum}::{value}")


def main():
    errors, notes = [], []
    check_includes(*read_layers(errors), errors)
    check_environment(errors)
    check_throwing(errors)
    check_tables(errors)
    check_sizes(errors, notes)
    if "--sizes" in sys.argv[1:]:
        for note in notes:
            print(f"over the soft limit: {note}")
    for error in errors:
        print(f"error: {error}")
    print(f"layers and sizes: {len(errors)} errors, {len(notes)} over the soft limits")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
