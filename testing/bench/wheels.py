# SPDX-License-Identifier: BSD-3-Clause
"""Virtual environments with PyPI packages that Debian lacks or has only in slower builds."""

import os
import subprocess
import sys


def install(folder, packages, imports):
    """Creates the environment if necessary, and returns its Python. Raises RuntimeError with the reason."""
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
