# SPDX-License-Identifier: BSD-3-Clause
"""One file for each format; what stands in them: parabat/convert/model.py."""
