"""The two errors of the emulator."""


class EmulatorError(Exception):
    """A launch, an access or a call that the emulator refuses; the message names what was expected, what was found and
    where.
    """


_LONGEST = 300


class PtxError(EmulatorError):
    """PTX text that cannot be read, or that asks for what the emulator does not know.

    `line` is the 1-based line of the text, and `module` the name the text was loaded under.
    """

    def __init__(self, message: str, line: int, module: str = "ptx") -> None:
        self.line = line
        self.module = module
        # A hostile text may hold a word of megabytes.
        shown = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."
        super().__init__(f"{module}:{line}: {shown}")
