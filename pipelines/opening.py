"""The configuration → its warehouse.

Belongs here: which keys of `[warehouse]` the warehouse is made with. Does not belong here: either of them.
"""

from __future__ import annotations

from pipelines.settings import Settings
from pipelines.warehouse import Retention, Warehouse


def warehouse_of(settings: Settings) -> Warehouse:
    """Return the warehouse that the configuration names."""
    of = settings.warehouse
    keep = Retention(of.keep_h, int(of.keep_gib * (1 << 30)))
    return Warehouse(settings.warehouse_folder, memory_limit=of.memory_limit, keep=keep)
