"""The picture of a run of the placement benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

BLUE, GREY, RED = "#2f6f9f", "#9a9a9a", "#b5483a"


def draw_picture(document: dict[str, Any], path: Path) -> None:
    """Four panels: nearness to the optimum, time against the exact solver, growth in items and in weeks."""
    rows = document["instances"]
    figure, ((near, fast), (items, weeks)) = plt.subplots(2, 2, figsize=(11, 8), constrained_layout=True)
    figures = document["summary"]
    proven = [row for row in rows if row["proven"] and row["ratio"] is not None]
    near.scatter([row["items"] for row in proven], [row["ratio"] for row in proven], color=BLUE, s=18)
    near.axhline(1.03, color=RED, linewidth=1, linestyle="--", label="limit for the worst")
    near.axhline(1.005, color=GREY, linewidth=1, linestyle="--", label="limit for the mean")
    near.set(
        title=f"{figures['optimal']} of {figures['proven']} proven optima attained, mean {figures['mean_ratio']:.4f}",
        xlabel="items",
        ylabel="cost / optimum, less the constant part",
    )
    near.legend(frameon=False, fontsize=8)
    solved = [row for row in rows if "exact_seconds" in row]
    for known, colour, label in ((True, BLUE, "proven"), (False, GREY, "solver gave up")):
        chosen = [row for row in solved if row["proven"] == known]
        seconds = [row["seconds"] for row in chosen]
        fast.scatter(seconds, [row["exact_seconds"] for row in chosen], color=colour, s=18, label=label)
    ends = [0.01, 1]
    fast.plot(ends, ends, color=GREY, linewidth=1)
    fast.plot(ends, [10 * end for end in ends], color=RED, linewidth=1, linestyle="--", label="ten times")
    fast.set(
        title="time against the exact solver",
        xlabel="placement, seconds of CPU",
        ylabel="exact, seconds of CPU",
        xscale="log",
        yscale="log",
    )
    fast.legend(frameon=False, fontsize=8)
    for axes, name in ((items, "items"), (weeks, "weeks")):
        points = document["growth"][name]
        axes.plot([one[name] for one in points], [one["seconds"] for one in points], color=BLUE, marker="o")
        other = "weeks" if name == "items" else "items"
        axes.set(
            title=f"growth in {name}, {points[0][other]} {other}", xlabel=name, ylabel="seconds of CPU", ylim=(0, None)
        )
    for axes in (near, fast, items, weeks):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
