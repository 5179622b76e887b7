# SPDX-License-Identifier: BSD-3-Clause
"""openPMD in HDF5, as written by WarpX, PIConGPU, FBPIC and others: each species of each iteration. Numbers are unchanged; the
metadata contains the factors to SI units."""

from .. import hdf5
from ..model import Collector, ConvertError, Format, Step, listed


def steps(path, options):
    from .. import openpmd  # pylint: disable=import-outside-toplevel
    with hdf5.opened(path, options) as file:
        found = openpmd.iterations(file)
        finished = [each for each in found if each[3] and openpmd.list_species(each[2])]
        if not finished:
            raise ConvertError(f"no complete iteration with particles: {openpmd.why_none(file)}")
        if options.species is not None:
            requested = set(options.species)
            finished = [each for each in finished if requested & set(openpmd.list_species(each[2]))]
            if not finished:
                raise ConvertError(f"has no species {', '.join(options.species)}")
        open_ones = [str(number) for number, _, _, is_closed in found if not is_closed]
        for number, seconds, particles, _ in finished:
            yield Step(lambda particles=particles, seconds=seconds: read_species(
                particles, options, open_ones, seconds is not None), number, seconds)


def read_species(particles, options, open_ones, has_time):
    """Returns the Particles of each species. particles: an h5py group, or an object with the same interface. open_ones:
    unfinished iterations, reported as skipped. has_time: whether the step has a time, which is in seconds."""
    from .. import openpmd  # pylint: disable=import-outside-toplevel
    result = []
    others = {name: set() for name in openpmd.list_species(particles)}

    def wants(species, record):
        if record is None:
            return options.species is None or species in options.species
        others[species].add(record)
        return options.arrays is None or any(name == record or name.startswith(record + "_") for name in options.arrays)

    remarks = []
    for species in openpmd.read(particles, wants=wants, remarks=remarks):
        collector = Collector(options, len(species.positions))
        collector.remarks += remarks
        remarks.clear()
        collector.others |= others[species.name]
        if open_ones:
            collector.remarks.append(("open", f"unfinished iterations are not written: {', '.join(open_ones)}"))
        if has_time:
            species.metadata["units"]["time"] = "s"
        for name, array in species.attributes.items():
            collector.add(name, array)
        result.append(collector.particles(species.positions, species.metadata, species.name))
    if not result and not others:
        raise ConvertError(f"no species has a position; available: {listed(particles)}")
    if not result:
        raise ConvertError(f"has no species {', '.join(options.species or [])}".rstrip())
    return result


FORMAT = Format("openpmd", "openPMD in HDF5", steps, modules=hdf5.MODULE, options=("follow_links",),
                sniff=hdf5.sniffer(lambda file: "openPMD" in file.attrs))
