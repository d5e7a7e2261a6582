"""lit's configuration: `.mlir` files, run through lanelink-opt and FileCheck of this environment."""

import os
import sys
from pathlib import Path

import lit.formats

config.name = "lanelink"  # noqa: F821 - lit injects config
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # noqa: F821
config.test_exec_root = str(Path(__file__).parent.parent / "build" / "lit")  # noqa: F821
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # noqa: F821
