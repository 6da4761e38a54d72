"""The metrics of the judge: rhythm, profile and preference, and the schema that explains every one of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from newagent.schedule.cost import TERMS, CostModel, Valuation
from newagent.schedule.envelope import Schema, day_facts, ratio
from newagent.schedule.model import ScheduleState
from newagent.schedule.rhythm import (
    COMPRESSED_HEAVY_RUN,
    is_compressed,
    is_fragmented,
    items_by_day,
    runs,
    same_type_transitions,
    sequence,
)

BASE_SCHEMA: Schema = {
    "pending": ("items that are not placed", "items", "lower"),
    "cost": ("weighted sum of all terms; states compare by (pending, cost)", "points", "lower"),
    "terms": (f"weighted parts of the cost: {', '.join(TERMS)}", "points", "lower"),
    "can_close": ("no critical issue and at most one warning, or nothing worth going on with", "bool", "higher"),
}
SCHEMAS: dict[str, Schema] = {
    "rhythm": {
        "rhythm.avg_switches_per_day": ("mean switches between classes over days with items", "switches", "lower"),
        "rhythm.max_switch_day": ("first day with the most switches", "day", "neutral"),
        "rhythm.max_switch_count": ("most switches of a day", "switches", "lower"),
        "rhythm.avg_block_size": ("mean run of one class", "entries", "neutral"),
        "rhythm.longest_same_subject_run": ("longest run of one class", "entries", "lower"),
        "rhythm.heavy_adjacent_days": ("days with different heavy classes back to back", "days", "lower"),
        "rhythm.high_intensity_days": ("days with a heavy entry", "days", "neutral"),
        "rhythm.long_high_intensity_days": ("days with at least 4 heavy entries in a row", "days", "lower"),
        "rhythm.fragmented_count": ("days that switch too often for their length", "days", "lower"),
        "rhythm.compressed_run_count": ("days that stay with one class or heavy ones too long", "days", "lower"),
        "rhythm.block_balance": ("fragmented minus compressed days", "days", "neutral"),
        "rhythm.same_type_transition_ratio": ("share of neighbours with the same subject type", "ratio", "neutral"),
    },
    "tightness": {
        "tightness.locally_movable_task_count": (
            "items of days with issues that have another place",
            "items",
            "higher",
        ),
        "tightness.avg_local_alternative_slots": ("mean number of other places of those", "places", "higher"),
        "tightness.cross_class_swap_options": ("legal swaps across classes that touch such a day", "swaps", "higher"),
        "tightness.forced_heavy_adjacent_days": ("days whose heavy neighbours no single edit parts", "days", "lower"),
        "tightness.tightness_level": ("locked, tight or loose", "level", "neutral"),
    },
    "profile": {
        "profile.missing_subject_type": ("classes in scope without a subject type", "classes", "lower"),
        "profile.missing_difficulty_level": ("classes in scope without a difficulty", "classes", "lower"),
        "profile.missing_cognitive_intensity": ("classes in scope without an intensity", "classes", "lower"),
    },
    "preference": {
        "preference.avoided_entries": ("entries in a period to be avoided", "entries", "lower"),
        "preference.unpreferred_entries": ("entries outside their preferred periods", "entries", "lower"),
        "preference.evening_heavy_entries": ("heavy entries in the evening", "entries", "lower"),
        "preference.days_over_load": ("days with more sections used than the load dial allows", "days", "lower"),
        "preference.days_over_cap": ("days with more study than the daily cap", "days", "lower"),
        "preference.days_without_buffer": ("days without two free sections in a row", "days", "lower"),
    },
}


def rhythm_metrics(state: ScheduleState, value: Valuation) -> dict[str, Any]:
    """How the days run; averages are over days with items, block sizes over all runs of all days."""
    sequences = [sequence(items) for items in items_by_day(state)[1:]]
    looks = [look for look in value.looks if look.entries]
    lengths = [length for entries in sequences for _, length in runs(entries)]
    most = max((look.switch_count for look in looks), default=0)
    worst = next((day for day, look in enumerate(value.looks, 1) if look.switch_count == most), None) if most else None
    fragmented, compressed = sum(map(is_fragmented, looks)), sum(map(is_compressed, looks))
    neighbours = sum(look.entries - 1 for look in looks)
    return {
        "avg_switches_per_day": ratio(sum(look.switch_count for look in looks), len(looks)),
        "max_switch_day": worst,
        "max_switch_day_facts": day_facts(state, worst) if worst else None,
        "max_switch_count": most,
        "avg_block_size": ratio(sum(lengths), len(lengths)),
        "longest_same_subject_run": max(lengths, default=0),
        "heavy_adjacent_days": sum(look.heavy_adjacent > 0 for look in looks),
        "high_intensity_days": sum(look.max_heavy_run > 0 for look in looks),
        "long_high_intensity_days": sum(look.max_heavy_run >= COMPRESSED_HEAVY_RUN for look in looks),
        "fragmented_count": fragmented,
        "compressed_run_count": compressed,
        "block_balance": fragmented - compressed,
        "same_type_transition_ratio": ratio(sum(map(same_type_transitions, sequences)), neighbours),
    }


def profile_metrics(state: ScheduleState, class_ids: Collection[int]) -> dict[str, Any]:
    """How many classes in scope lack which profile field."""
    missing = [name for c in state.task_classes if c.id in class_ids for name in c.missing_profile]
    names = ("subject_type", "difficulty_level", "cognitive_intensity")
    return {f"missing_{name}": missing.count(name) for name in names}


def preference_metrics(model: CostModel, value: Valuation) -> dict[str, Any]:
    """How the student's dials are met, before weighting."""
    looks = value.looks
    return {
        "avoided_entries": sum(look.avoided for look in looks),
        "unpreferred_entries": sum(look.unpreferred for look in looks),
        "evening_heavy_entries": sum(look.evening_heavy_entries for look in looks),
        "days_over_load": sum(look.used > model.free_load for look in looks),
        "days_over_cap": sum(model.daily_cap is not None and look.study > model.daily_cap for look in looks),
        "days_without_buffer": sum(look.cramped for look in looks),
    }
