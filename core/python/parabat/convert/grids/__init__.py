# SPDX-License-Identifier: BSD-3-Clause
"""One file for each format of grids; what stands in them: parabat/convert/model.py."""
