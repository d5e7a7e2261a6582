"""
How hypothesis draws: the same examples every run, so that a change is to blame for what fails in CI. With
HYPOTHESIS_PROFILE=explore it draws anew each time.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, print_blob=True)
settings.register_profile("explore", derandomize=False, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
