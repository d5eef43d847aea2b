"""Numbers as people read them."""


def count(value):
    """1048576 -> "1,048,576"; 3.875 -> "3.88"; text stays text."""
    if isinstance(value, str):
        return value
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns / size < 1000 else f"{ns / size:,.0f} {unit}"
    return f"{ns:.3g} ns"


def of_metric(metric):
    value, unit = metric["value"], metric.get("unit", "")
    if isinstance(value, str):
        return value
    if unit == "ns":
        return duration(value)
    return count(value) + (f" {unit}" if unit in ("%", "byte") else "")


def change(before, after):
    """ "-87.5 %"; empty where there is no change, or nothing before."""
    if before == after or not before or isinstance(before, str):
        return ""
    return f"{(after - before) / before * 100:+.1f} %"
