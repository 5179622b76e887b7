# SPDX-License-Identifier: BSD-3-Clause
"""One file for each grid format; parabat/convert/model.py describes their content."""
