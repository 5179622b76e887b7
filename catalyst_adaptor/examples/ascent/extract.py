# SPDX-License-Identifier: BSD-3-Clause
"""The Python extract: Ascent runs it on each rank, and provides the two functions."""

import os

import bat_ascent

bat_ascent.write(ascent_data(), ascent_mpi_comm_id(),  # noqa: F821  pylint: disable=undefined-variable
                 os.environ.get("BAT_ASCENT_FILES", "{name}_{timestep:06d}.bat"))
