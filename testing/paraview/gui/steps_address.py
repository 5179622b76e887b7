# SPDX-License-Identifier: BSD-3-Clause
"""Checks for address.xml."""
from bat_test import *


def check_series():
    reader = GetActiveSource()
    expect(reader.GetXMLName(), "BATSeriesReader", "reader")
    assert "http://" in str(reader.FileName), reader.FileName
    expect(reader.GetDataInformation().GetNumberOfPoints(), 1001, "particles of the second step")
    check_sources(1)


def check_sources(count):
    expect(len(GetSources()), count, "sources")
