"""placeholder"""

from typing import Any


class Races:
    read: Any
    write: Any
    atomic: Any
    warp_barrier: Any
    fence: Any
