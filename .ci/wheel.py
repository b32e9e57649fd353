"""Packs a program that is built already into a wheel: wheel.py PROGRAM SYSTEM-ARCHITECTURE VERSION FOLDER.

The distribution is called pawl-tuner, because another project has the name pawl; the command is pawl.
"""

import re
import sys
from pathlib import Path

from go_to_wheel import PLATFORM_MAPPINGS, build_wheel

program, platform, version, folder = sys.argv[1:]
version = version.removeprefix("v").replace("-rc.", "rc")
if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
    sys.exit(f"version {version}: want v1.2.3, or v1.2.3-rc.1")
Path(folder).mkdir(parents=True, exist_ok=True)
print(build_wheel(
    program, folder, "pawl-tuner", version, PLATFORM_MAPPINGS[platform][2], "pawl",
    description="Tunes CUDA, C and Triton kernels, and keeps performance moving one way",
    requires_python=">=3.8",
    readme_content=(Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8"),
))
