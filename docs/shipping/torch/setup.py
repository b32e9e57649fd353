"""A PyTorch extension around the variants of a kernel, which are built as they were measured.

../kernel is the kernel's folder, with what pawl dispatch has written.
"""
import json
import pathlib
import subprocess

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

kernel = pathlib.Path(__file__).resolve().parent.parent / "kernel"
variants = json.loads((kernel / "scale_dispatch.json").read_text())["variants"]


class Build(BuildExtension):
    def build_extensions(self):
        for variant in variants:
            subprocess.run(variant["command"], shell=True, check=True, cwd=kernel)
        super().build_extensions()


setup(
    name="scale",
    ext_modules=[CppExtension(
        "scale", ["binding.cpp", "device.cpp"], include_dirs=[str(kernel)],
        extra_objects=[str(kernel / variant["object"]) for variant in variants],
        extra_link_args=variants[0].get("libraries", []),
    )],
    cmdclass={"build_ext": Build},
)
