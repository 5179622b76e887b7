# SPDX-License-Identifier: BSD-3-Clause
"""One line on each write option, for options_table(). The library's tables have the names, types and allowed values."""

_EVERY = {
    "threads": "maximum number of threads per process; 0: all available. Does not change the bytes",
    "flush": "wait until all bytes are on disk before the new file replaces the old one",
    "exchange": "how ranks send data to the ranks that write it: flat, each to each other; leaders, through leader ranks of the nodes; auto, whichever "
                "is expected to be faster. Does not change the bytes",
    "leaders_per_node": "number of ranks per node that send for all of its ranks, if exchange uses leaders",
    "ranks_per_node": "treat every N consecutive ranks as one node; 0: the nodes of the machine",
}

PARTICLES = {
    **_EVERY,
    "target_bytes": "target size of a leaf file in bytes, in a write by many ranks; 0: chosen from the particles, their size and the number of ranks",
    "mode": "how particles are divided into leaf files by many ranks: adaptive, anywhere; rank_border and aug keep each rank's particles together",
    "find_best_axis": "for mode rank_border: search all three axes for the best split, not only the longest",
    "max_split_imbalance_ratio": "for mode rank_border: a split may be rejected if its larger side exceeds the smaller one this many times",
    "max_overfull_factor": "for mode rank_border: maximum size of a leaf file after a rejected split, as a multiple of the target size",
    "sorted_indexes": "attributes to index for fast queries by value, for example id; name[2] is a component. 12 bytes per particle each",
    "stable_samples": "integer attributes, for example id, by which all steps of a series show the same particles at qualities such as 0.1",
    "repeats": "attributes that repeat the positions or each other: store them, link them (stored once, read by both names), or leave_out",
    "compare_values": "for repeats: compare all arrays of the same type, not only those named like coordinates",
    "compression": "of columns: none; lossless, every bit is preserved; bounded, also lossless except for the arrays in error_bounds",
    "error_bounds": "for compression bounded: NAME=NUMBER, the maximum error of an array in its units, or NAME=NUMBER% of its range",
    "chunk_particles": "number of particles in a chunk, the part of a compressed column that is read as a whole; 0: chosen",
    "hdf5_view": "makes uncompressed files HDF5 files too, which ParaView and HDF5 programs read without this package",
    "treelet_particles": "maximum number of particles in a treelet, a region with its own attribute ranges",
    "block_particles": "maximum number of particles in a block, the smallest unit that a query can skip; 0: the smallest that fits index_budget",
    "index_budget": "fraction of the data that index and checksums may take, if block_particles is 0",
}

GRIDS = {
    **_EVERY,
    "mode": "what happens to existing steps: replace removes them; add_step keeps the others; continue keeps earlier ones; auto, add_step if step is "
            "set, otherwise replace",
    "step": "number of the time step; None: 0",
    "time": "simulation time of the step; set for all steps of a dataset, or for none",
    "codec": "lossless compression of blocks; a block that does not shrink is stored raw",
    "zip_level": "for codec zip: from 1, fastest, to 9, smallest",
    "layout": "order of the samples in a block: row_major, or hz (hierarchical Z order)",
    "dialect": "programs that should read the files: openvisus, or pidx for PIDX and VisIt",
    "bits_per_block": "a block has 2 to this power samples; 0: 15, or less for small grids",
    "file_bytes": "approximate size of a file in bytes, with all fields",
    "missing": "samples that no rank has: refuse, an error, or zero",
}


def with_meanings(rows, meanings):
    """Returns the rows of a table, each with its "meaning"."""
    return [{**row, "meaning": meanings.get(row["name"], "")} for row in rows]
