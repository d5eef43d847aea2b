#!/usr/bin/env python3
"""Sentence lengths of our documents and of the comments in src/**/*.h, in words. Rule of CONTRIBUTING.md: 25 on average, at most 35.

    scripts/sentences.py [FILE ...]       a row per document: words, median, mean, longest; default: all documents in git
    scripts/sentences.py --long FILE      sentences of more than 35 words in a document or header
    scripts/sentences.py --check          checks documents and headers; exit code 1 if one breaks the rule

--check accepts the documents in scripts/sentences_todo.txt, and reports those that meanwhile keep the rule. Headers must keep the
limit of 35 words, and must not contain the words of FORBIDDEN. A document begins with its heading and holds no marks of a merge.

Code blocks and generated parts of documents are not counted. Each table cell and each heading is a sentence; inline code is one word.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEAN, LONGEST = 25, 35
FORBIDDEN = re.compile(r"(?<!<)\b(told|tells|who|whoever|whom|nobody|somebody|anybody|anyhow|thereby|such a one)\b", re.I)
COMMENT = re.compile(r"^(.*?)//(?!/)(.*)$")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx)\.$")


def paragraphs(text):
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", "\n\n", text, flags=re.M | re.S)
    text = re.sub(r"<!-- (?:figures: [a-z0-9-]+|tables) -->.*?<!-- end -->", " figure ", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.S)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.M) if not re.search(r"^\s*[-*] ", text, re.M) else text
    for block in re.split(r"\n\s*\n", text):
        # Each heading, list item and table row is a paragraph.
        for part in re.split(r"\n(?=\s*(?:[-*] |\d+\. |#|\|))", block):
            part = part.strip()
            if re.fullmatch(r"[|\s:-]*", part):
                continue
            if part.startswith("|"):
                yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", part.strip("|")))
            else:
                yield re.sub(r"^(?:[-*] |\d+\. |#+ )", "", part)


def sentences(text):
    for paragraph in paragraphs(text):
        flat = re.sub(r"`+[^`]+`+", "code", paragraph)
        flat = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", flat)
        flat = re.sub(r"<https?:[^>]*>|https?:\S+", "link", flat)
        flat = " ".join(flat.replace("*", "").split())
        begin = 0
        for end in re.finditer(r"[.!?][\"')]*(?=\s+[\"'(A-Z0-9]|\s+code|$)|:$", flat):
            if not ABBREVIATION.search(flat[begin:end.end()]):
                yield flat[begin:end.end()].strip()
                begin = end.end()
        if flat[begin:].strip():
            yield flat[begin:].strip()


def words(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


def comments(text):
    """The comments of C++ code as paragraphs of Markdown. An indented line of a comment, as in a table, is a paragraph."""
    out = []
    continues = False
    for line in text.split("\n"):
        found = COMMENT.match(line) if "//" in line else None
        if not found or '"' in found[1]:  # "//" may be part of a string
            continues = False
            continue
        code, comment = found[1].strip(), found[2]
        own_paragraph = code or comment.startswith("   ") or re.match(r" ?(?:[-*] |----)", comment)
        if not continues or own_paragraph or not comment.strip():
            out.append("")
        out.append(comment.strip(" -"))
        continues = not code
    # A sentence may begin with an identifier in lower case.
    return re.sub(r"(?<=[.!?]\s)[a-z]", lambda first: first[0].upper(), "\n".join(out))


def prose(path):
    """The sentences of at least four words; shorter ones are headings, cells and labels."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".h":
        text = comments(text)
    return [(len(words(s)), s) for s in sentences(text) if len(words(s)) > 3]


def header_problems(path, name):
    for length, sentence in prose(path):
        if length > LONGEST:
            yield f"{name}: a sentence of {length} words: {sentence[:80]}..."
        if found := FORBIDDEN.search(sentence):
            yield f"{name}: {found[1]!r} in: {sentence[:80]}"


def document_problems(path, name):
    lines = path.read_text().splitlines()
    if not lines or not re.match(r"# |<!--|---$", lines[0]):
        yield f"{name}: the first line is no heading"
    for number, line in enumerate(lines, 1):
        if re.match(r"(<{7}|>{7}) |={7}$", line):
            yield f"{name}:{number}: a mark of a merge"


def git_files(pattern):
    listed = subprocess.run(["git", "ls-files", pattern], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\n") if name and (ROOT / name).exists()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("file", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = options.file
    if not files:
        files = git_files("*.md")
    todo = (ROOT / "scripts/sentences_todo.txt").read_text().split("\n") if options.check else []
    problems = []
    if options.check and not options.file:
        for path in git_files("src/*.h"):
            problems += header_problems(path, path.relative_to(ROOT))
    if not options.check and not options.long:
        print(f"{'document':40} {'words':>7} {'median':>7} {'mean':>6} {'longest':>8} {'over 35':>8}")
    for path in files:
        if options.check and path.suffix == ".md":
            problems += document_problems(path, path.resolve().relative_to(ROOT))
        found = prose(path)
        if not found:
            continue
        lengths = [n for n, _ in found]
        name = str(path.resolve().relative_to(ROOT)) if path.resolve().is_relative_to(ROOT) else str(path)
        keeps = statistics.mean(lengths) <= MEAN and max(lengths) <= LONGEST
        if options.long:
            print("\n".join(f"{n:3} {s}" for n, s in found if n > LONGEST))
        elif options.check:
            if not keeps and name not in todo:
                problems.append(f"{name}: {statistics.mean(lengths):.0f} words a sentence, the longest has {max(lengths)}")
            if keeps and name in todo:
                problems.append(f"{name}: keeps the rule: take it out of scripts/sentences_todo.txt")
        else:
            print(f"{name:40} {sum(lengths):7} {statistics.median(lengths):7.1f} {statistics.mean(lengths):6.1f} {max(lengths):8} "
                  f"{sum(n > LONGEST for n in lengths) * 100 / len(lengths):7.1f}%")
    for problem in problems:
        print("error: " + problem)
    if options.check:
        print(f"sentences: {len(problems)} errors, {len([t for t in todo if t and not t.startswith('#')])} documents still to be rewritten")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
