#!/usr/bin/env python3
"""collect.py GPU CASES LINES: makes results.txt of the lines "mode hash form" that run_forms_on_gpu wrote for CASES, in the order of
forms.txt. GPU is what the file says about the machine. Results of forms that LINES does not have are kept."""
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
MODES = ('lanes', 'guard', 'not', 'uniform', 'affine')


def main():
    gpu, cases, lines = sys.argv[1:]
    path = HERE / 'results.txt'
    old = path.read_text().splitlines() if path.exists() else []
    hashes = {line.split(' ', 5)[5]: line.split(' ', 5)[:5] for line in old if line and line[0] != '#'}
    new, asked = {}, set()
    for line in (pathlib.Path(cases) / 'cases.txt').read_text().splitlines():
        if line.startswith('form '):
            _, mode, _, _, form = line.split(' ', 4)
            asked.add((mode, form))
    for line in pathlib.Path(lines).read_text().splitlines():
        mode, value, form = line.split(' ', 2)
        if (mode, form) in asked:
            new.setdefault(form, ['-'] * 5)[MODES.index(mode)] = value
    # A form of which one mode failed has no result.
    failed = {form for mode, form in asked if form in new and new[form][MODES.index(mode)] == '-'}
    hashes.update((form, new[form]) for form in new if form not in failed)
    forms = [line[2:] for line in (HERE.parent / 'data' / 'forms' / 'forms.txt').read_text().splitlines() if line[0] == '+']
    head = ['# One line a form: the hash (cases.h) of what it left in each mode of generate.py, lanes guard not uniform affine.', f'# {gpu}']
    path.write_text('\n'.join(head + [' '.join(hashes[f] + [f]) for f in forms if f in hashes]) + '\n')
    print(f'{len(new)} forms of {lines}, {sum(f in hashes for f in forms)} in all')


if __name__ == '__main__':
    main()
