"""The two tools that are always there: they switch other tools on and off."""

from __future__ import annotations

from typing import Any

from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.refusal import refuse
from newagent.tools.registry import load_catalogue, tool
from newagent.tools.visibility import default_packs


class Add(Arguments):
    """What to switch on."""

    domain: str
    packs: tuple[str, ...] | None = None
    mode: str = "replace"


class Remove(Arguments):
    """What to switch off."""

    domain: str | None = None
    packs: tuple[str, ...] | None = None
    all: bool = False


@tool("context", "context", Add, needs="nothing")
def context_tools_add(context: ToolContext, wanted: Add) -> ToolResult:
    """打开一个工具域（schedule 等）及其工具包，下一轮起可用。

    core 包随域自带；schedule 不写 packs 时为 mutation+analyze。
    mode=replace 只留这个域的这些包，merge 在现有基础上添加。
    """
    domains = load_catalogue().domains
    if wanted.mode not in ("replace", "merge"):
        return refuse("invalid_mode", "mode 只能是 replace 或 merge。", allowed=["replace", "merge"])
    if wanted.domain not in domains:
        return refuse(
            "invalid_domain", f"没有工具域 {wanted.domain}；现有：{'、'.join(domains)}。", allowed=list(domains)
        )
    packs = default_packs(wanted.domain) if wanted.packs is None else wanted.packs
    fault = _pack_fault(wanted.domain, packs, domains)
    if fault:
        return fault
    active = dict(context.state.active) if context.state else {}
    if wanted.mode == "replace":
        active = {wanted.domain: tuple(packs)}
    else:
        active[wanted.domain] = tuple(dict.fromkeys((*active.get(wanted.domain, ()), *packs)))
    return _switched(context, active)


@tool("context", "context", Remove, needs="nothing")
def context_tools_remove(context: ToolContext, wanted: Remove) -> ToolResult:
    """关闭一个工具域，或其中的几个工具包，或全部（all=true）。"""
    domains = load_catalogue().domains
    active = dict(context.state.active) if context.state else {}
    if wanted.all:
        return _switched(context, {})
    if wanted.domain is None or wanted.domain not in domains:
        return refuse("invalid_domain", f"请给出工具域：{'、'.join(domains)}。", allowed=list(domains))
    if wanted.packs is None:
        active.pop(wanted.domain, None)
        return _switched(context, active)
    fault = _pack_fault(wanted.domain, wanted.packs, domains)
    if fault:
        return fault
    if wanted.domain in active:
        active[wanted.domain] = tuple(pack for pack in active[wanted.domain] if pack not in wanted.packs)
    return _switched(context, active)


def _pack_fault(domain: str, packs: tuple[str, ...], domains: Any) -> ToolResult | None:
    known = [pack for pack in domains[domain] if pack != "core"]
    if "core" in packs:
        return refuse("fixed_pack_forbidden", "core 包随工具域自带，不能单独添加或移除。", allowed=known)
    if packs and not known:
        return refuse("unsupported_packs_for_domain", f"{domain} 没有可选的工具包。", allowed=[])
    unknown = [pack for pack in packs if pack not in known]
    if unknown:
        return refuse(
            "invalid_pack", f"{domain} 没有工具包 {'、'.join(unknown)}；现有：{'、'.join(known)}。", allowed=known
        )
    return None


def _switched(context: ToolContext, active: dict[str, tuple[str, ...]]) -> ToolResult:
    words = "；".join(f"{domain}：core{''.join('+' + pack for pack in packs)}" for domain, packs in active.items())
    state = context.state.model_copy(update={"active": active, "optimizing": False}) if context.state else None
    data = {"active": {domain: list(packs) for domain, packs in active.items()}}
    return ToolResult(True, "ok", f"已生效的工具：{words or '只有上下文工具'}。", data, state=state)
