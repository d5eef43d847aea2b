#!/usr/bin/env python3
"""page.py: writes docs/speed.md from history.jsonl, openmp.csv and counting.csv. --check compares instead."""
import sys

import history

if "--check" not in sys.argv[1:]:
    history.write_document()
elif history.DOCUMENT.read_text(encoding="utf-8") != history.document(history.records()):
    sys.exit(f"{history.DOCUMENT} differs from its rows: run bench/page.py")
