"""Where the state spaces lie in the generic address space."""

GLOBAL_BASE = 0x7F00_0000_0000
"""Address of the first allocation's arena: far from null, so that a small number is never an address."""

WINDOW_BYTES = 1 << 32
WINDOWS: dict[str, int] = {
    "global": 0,
    "const": 0,
    "shared": 0x7100_0000_0000,
    "shared::cta": 0x7100_0000_0000,
    "local": 0x7200_0000_0000,
    "param": 0x7300_0000_0000,
}
"""What `cvta` adds to an address of each space."""
