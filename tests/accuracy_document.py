#!/usr/bin/env python3
"""docs/accuracy.md and its chart from scores: the figures of each sentence and table, and the place of each point."""
import pathlib
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import accuracy  # noqa: E402


def score(median, **more):
    return {"rows": 2, "median": median, "p90": 0.25, "within_30": 0.5, "worst": 1.9, **more}


def data(elsewhere):
    ranking = {"pairs": 8, "right": 7, "ladders": 3, "fastest": 2}
    return {"gpu": "NVIDIA H200", "elsewhere": elsewhere, "parameters": 9,
            "never_fitted": {"score": score(0.088), "ranking": ranking},
            "in_use": {"score": score(0.083), "ranking": ranking},
            "sections": [{"by": "topic", "scores": [score(0.066, name="banks"), score(0.5, name="vecadd")]},
                         {"by": "limit", "scores": [score(0.1, name="L2 bandwidth")]},
                         {"by": "measured", "scores": [score(0.1, name="below 6 us")]}],
            "rows": [{"topic": "banks", "range": "a & b", "measured_ns": 1e3, "predicted_ns": 1e5},
                     {"topic": "vecadd", "range": "float", "measured_ns": 1e4, "predicted_ns": 1e4}]}


def main():
    page = accuracy.page(data(False), "accuracy.svg")
    for text in ("**Never fitted**: each topic of the lab is predicted by a fit to all other topics. 2 rows, NVIDIA H200: **median error "
                 "8.8 %, 90 % of the rows within 25.0 %, 50.0 % within 30 %, worst 1.90x.** Ranking: ",
                 "ranks 7 of 8 pairs (87.5 %) correctly. In 2 of 3 ladders", "In use, with 9 parameters",
                 "median error 8.3 %, 90 % within 25.0 %, worst 1.90x.", "![measured and predicted times](accuracy.svg)",
                 "## By topic, never fitted\n\n| topic | rows | median |", "| banks | 2 | 6.6 % | 25.0 % | 50.0 % | 1.90x |\n| vecadd | 2 |",
                 "## By limit, never fitted\n\n| limit |", "## By time, never fitted\n\n| measured |"):
        assert text in page, f"{text}\nis not in\n{page}"
    other = accuracy.page(data(True), "accuracy-h100.svg")
    assert "from a fit to the rows of another GPU. 2 rows" in other and "In use" not in other, other

    # Axes from 1 to 100 us: the corner at (60, 460), the ends at x = 620 and y = 20.
    chart = xml.fromstring(accuracy.svg(data(False)["rows"]))
    points = [(p.get("cx"), p.get("cy"), p[0].text) for p in chart.iter("{http://www.w3.org/2000/svg}circle") if len(p)]
    assert points == [("60.0", "20.0", "a & b"), ("340.0", "240.0", "float")], points
    labels = [t.text for t in chart.iter("{http://www.w3.org/2000/svg}text")]
    assert labels[:6] == ["1 us", "1 us", "10 us", "10 us", "100 us", "100 us"] and "vecadd" in labels, labels


if __name__ == "__main__":
    main()
