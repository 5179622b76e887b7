# SPDX-License-Identifier: BSD-3-Clause
"""Virtual environments with packages of PyPI that Debian does not have, or not as fast."""

import os
import subprocess
import sys


def install(folder, packages, imports):
    """Makes the environment unless it is there, and returns its Python. RuntimeError with a reason in words."""
    python = os.path.join(folder, "bin", "python")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True, text=True)
        if subprocess.run([python, "-c", "import " + ", ".join(imports)], capture_output=True).returncode:
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True,
                           capture_output=True, text=True)
            subprocess.run([python, "-c", "import " + ", ".join(imports)], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        words = (error.stderr or error.stdout).strip().splitlines()
        raise RuntimeError(f"{' '.join(error.cmd)}: {words[-1] if words else error}") from error
    except OSError as error:
        raise RuntimeError(str(error)) from error
    return python
