"""lit's configuration: `.mlir` files, run through lanelink-opt and FileCheck of this environment."""

import os
import sys
from pathlib import Path

import lit.formats

config.name = "lanelink"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(Path(__file__).parent.parent / "build" / "lit")
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
