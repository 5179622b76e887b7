# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack: `spack repo add core/packaging/spack`, then `spack dev-build parabat@main`.

Not run in this project's own tests: try it before it is relied on.
"""

from spack.package import *


class Parabat(CMakePackage):
    """Particle I/O for ParaView and VTK around the Binned Attribute Tree."""

    license("BSD-3-Clause")

    version("main")

    variant("mpi", default=True, description="Write and read on many ranks")
    variant("paraview", default=False, description="Build the plugins of ParaView")
    variant("python", default=True, description="Make the Python package importable")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+mpi")
    depends_on("cmake@3.18:", type="build")
    depends_on("ninja", type="build")
    depends_on("tbb")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("cli11")
    depends_on("xxhash")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("lz4")
    depends_on("curl@7.75:")
    depends_on("mpi", when="+mpi")
    depends_on("paraview@5.11: +qt +shared", when="+paraview")
    depends_on("python", type=("build", "run"))
    depends_on("py-numpy", type="run", when="+python")

    generator("ninja")

    def cmake_args(self):
        version = self.spec["python"].version.up_to(2)
        return [
            self.define("BUILD_TESTING", False),
            self.define("BAT_WITH_CATALYST", "OFF"),
            self.define("BAT_WITH_MPI", "ON" if "+mpi" in self.spec else "OFF"),
            self.define("BAT_WITH_PARAVIEW", "ON" if "+paraview" in self.spec else "OFF"),
            self.define("BAT_PYTHON_DIR", f"lib/python{version}/site-packages"),
        ]

    def setup_run_environment(self, env):
        if "+python" in self.spec:
            version = self.spec["python"].version.up_to(2)
            env.prepend_path(
                "PYTHONPATH", join_path(self.prefix.lib, f"python{version}", "site-packages"))
        if "+paraview" in self.spec:
            for folder in (self.prefix.lib, self.prefix.lib64):
                env.prepend_path("PV_PLUGIN_PATH", join_path(folder, "paraview-plugins"))
