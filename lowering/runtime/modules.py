"""The entries that a plan launches, compiled by the driver in threads while something else goes on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from lanelink.lowering.runtime.cuda_api import CudaApi, Handle
from lanelink.lowering.runtime.cuda_checks import DeviceFacts, check_ptx
from lanelink.lowering.runtime.plan import Plan
from lanelink.lowering.runtime.ptx import plan_ptx
from lanelink.lowering.signatures import PtxText

Key = tuple[str, str]
"""A module's stem and an entry of it."""


class EntryLoads:
    """
    A plan's entries on their way to a device, each as a module of its own: a driver compiles a module on one processor,
    and what of it nothing launches too.

    Raises at once what `plan_ptx` raises, and NotRunnable where the device does not run a module; `functions` raises
    CudaError for what the driver does not compile. `close` unloads all; the context is made current in every thread
    that needs it.
    """

    def __init__(self, api: CudaApi, plan: Plan, facts: DeviceFacts) -> None:
        self._api = api
        texts = plan_ptx(plan)
        for ptx in texts.values():
            check_ptx(ptx, facts)
        keys = dict.fromkeys((launch.module, launch.entry) for launch in plan.launches)
        self._pool = ThreadPoolExecutor(max(1, min(len(keys), os.cpu_count() or 1)), "lanelink-module")
        self._loads: dict[Key, Future[Handle]] = {
            key: self._pool.submit(self._load, texts[key[0]], key[1]) for key in keys
        }

    def _load(self, ptx: PtxText, entry: str) -> Handle:
        with self._api.current():
            return self._api.load(ptx.only([entry]), f"{ptx.name} entry {entry}")

    def functions(self) -> Mapping[Key, Handle]:
        """The entries, once all are compiled."""
        return {key: self._api.function(load.result(), key[1]) for key, load in self._loads.items()}

    def close(self) -> None:
        """Unloads what was loaded; what has not begun is not begun any more."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for load in self._loads.values():
            if not load.cancelled() and load.exception() is None:
                self._api.unload(load.result())


__all__ = ["EntryLoads"]
