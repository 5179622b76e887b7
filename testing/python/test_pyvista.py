# SPDX-License-Identifier: BSD-3-Clause
"""Uses the wheel with PyVista, pandas and Arrow from PyPI, and VTK's own threads, in one process.

Arguments: folder with the wheel and for the environment. Exits with 77 if PyPI cannot be reached, or python.wheel
made no wheel.
"""

import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
PACKAGES = ["pyvista==0.49.1", "vtk==9.7.2", "numpy==2.4.6", "pandas==3.1.1", "pyarrow==26.0.1"]


def main(folder):
    folder = pathlib.Path(folder)
    environment = folder / "pyvista"
    python = environment / "bin" / "python"
    stamp = environment / "installed.txt"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    if not stamp.exists() or stamp.read_text() != repr(PACKAGES):
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        done = subprocess.run([*pip, *PACKAGES], check=False)
        if done.returncode:
            return SKIPPED
        stamp.write_text(repr(PACKAGES))
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        print("there is no wheel: python.wheel was skipped")
        return SKIPPED
    wheel, = wheels
    subprocess.run([*pip, "--no-index", "--no-deps", "--force-reinstall", wheel], check=True)
    here = pathlib.Path(__file__).parent
    inside, stock = here / "in_pyvista.py", here / "stock_vtk.py"
    stock_files = folder / "stock"
    shutil.rmtree(stock_files, ignore_errors=True)
    subprocess.run([python, stock, "make", stock_files, here.parent / "particles" / "golden" / "v1"], check=True)
    subprocess.run([python, stock, "check", stock_files], check=True)
    shutil.rmtree(stock_files)
    return subprocess.run([python, "-W", "error::DeprecationWarning:parabat", inside, folder / "scratch"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
