/* SPDX-License-Identifier: BSD-3-Clause */
/* ParaBAT for C and languages that call C: writes particles to files, reads them from datasets.
 * The same on many ranks: bat/bat_mpi.h. C99.
 *
 * Conventions
 * - Every function returns BAT_OK or a status below, except the _free and _close functions, which
 *   return nothing and accept NULL, and the few that return a text. The library never throws,
 *   prints or ends the process.
 * - After a failure bat_last_error() explains it; results behind pointers are zero or NULL.
 * - Handles are opaque and belong to the caller, who frees them. Returned texts belong to the
 *   handle that they come from. Arrays of values always belong to the caller.
 * - Different threads may use different handles concurrently. Several threads may use one handle
 *   concurrently if none of them changes it; functions that change a handle take a pointer to
 *   non-const.
 * - Boxes are six doubles: lower x, y, z, upper x, y, z. Sizes and strides are in bytes.
 * - Counts and sizes are 64-bit. Negative counts, sizes and strides are rejected, like all other
 *   invalid numbers, with INVALID_ARGUMENT and a message with the number that was passed. Numbers
 *   that the program itself cut to 32 bits, or rounded to double, cannot be detected.
 * - No function here is collective, and none uses MPI.
 */
#ifndef BAT_BAT_H
#define BAT_BAT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BAT_API __attribute__((visibility("default")))
#else
#define BAT_API
#endif

#ifdef __cplusplus
extern "C"
{
#endif

  /* ---- Errors ------------------------------------------------------------------------------- */

  /* The numbers never change. */
  enum bat_status
  {
    BAT_OK = 0,
    BAT_NOT_FOUND = 1,      /* the file does not exist */
    BAT_CANNOT_OPEN = 2,    /* a directory, unreadable, folder not writable, or a server's fault */
    BAT_NOT_A_BAT_FILE = 3, /* the first bytes are not those of a .bat file */
    BAT_UNSUPPORTED_VERSION = 4, /* a newer format version, or a feature that is not implemented */
    BAT_TRUNCATED = 5,           /* the file ends before what it promises */
    BAT_CORRUPT = 6,             /* a checksum or a rule of the format is violated */
    BAT_WRITE_FAILED = 7,        /* the operating system refused a write */
    BAT_NO_SPACE = 8,            /* disk full or quota exceeded */
    BAT_INVALID_ARGUMENT = 9,    /* an argument, option or array that cannot be honoured */
    BAT_OUT_OF_MEMORY = 10,      /* an allocation failed */
    BAT_CANCELLED = 11,          /* a progress function asked to stop */
    BAT_INTERNAL = 12            /* a bug of this library; please report it */
  };

  /* The message of the last failed call of this thread, for people: file, thing, found, allowed. ""
   * before any failure. Valid until the next call of this thread. */
  BAT_API const char* bat_last_error(void);
  /* Makes `text` the last error and returns `status`. Wrappers in other languages use it for what
   * they refuse themselves. */
  BAT_API int bat_fail(int status, const char* text);
  /* Returns the name of a status, e.g. "not found". */
  BAT_API const char* bat_status_name(int status);
  /* Returns the version of the library, e.g. "1.0.0". */
  BAT_API const char* bat_version(void);

  /* ---- Types of values ---------------------------------------------------------------------- */

  /* The numbers never change. */
  enum bat_type
  {
    BAT_INT8 = 1,
    BAT_UINT8 = 2,
    BAT_INT16 = 3,
    BAT_UINT16 = 4,
    BAT_INT32 = 5,
    BAT_UINT32 = 6,
    BAT_INT64 = 7,
    BAT_UINT64 = 8,
    BAT_FLOAT32 = 9,
    BAT_FLOAT64 = 10
  };
#define BAT_MAX_COMPONENTS 9

  /* Returns the bytes of one value; 0 for an unknown type. */
  BAT_API size_t bat_type_size(int type);

  /* ---- Progress ----------------------------------------------------------------------------- */

  /* Called with the completed share of a call, from 0 to 1 and never falling, on the calling
   * thread. While a read waits for a server, it is called every 50 ms with an unchanged value.
   * `data` is the pointer that was passed with it. Returning 0 continues; any other number cancels
   * the call, which then returns BAT_CANCELLED. It must not call the library with a handle that the
   * call uses. */
  typedef int (*bat_progress)(void* data, double done);

  /* ---- Files that the program reads --------------------------------------------------------- */

  typedef struct bat_reader_answer
  {
    uint64_t bytes;
    uint64_t size;
    char version[256];
    char message[1024];
  } bat_reader_answer;
  /* Reads part of a file in a store that the library cannot read itself, such as a cloud store.
   * Called concurrently from threads of the library, at most PARABAT_REMOTE_REQUESTS at a time: it
   * must be thread-safe. `path` is the part after bat_reader_address(), percent-encoded as in the
   * address. Copies to `to`, which has space for `count` bytes (at least 1):
   *   first >= 0: `count` bytes from offset `first`, fewer if the file ends before;
   *   first <  0: the last `count` bytes, or the whole file if it is smaller.
   * Success: sets bytes, size and version of the answer, returns BAT_OK. `version` identifies the
   *   version of the file, such as an ETag; the bytes must be of it. If "", only a change of size
   * is noticed. Failure: sets the message, without secrets and the name of the file, and returns
   * BAT_NOT_FOUND, BAT_CANNOT_OPEN, or BAT_READER_RETRY if a retry may succeed. */
  typedef int (*bat_reader_read)(void* data, const char* path, int64_t first, uint64_t count,
    void* to, bat_reader_answer* answer);
#define BAT_READER_RETRY (-1)

  /* Makes the library call `read`, with `data`, for all files at bat_reader_address() + path, until
   * bat_reader_free(): datasets and their leaf files, grids, velocity fields and series, with
   * caches and retries as for an http address (core/common/io/REMOTE.md). In messages, `shown`
   * replaces the address, for example "gs://". Addresses are valid in this process only. In a
   * library that was built with BAT_WITH_CURL=OFF, opening one returns CANNOT_OPEN; libcurl itself
   * is not needed. */
  typedef struct bat_reader bat_reader;
  BAT_API int bat_reader_create(
    bat_reader_read read, void* data, const char* shown, bat_reader** out);
  /* Returns, for example, "reader://1/". */
  BAT_API const char* bat_reader_address(const bat_reader* reader);
  /* Ends the calls of `read`, waiting for those in progress. Files of this reader that are still
   * open can no longer be read: close them first. */
  BAT_API void bat_reader_free(bat_reader* reader);

  /* Returns 1 if http, https and s3 addresses can be read, otherwise 0: the library was built
   * without libcurl, or does not find it. */
  BAT_API int bat_has_libcurl(void);

  /* ---- Particles to write ------------------------------------------------------------------- */

  /* A description of particles in the caller's arrays. The arrays are borrowed: they must stay
   * unchanged during a write and may be freed after it; the description can be used again. After a
   * refused array, writes fail until one is accepted for these positions, or this attribute. An
   * invalid attribute name ("", not UTF-8) is refused and changes nothing. */
  typedef struct bat_particles bat_particles;

  BAT_API int bat_particles_create(uint64_t count, bat_particles** out);
  BAT_API void bat_particles_free(bat_particles* particles);

  /* Sets positions as one array of x, y, z: shape (count, 3). `type` is BAT_FLOAT32 or BAT_FLOAT64.
   * `stride` is the distance from one particle to the next, 0 for a packed array, and never less
   * than the size of one particle. `xyz` may be NULL if count is 0. */
  BAT_API int bat_particles_set_positions(
    bat_particles* particles, int type, const void* xyz, size_t stride);
  /* Sets positions as three arrays of count values, all with one stride (0: packed). */
  BAT_API int bat_particles_set_positions_separate(
    bat_particles* particles, int type, const void* x, const void* y, const void* z, size_t stride);
  /* Adds an attribute, or replaces the values of the one with this name: shape (count, components),
   * 1 to 9 components. `name` is UTF-8 and copied. */
  BAT_API int bat_particles_set_attribute(bat_particles* particles, const char* name, int type,
    int64_t components, const void* values, size_t stride);
  /* Does the same with one array per component. `values` has `components` pointers, which are
   * copied. */
  BAT_API int bat_particles_set_attribute_separate(bat_particles* particles, const char* name,
    int type, int64_t components, const void* const* values, size_t stride);
  /* Sets the simulation time, in the simulation's unit. */
  BAT_API int bat_particles_set_time(bat_particles* particles, double time);
  /* Sets the step number. */
  BAT_API int bat_particles_set_step(bat_particles* particles, int64_t step);
  /* Sets further metadata as the UTF-8 text of a JSON object; "" for none. Copied. */
  BAT_API int bat_particles_set_metadata(bat_particles* particles, const char* json);

  /* ---- Write options ------------------------------------------------------------------------ */

  /* Wherever NULL is passed for options, the defaults apply. */
  typedef struct bat_options bat_options;

  /* How the particles of many ranks are divided into leaf files. */
  enum bat_mode
  {
    BAT_MODE_ADAPTIVE = 0,    /* cuts anywhere; leaf boxes are disjoint. The default. */
    BAT_MODE_RANK_BORDER = 1, /* the paper's: a rank's particles go to one leaf file */
    BAT_MODE_AUG = 2          /* adjustable uniform grid; a rank's particles go to one leaf file */
  };

  /* Selects how an attribute is stored that repeats, for all particles and bit for bit, the
   * positions, one of their components, another attribute or a component of it. */
  enum bat_repeats
  {
    BAT_REPEATS_STORE = 0,    /* it is stored like any other. The default. */
    BAT_REPEATS_LINK = 1,     /* values are stored once and come back under both names */
    BAT_REPEATS_LEAVE_OUT = 2 /* it is not written */
  };

  BAT_API int bat_options_create(bat_options** out);
  BAT_API void bat_options_free(bat_options* options);

  /* Sets any option by its name. A value is a whole number (0 or 1 for flags), a number,
   * or a word; an option that holds a list of texts gets one more text.
   * INVALID_ARGUMENT: no such option exists, or the value is not allowed. `name` is one
   * of
   *   target_bytes, mode ("adaptive", "rank_border", "aug"), threads, flush, sorted_indexes,
   *   repeats ("store", "link", "leave_out"), compare_values, find_best_axis,
   *   max_split_imbalance_ratio, max_overfull_factor: see the functions below;
   *   stable_samples: one text for each integer attribute; together they identify a particle, e.g.
   *   "id", or "id" and "cpu"; "ids[1]" is a component. A quality that ends a level (0.9, 0.8 ...
   *   0.1, 0.09 ...) then selects the particles whose ids have the lowest hashes, so that all steps
   *   of a series show the same ones. Between two levels up to a tenth may differ, and some more if
   *   particles move between leaf files. None, the default, selects the most evenly spread
   *   particles. Takes some 0.3 bytes per particle;
   *   treelet_particles: maximum particles per treelet, 256 to 65536 (default 8192). Larger
   *   treelets make the index smaller and the attribute ranges coarser;
   *   block_particles: maximum particles per block; the particles of a block are tested together;
   *   16 to 65536. 0, the default, chooses the smallest size whose index fits in index_budget;
   *   index_budget: maximum share of the data that index and checksums then take (default 0.0075);
   *   hdf5_view: 1 (default) makes uncompressed files HDF5 files too, which stock ParaView and HDF5
   *   programs read in place; 0 does not. Takes about 8 KiB per file, 150 bytes per attribute and
   *   0.002 bytes per particle;
   *   compression: "none" (default); "lossless", smaller columns that keep every bit; or "bounded",
   *   the same except for the arrays in error_bounds;
   *   error_bounds: for "bounded", one text per array, "NAME=NUMBER" in its units or "NAME=NUMBER%"
   *   of its range: the maximum difference between a given value and the stored one. The name of
   *   the positions is "positions". Only float32 and float64; NaN, infinities and all other arrays
   *   keep every bit;
   *   chunk_particles: particles per chunk, the part of a compressed column that is read together,
   *   256 to 65536; 0, the default, chooses it;
   *   exchange: how particles reach the ranks that write them: "flat", each rank sends directly;
   *   "leaders", node leaders send one message for all ranks of a node that have data for a
   *   receiver; "auto", the default, chooses. The files are the same;
   *   leaders_per_node: ranks of each node that send for it (default 1);
   *   ranks_per_node: every N consecutive ranks count as a node; 0, the default, uses the nodes of
   *   the machine. */
  BAT_API int bat_options_set_integer(bat_options* options, const char* name, int64_t value);
  BAT_API int bat_options_set_real(bat_options* options, const char* name, double value);
  BAT_API int bat_options_set_text(bat_options* options, const char* name, const char* value);
  /* Replaces the texts of a list option; an empty list if count is 0. */
  BAT_API int bat_options_set_list(
    bat_options* options, const char* name, uint64_t count, const char* const* texts);
  /* Returns all options as a JSON array of objects with name, type, default and allowed values. */
  BAT_API const char* bat_options_table(void);

  /* Sets the target size of a leaf file in a write by many ranks; 0, the default, chooses it from
   * the number of particles, their size and the number of ranks. */
  BAT_API int bat_options_set_target_bytes(bat_options* options, uint64_t bytes);
  BAT_API int bat_options_set_mode(bat_options* options, int mode);
  /* Sets the maximum number of threads of this process; 0, the default: its processors that no
   * other process shares. Does not change the bytes. */
  BAT_API int bat_options_set_threads(bat_options* options, int64_t threads);
  /* With 1, the default, a write waits until all bytes are on disk before files get their names. 0
   * leaves that to the system, which is faster for small steps: a killed process still leaves
   * complete files, but a power failure may not, and late disk errors go unnoticed. */
  BAT_API int bat_options_set_flush(bat_options* options, int flush);
  /* Adds a sorted index for an attribute, e.g. for ids: queries for some of its values then read a
   * few KiB, however many particles there are. It takes 12 bytes per particle. A name selects the
   * value or the magnitude, "velocity[2]" a component. A write fails if the particles lack the
   * attribute. */
  BAT_API int bat_options_add_sorted_index(bat_options* options, const char* attribute);
  /* Sets `repeats`, one of enum bat_repeats. Arrays in the same memory with the same layout are
   * detected at no cost. Attributes with coordinate names (x, pos, coords_z) are compared with the
   * positions up to the first difference; if `compare_values` is not 0, all arrays of the same type
   * are compared. Attributes with a sorted index are always stored. */
  BAT_API int bat_options_set_repeats(bat_options* options, int repeats, int compare_values);
  /* Sets the box that this rank declares as its own: lower x, y, z, upper x, y, z. Only parallel
   * writes with BAT_MODE_RANK_BORDER or BAT_MODE_AUG use it, to decide which ranks share a leaf
   * file; the default is the box of the rank's particles. Particles may lie outside. Ends must be
   * finite and lower <= upper; after a refused box, writes with these options fail until one is
   * accepted. NULL is an error and changes nothing; a box cannot be unset. bat_piece_writer_create
   * and bat_repack refuse options with a box. */
  BAT_API int bat_options_set_local_bounds(bat_options* options, const double* box);
  /* Rank borders: with 1, the default, all three axes are searched for the best split; with 0 only
   * the longest. */
  BAT_API int bat_options_set_find_best_axis(bat_options* options, int find);
  /* Rank borders: a split whose sides differ by more than `ratio` (default 4) may be refused if the
   * leaf file then is at most `factor` (default 1.5) times the target. */
  BAT_API int bat_options_set_split_limits(bat_options* options, double ratio, double factor);

  /* Calls `progress` during writes with these options, on rank 0 if many ranks write; NULL for
   * none. A cancelled write leaves the old file. The call with 1 comes too late to cancel. `data`
   * must live as long as these options, and as a series that was opened with them. */
  BAT_API int bat_options_set_progress(bat_options* options, bat_progress progress, void* data);

  /* What a write did; the same on all ranks. Sizes are in bytes; times are the wall times of the
   * slowest rank, in seconds. */
  typedef struct bat_report
  {
    uint64_t particles;
    uint64_t leaf_files;
    uint64_t target_bytes;
    uint64_t file_bytes;         /* all files */
    uint64_t data_bytes;         /* positions and attributes */
    uint64_t largest_leaf_bytes; /* positions and attributes of the largest leaf file */
    uint64_t moved_bytes;        /* particles sent from one rank to another */
    uint64_t skipped;            /* particles that were marked to be left out */
    int32_t ranks;
    int32_t nodes;
    int32_t aggregators;      /* ranks that wrote leaf files */
    int32_t threads;          /* minimum over all ranks; 0 from bat_write */
    int32_t leaders;          /* ranks that sent what their node had for others; 0: each its own */
    uint64_t messages_within; /* nodes, from rank to rank; collective ones are not counted */
    uint64_t bytes_within;
    uint64_t messages_between; /* nodes */
    uint64_t bytes_between;
    uint64_t max_received; /* messages that one rank received */
    uint64_t max_received_bytes;
    uint64_t peak_memory_bytes; /* the most that a process has had since it began; 0 of bat_write */
    double seconds_check;       /* arrays, options and attributes are checked and compared */
    double seconds_plan;        /* summaries to rank 0, tree to all */
    double seconds_exchange;    /* particles to the ranks that write them */
    double seconds_build;       /* tree, columns and index */
    double seconds_write;       /* bytes to the file system, flushed */
    double seconds_commit;      /* files get their names */
    double seconds_total;
    char advice[256]; /* why ranks leave processors idle; "" if they do not */
  } bat_report;

  /* Writes the report of a particle write as one line of JSON, with its terminating zero, into
   * `text` of `size` bytes; 2048 are always enough. Reads have bat_selection_report, grids
   * bat_idx_report. */
  BAT_API int bat_report_json(const bat_report* report, char* text, size_t size);
  /* Writes it as a sentence or two for a person. */
  BAT_API int bat_report_line(const bat_report* report, char* text, size_t size);

  /* Writes one file. It replaces the file at `path` when all bytes are on disk; after a failure the
   * old file is untouched. `options` and `report` may be NULL. Calls for different paths may run
   * concurrently. Errors: INVALID_ARGUMENT, CANNOT_OPEN, WRITE_FAILED, NO_SPACE, OUT_OF_MEMORY. */
  BAT_API int bat_write(const char* path, const bat_particles* particles,
    const bat_options* options, bat_report* report);

  /* ---- More particles than memory holds ----------------------------------------------------- */

  /* Writes a dataset from pieces that arrive one after another, in any number, order and size.
   * Particles that do not fit in memory are kept in an unnamed file next to `path`, as large as the
   * particles themselves; leaf files are as large as memory allows. */
  typedef struct bat_piece_writer bat_piece_writer;

  /* `memory_bytes` is the memory limit, excluding the pieces: at least 32 MiB, or 0 for 1 GiB.
   * `options` may be NULL and may be freed after the call; its "target_bytes" is a size of leaf
   * files, "mode" must be "adaptive" and "repeats" "store". Progress is that of
   * bat_piece_writer_finish. Errors: INVALID_ARGUMENT, CANNOT_OPEN, NO_SPACE. */
  BAT_API int bat_piece_writer_create(
    const char* path, const bat_options* options, uint64_t memory_bytes, bat_piece_writer** out);
  /* Copies the particles. All pieces have the same attributes in the same order; time, step and
   * metadata are those of the first. Calls must not overlap: a call during another one is refused.
   * After an error the writer has lost a piece and can only be freed. Errors: INVALID_ARGUMENT,
   * WRITE_FAILED, NO_SPACE, OUT_OF_MEMORY. */
  BAT_API int bat_piece_writer_add(bat_piece_writer* writer, const bat_particles* piece);
  /* Tells the writer that a piece could not be made. The piece is lost, as after an error of
   * bat_piece_writer_add; `text` says why. */
  BAT_API int bat_piece_writer_fail(bat_piece_writer* writer, const char* text);
  /* Writes the dataset, which replaces the one at the path at the end. In the report,
   * seconds_exchange is the time to collect the particles of each leaf file. `report` may be NULL.
   * Errors: those of bat_write; CANCELLED; INVALID_ARGUMENT if a piece was lost, with its number
   * and the reason; CANNOT_OPEN if another writer writes the same dataset. */
  BAT_API int bat_piece_writer_finish(bat_piece_writer* writer, bat_report* report);
  /* Frees the writer. Without bat_piece_writer_finish before, nothing is written. */
  BAT_API void bat_piece_writer_free(bat_piece_writer* writer);

  /* ---- Rewriting a dataset ------------------------------------------------------------------ */

  /* What a repack did. Sizes in bytes of all files; wall time. */
  typedef struct bat_repack_report
  {
    uint64_t particles; /* all of which were read back and compared */
    uint64_t datasets;  /* 1, or of a series its steps */
    uint64_t leaf_files;
    uint64_t bytes_before;
    uint64_t bytes_after;
    double seconds;
  } bat_repack_report;

  /* Writes the dataset at `in`, which may be one of the paper's library, to `out` with other
   * options: "compression", "error_bounds", "chunk_particles", "sorted_indexes", "stable_samples",
   * "treelet_particles", "block_particles", "index_budget", "threads" and "flush". Everything that
   * is not set stays as it is in `in`; setting any other option is INVALID_ARGUMENT. error_bounds
   * alone imply "bounded". An array that has a bound keeps it, unless another compression or a
   * bound of 0 drops it; the metadata then list the bounds as "error_bounds". Leaf files are
   * processed one at a time, with the memory of one. All values are read back and compared before
   * `out` is replaced in one step; `out` may be `in`, except for files of the paper's library. A
   * list of steps (.series) becomes OUT_0000.bat, OUT_0001.bat ... and the list OUT.bat.series. A
   * failure leaves nothing behind. `options`, whose progress is called, and `report` may be NULL.
   * Errors: those of bat_open and bat_write, WRITE_FAILED if the values read back differ,
   * CANCELLED. */
  BAT_API int bat_repack(
    const char* in, const char* out, const bat_options* options, bat_repack_report* report);

  /* ---- An open dataset ---------------------------------------------------------------------- */

  /* One file, or several under a top file. Opening reads a few KiB. Every byte is checked before it
   * is used (of mapped files: when its page is first used): damage is an error, never a wrong
   * particle. */
  typedef struct bat_dataset bat_dataset;

  /* Errors: NOT_FOUND, CANNOT_OPEN, NOT_A_BAT_FILE, UNSUPPORTED_VERSION, TRUNCATED, CORRUPT. */
  BAT_API int bat_open(const char* path, bat_dataset** out);
  /* Opens it with the files mapped into memory instead of read, so that bat_map_positions and
   * bat_map_attribute give columns without a copy. Use it only for files that no process changes in
   * place: if a file is truncated while it is in use, or its disk fails, the process ends with
   * SIGBUS. A page is checked when it is first used, and not again until bat_close. Files of the
   * paper's library are read instead of mapped. */
  BAT_API int bat_open_mapped(const char* path, bat_dataset** out);
  /* Closes the dataset. Calls that other threads have begun with it finish normally, and it is
   * freed after the last of them. No call may begin with it after this one has. */
  BAT_API void bat_close(bat_dataset* dataset);

  BAT_API int bat_dataset_count(const bat_dataset* dataset, uint64_t* particles);
  /* Returns BAT_FLOAT32 or BAT_FLOAT64. */
  BAT_API int bat_dataset_position_type(const bat_dataset* dataset, int* type);
  /* Returns the box of the particles with finite coordinates; without such particles, lower is +inf
   * and upper -inf. */
  BAT_API int bat_dataset_bounds(const bat_dataset* dataset, double* box);
  /* `has` becomes 1 if the dataset has a time; otherwise it and the value become 0. */
  BAT_API int bat_dataset_time(const bat_dataset* dataset, int* has, double* time);
  BAT_API int bat_dataset_step(const bat_dataset* dataset, int* has, int64_t* step);
  /* Returns a JSON object, or "". The text lives as long as the dataset. */
  BAT_API int bat_dataset_metadata(const bat_dataset* dataset, const char** json);
  /* Returns text number `index`, counted from 0, of the stable_samples option at the time of
   * writing; NULL after the last one, and for 0 if samples are not stable. It lives as long as the
   * dataset. */
  BAT_API int bat_dataset_stable_sample(
    const bat_dataset* dataset, uint64_t index, const char** name);
  /* Returns a JSON object about the HDF5 view of the file: `exists`; `reason`, why it cannot have
   * one, or ""; and `left_out`, an array of objects with `name` and `reason` for each attribute
   * that the view does not show. Opens all leaf files. The text lives as long as the dataset. */
  BAT_API int bat_dataset_hdf5_view(const bat_dataset* dataset, const char** json);
  BAT_API int bat_dataset_leaf_files(const bat_dataset* dataset, uint64_t* files);
  /* Returns the bytes of all files. */
  BAT_API int bat_dataset_file_bytes(const bat_dataset* dataset, uint64_t* bytes);

  BAT_API int bat_dataset_attribute_count(const bat_dataset* dataset, int* attributes);
  /* Any of the three results may be NULL. The name lives as long as the dataset. */
  BAT_API int bat_dataset_attribute(
    const bat_dataset* dataset, int64_t index, const char** name, int* type, int* components);
  /* Finds an attribute by name. INVALID_ARGUMENT, with the existing attributes, if none has this
   * name. */
  BAT_API int bat_dataset_attribute_index(const bat_dataset* dataset, const char* name, int* index);

/* Used instead of a component: the value of an attribute with one component, else the magnitude. */
#define BAT_WHOLE (-1)

  /* Returns the smallest and the largest value, ignoring NaN; minimum > maximum if there are none.
   * The first function rounds 64-bit integers beyond 2^53 to the nearest double. The others are
   * exact and refuse (INVALID_ARGUMENT) floating point attributes, magnitudes, and ends that their
   * type cannot hold.
   */
  BAT_API int bat_dataset_attribute_range(
    const bat_dataset* dataset, int64_t index, int64_t component, double* minimum, double* maximum);
  BAT_API int bat_dataset_attribute_range_int64(const bat_dataset* dataset, int64_t index,
    int64_t component, int64_t* minimum, int64_t* maximum);
  BAT_API int bat_dataset_attribute_range_uint64(const bat_dataset* dataset, int64_t index,
    int64_t component, uint64_t* minimum, uint64_t* maximum);

  /* Estimates the distribution of the values of an attribute, a component or the magnitude:
   * particles in `bins` bins of equal width, in `counts`, from the index and the coarsest
   * particles. The share below any value is right to within about 1 %. The bins lie between the
   * smallest and the largest finite value, `lower` and `upper`, which are rounded to double;
   * without finite values lower > upper and the counts are 0. With BAT_AXIS_LOGARITHMIC they are
   * equally wide in asinh(value / straight_below): logarithmic on both sides of zero, linear around
   * it. `straight_below` may be NULL, and is 0 if the axis is linear. 1 to 65,536 bins. */
  enum bat_axis
  {
    BAT_AXIS_LINEAR = 0,
    BAT_AXIS_LOGARITHMIC = 1
  };
  BAT_API int bat_dataset_histogram(const bat_dataset* dataset, int64_t index, int64_t component,
    int axis, uint64_t bins, double* counts, double* lower, double* upper, double* straight_below);

  /* Describes leaf file number `leaf` without opening it: its path, which lives as long as the
   * dataset, particles, bytes, and box (6 numbers, as in bat_dataset_bounds). Any of the results
   * may be NULL. */
  BAT_API int bat_dataset_leaf(const bat_dataset* dataset, uint64_t leaf, const char** path,
    uint64_t* particles, uint64_t* bytes, double* box);

  /* Describes how an attribute, or with NULL the positions, is stored in a leaf file: bytes of the
   * values, bytes in the file, 1 if compressed, and the largest absolute difference between a given
   * and a stored value (0: none). Any of the four may be NULL. Opens the leaf file.
   * INVALID_ARGUMENT: no such leaf file or attribute, or the file is of the paper's library. */
  BAT_API int bat_leaf_storage(const bat_dataset* dataset, uint64_t leaf, const char* attribute,
    uint64_t* raw_bytes, uint64_t* stored_bytes, int* is_compressed, double* bound);

  /* Checks every checksum and every rule of the format in all files of the dataset. The first
   * problem found is the error. Reads everything once; memory: the largest column, a sorted index,
   * and 4 bytes per particle. */
  BAT_API int bat_validate(const bat_dataset* dataset);

  /* ---- Tables of numbers in text ------------------------------------------------------------ */

  /* The result of bat_parse_columns. */
  typedef struct bat_parsed
  {
    uint64_t rows;
    uint64_t used;    /* bytes of the text up to the end of the last row */
    uint64_t bad_row; /* where a row is not as it must be, and the byte where its line begins */
    uint64_t bad_place;
    int64_t bad_column; /* -1: the row has more or fewer fields than there are columns; -2: no row
                           is bad */
  } bat_parsed;

  /* Parses the numbers in the lines of a text into the caller's arrays: at most `max_rows` rows of
   * `columns` fields each. `types` has a bat_type for each column, or 0 for one that may be any
   * text and is not kept, whose array may be NULL. `strides` are the bytes from a row's value to
   * the next one's, 0 or a NULL for packed values. `delimiter` is an ASCII character; a space means
   * any number of spaces and tabs, and around other delimiters spaces and tabs are allowed. Lines
   * without any field are skipped. The last line needs no line end; pass whole lines, as a row that
   * is cut by the end of `text` is parsed as a shorter one. Integers must fit their type; other
   * numbers become the nearest ones of their type. INVALID_ARGUMENT: the first row with another
   * number of fields, or with a field that is not a number of the type, including numbers beyond
   * 1.8e308; `out` says where, and the content of the arrays is then undefined. Uses at most
   * `threads` threads, 0 for all available ones. */
  BAT_API int bat_parse_columns(const char* text, size_t bytes, int delimiter, uint64_t columns,
    const int* types, void* const* values, const size_t* strides, uint64_t max_rows,
    int64_t threads, bat_parsed* out);

  /* ---- Queries ------------------------------------------------------------------------------ */

  /* A set of conditions that all hold. A new query selects everything; so does NULL for a query. */
  typedef struct bat_query bat_query;

  BAT_API int bat_query_create(bat_query** out);
  BAT_API void bat_query_free(bat_query* query);
  /* Sets the share of the particles, coarse ones first, in [0, 1]. `after_quality`, in [0,
   * quality], excludes the particles that a query with that quality returned. A refused quality or
   * box makes the query fail until one is accepted. */
  BAT_API int bat_query_set_quality(bat_query* query, double quality, double after_quality);
  /* Sets a closed box: particles on the faces are inside. Ends may be infinite, not NaN. */
  BAT_API int bat_query_set_box(bat_query* query, const double* box);
  /* Sets a box without its upper faces, so that each particle is in one box of a tiling. An upper
   * end of +inf includes everything, and a box without extent on an axis is empty. */
  BAT_API int bat_query_set_box_half_open(bat_query* query, const double* box);
  /* Adds a closed range for one component, or BAT_WHOLE, of one attribute, compared without
   * rounding. Any number may be added. A refused range or list makes the query fail for good. */
  BAT_API int bat_query_add_range(
    bat_query* query, const char* attribute, int64_t component, double lower, double upper);
  BAT_API int bat_query_add_range_int64(
    bat_query* query, const char* attribute, int64_t component, int64_t lower, int64_t upper);
  BAT_API int bat_query_add_range_uint64(
    bat_query* query, const char* attribute, int64_t component, uint64_t lower, uint64_t upper);
  /* Does the same with ends of any two types, e.g. an int64 and a double, each given by the address
   * of its number, which is copied. NULL is an end without a limit; its type is ignored. */
  BAT_API int bat_query_add_range_mixed(bat_query* query, const char* attribute, int64_t component,
    int lower_type, const void* lower, int upper_type, const void* upper);
  /* Selects the particles whose value equals one of `count` numbers, e.g. ids, exactly. A number
   * that the attribute's type cannot hold matches nothing, nor does an empty list; NaN makes the
   * query fail. `type` is the type of `values`, which are copied and may be NULL if count is 0. Any
   * number of lists may be added. */
  BAT_API int bat_query_add_values(bat_query* query, const char* attribute, int64_t component,
    int type, const void* values, uint64_t count);
  /* Does the same with ranges among the numbers: a particle matches if its value equals one of
   * `count` numbers or lies in one of `range_count` closed ranges, whose lower and upper ends
   * alternate in `ranges`. With `negated` 1 it matches if it does neither, which holds for NaN.
   * Numbers and ends are of `type` and are copied. */
  BAT_API int bat_query_add_set(bat_query* query, const char* attribute, int64_t component,
    int type, const void* values, uint64_t count, const void* ranges, uint64_t range_count,
    int negated);
  /* Selects particles within `radius` of a point; with lower <= normal . position <= upper; or in a
   * box around `center`, whose sides are 2 `half_extents` long and point along `axes`, three times
   * x, y, z. `outside` 1 selects the others instead. bat/query.hpp has the formulas, which are
   * exact to the last bit. Any number of regions may be added; all hold, in addition to the box.
   * Invalid arguments are errors of the query. */
  BAT_API int bat_query_add_sphere(
    bat_query* query, const double* center, double radius, int outside);
  BAT_API int bat_query_add_slab(
    bat_query* query, const double* normal, double lower, double upper, int outside);
  BAT_API int bat_query_add_oriented_box(bat_query* query, const double* center, const double* axes,
    const double* half_extents, int outside);
  /* Makes the query fail with this text and returns INVALID_ARGUMENT. Wrappers in other languages
   * use it for conditions that they refuse themselves. */
  BAT_API int bat_query_fail(bat_query* query, const char* text);
  /* Divides the particles among `parts` readers in compact pieces of equal size and selects piece
   * `part`, counted from 0. At most 2^32 - 1 parts. After a refused part the query fails until one
   * is accepted. */
  BAT_API int bat_query_set_part(bat_query* query, int64_t part, int64_t parts);
  /* Sets the maximum number of threads of the query and of the reads that follow; 0, the default,
   * for all available ones. It never exceeds the number of processors. */
  BAT_API int bat_query_set_threads(bat_query* query, int64_t threads);

  /* Calls `progress` during the reads that follow a query: each call of bat_read_positions,
   * bat_read_attribute and bat_read_attributes. For a dataset at an address, it is also called
   * every 50 ms while these, or bat_select itself, wait for the server. After a cancelled read the
   * content of the arrays is undefined. bat_select copies the function: later changes of the query
   * do not affect its selection. NULL for none. */
  BAT_API int bat_query_set_progress(bat_query* query, bat_progress progress, void* data);

  /* Estimates how many particles bat_select would find, from the indices and a sample, at a
   * fraction of its cost: `minimum` and `maximum` are certain bounds, and `likely` lies between
   * them. Any of the results may be NULL. Errors of bat_select. */
  BAT_API int bat_estimate_count(const bat_dataset* dataset, const bat_query* query,
    uint64_t* minimum, uint64_t* likely, uint64_t* maximum);
  /* Returns the largest number of particles that bat_select can find, from the indices alone. */
  BAT_API int bat_upper_bound(
    const bat_dataset* dataset, const bat_query* query, uint64_t* particles);
  /* Finds a fine quality, up to that of the query, at which bat_select finds at most `budget`
   * particles: the finest, or close to it. The part is ignored. */
  BAT_API int bat_quality_within(
    const bat_dataset* dataset, const bat_query* query, uint64_t budget, double* quality);

  /* The particles that match. It must be freed before its dataset is closed. */
  typedef struct bat_selection bat_selection;

  /* Finds the matching particles exactly. INVALID_ARGUMENT: a value out of range, or an attribute
   * that the dataset lacks; also all errors of bat_open, from leaf files. */
  BAT_API int bat_select(const bat_dataset* dataset, const bat_query* query, bat_selection** out);
  BAT_API void bat_selection_free(bat_selection* selection);
  BAT_API int bat_selection_count(const bat_selection* selection, uint64_t* particles);

  /* Returns the values of an attribute, or the positions if `name` is NULL, in a selection that
   * bat_mpi_read() made: packed as bat_read_attribute gives them, read-only, and valid until
   * bat_selection_free. INVALID_ARGUMENT: an attribute that was not requested, or a selection made
   * otherwise. */
  BAT_API int bat_selection_values(const bat_dataset* dataset, const bat_selection* selection,
    const char* name, const void** values);
  /* Reports what that read did, as one line of JSON and as a sentence, valid until
   * bat_selection_free; "" if no rank requested a report. Either may be NULL. */
  BAT_API int bat_selection_report(
    const bat_selection* selection, const char** json, const char** line);

  /* Reads values of the selected particles, always in the same order, packed: shape (selected, 3)
   * of the dataset's position type, or (selected, components) of the attribute's type. `out`
   * belongs to the caller and holds `bytes` bytes, at least as many as the values take. */
  BAT_API int bat_read_positions(
    const bat_dataset* dataset, const bat_selection* selection, void* out, size_t bytes);
  BAT_API int bat_read_attribute(const bat_dataset* dataset, const char* name,
    const bat_selection* selection, void* out, size_t bytes);

  /* Reads several attributes in one call: `count` names, arrays, and numbers of bytes. */
  BAT_API int bat_read_attributes(const bat_dataset* dataset, uint64_t count,
    const char* const* names, const bat_selection* selection, void* const* out,
    const size_t* bytes);
  /* Reads an attribute of a narrower type, or unsigned integers of the same width as a signed
   * `type`, as values of `type`, each exactly the stored number. INVALID_ARGUMENT, with `out`
   * zeroed, if an unsigned value is too large; INVALID_ARGUMENT for all other pairs of types. */
  BAT_API int bat_read_attribute_as(const bat_dataset* dataset, const char* name, int type,
    const bat_selection* selection, void* out, size_t bytes);

  /* Returns the values of the coarse share `quality` of a leaf file in a dataset that was opened
   * mapped: `*count` particles, in the same order in all columns, packed as bat_read_positions and
   * bat_read_attribute give them, aligned. Leaf files are numbered from 0 to bat_dataset_leaf_files
   * - 1. Nothing is copied; pages not used before are checked in the call. The values are read-only
   * and valid until bat_close. Calls may run concurrently. INVALID_ARGUMENT: a dataset that is not
   * mapped or of the paper's library; no such leaf file or attribute; an attribute that repeats one
   * component of several (BAT_REPEATS_LINK) and so has no column of its own; a quality outside [0,
   * 1]. Also all errors of bat_open. */
  BAT_API int bat_map_positions(const bat_dataset* dataset, uint64_t leaf, double quality,
    const void** values, uint64_t* count);
  BAT_API int bat_map_attribute(const bat_dataset* dataset, const char* name, uint64_t leaf,
    double quality, const void** values, uint64_t* count);

  /* ---- Series ------------------------------------------------------------------------------- */

  /* Returns the steps of a list (.bat.series) at a path or an address, in its order: a JSON array
   * of objects with `path`, which bat_open takes, and `time`, if the list has it. Any other path is
   * the only step. The text lives until the next call in the same thread. NOT_FOUND, CANNOT_OPEN,
   * CORRUPT: the list; datasets are not opened. */
  BAT_API int bat_series_steps(const char* path, const char** json);

  /* ---- Particles through time --------------------------------------------------------------- */

  /* Describes which particles of which steps to follow, and which values to read. Refused arguments
   * make bat_follow_run fail, for good. */
  typedef struct bat_follow bat_follow;

  BAT_API int bat_follow_create(bat_follow** out);
  BAT_API void bat_follow_free(bat_follow* follow);
  /* Adds the steps of a list (.bat.series), the samples of a tracks file (.tracks.bat), or the
   * dataset at any other path as one step.
   * NOT_FOUND, CANNOT_OPEN, CORRUPT: the list; datasets are not opened yet. */
  BAT_API int bat_follow_add_steps(bat_follow* follow, const char* path);
  /* Adds a dataset as a step of this time, which must be finite. */
  BAT_API int bat_follow_add_step(bat_follow* follow, const char* path, double time);
  /* Sets the ids, `count` numbers of `type`, which are copied: at least one, no NaN, in any order;
   * an id given twice is followed twice. They are compared without rounding. `attribute` names the
   * attribute with the ids, of one component; NULL for the one that is called id, ids, particle_id
   * ..., or as AMReX does X_id next to X_cpu, or X_idcpu. */
  BAT_API int bat_follow_set_ids(
    bat_follow* follow, const char* attribute, int type, const void* values, uint64_t count);
  /* Sets the values of a second attribute for each of the ids, such as "cpu" of AMReX, if ids are
   * unique only together with it. `attribute` NULL: cpu for id, X_cpu for X_id. */
  BAT_API int bat_follow_set_second(
    bat_follow* follow, const char* attribute, int type, const void* values, uint64_t count);
  /* Sets the attributes to read, each once; by default all that any step has, except those of the
   * ids. */
  BAT_API int bat_follow_set_attributes(
    bat_follow* follow, uint64_t count, const char* const* names);
  /* Unwraps the positions of a periodic domain: a particle that leaves on one side and returns on
   * the other continues outside, provided that it moves by less than half of the domain from one
   * step in which it is present to the next. `box` is the domain, 6 numbers; an axis with infinite
   * ends is not periodic. NULL: the domain that each file names in its metadata, {"periodic_box":
   * {"lower": [x, y, z], "upper": [x, y, z]}}, or as converted files of LAMMPS, GSD, H5MD and
   * MDAnalysis do. Positions are float64 then. */
  BAT_API int bat_follow_set_periodic(bat_follow* follow, const double* box);
  /* With 1, skips files that are missing or damaged, which bat_trails_problem lists; with 0, the
   * default, the first of them is the error. */
  BAT_API int bat_follow_set_leave_out_damaged(bat_follow* follow, int leave_out);
  /* With 1, files are mapped instead of read, which is faster; use it only for files that no
   * process changes in place, see bat_open_mapped. With 0, the default, they are read. */
  BAT_API int bat_follow_set_map(bat_follow* follow, int map);
  /* Sets the maximum number of threads; 0, the default, for all available ones. Does not change the
   * result. */
  BAT_API int bat_follow_set_threads(bat_follow* follow, int64_t threads);
  BAT_API int bat_follow_set_progress(bat_follow* follow, bat_progress progress, void* data);

  /* The content of a tracks file (NAME.tracks.bat), which holds chosen particles at many times;
   * bat_follow_add_steps adds all of its samples. Results live as long as it, and are read-only.
   * Any of the results may be NULL. */
  typedef struct bat_tracks bat_tracks;

  /* Reads ids and samples, but no values. The file may be growing. */
  BAT_API int bat_tracks_open(const char* path, bat_tracks** out);
  BAT_API void bat_tracks_free(bat_tracks* tracks);
  /* Returns the ids of all samples, each once, ascending; their attribute; and their type, widened
   * to 8 bytes: BAT_INT64, BAT_UINT64 or BAT_FLOAT64. The second attribute is returned in the same
   * way; without one its name is "" and its values are NULL. */
  BAT_API int bat_tracks_ids(const bat_tracks* tracks, uint64_t* count, const char** attribute,
    int* type, const void** ids, const char** second_attribute, int* second_type,
    const void** second);
  /* Returns the samples: step numbers, ascending; times, NaN where there is none; particles in
   * each. */
  BAT_API int bat_tracks_samples(const bat_tracks* tracks, uint64_t* count, const int64_t** steps,
    const double** times, const uint64_t** particles);
  /* Returns the type of positions and the number of attributes of the last sample with particles.
   * */
  BAT_API int bat_tracks_attribute_count(
    const bat_tracks* tracks, int* position_type, uint64_t* attributes);
  BAT_API int bat_tracks_attribute(
    const bat_tracks* tracks, uint64_t index, const char** name, int* type, int* components);
  /* Returns the number of byte runs that hold samples: one for each sample while the file grows,
   * later one for 64 MiB. Also returns the bytes of the file, and how many of these at its end
   * belong to a sample that is being written or was never finished. */
  BAT_API int bat_tracks_size(
    const bat_tracks* tracks, uint64_t* blocks, uint64_t* file_bytes, uint64_t* unfinished_bytes);
  /* Checks every byte of a tracks file and every rule of the format. */
  BAT_API int bat_tracks_validate(const char* path);

  /* The particles through all steps. Results live as long as it, and are read-only. */
  typedef struct bat_trails bat_trails;

  /* Finds the particles in every step, in the sorted index of their ids where one exists. Memory
   * grows with steps x ids, not with particles. Errors: INVALID_ARGUMENT, also if no step has a
   * requested attribute, or no type holds its values of all steps exactly; CANCELLED; all of
   * bat_open. */
  BAT_API int bat_follow_run(const bat_follow* follow, bat_trails** out);
  BAT_API void bat_trails_free(bat_trails* trails);
  /* Any of the results may be NULL. */
  BAT_API int bat_trails_size(const bat_trails* trails, uint64_t* steps, uint64_t* ids,
    uint64_t* attributes, uint64_t* problems);
  /* Returns the path of the dataset of step number `step`; its time as listed, else as stored in
   * the dataset; and its number as stored. `has_time` and `has_number` are 1 if known; otherwise
   * they and the value are 0. Any of the results may be NULL. */
  BAT_API int bat_trails_step(const bat_trails* trails, uint64_t step, const char** path,
    int* has_time, double* time, int* has_number, int64_t* number);
  /* Returns how many particles have the id, shape (steps, ids). 0: the particle is absent; above 1:
   * all values are those of the first one in the order of the dataset. */
  BAT_API int bat_trails_counts(const bat_trails* trails, const uint32_t** counts);
/* Used instead of the index of an attribute. */
#define BAT_POSITIONS (-1)
  /* Returns the values of attribute number `index`, or the positions, packed: shape (steps, ids,
   * components), NaN, or 0 for integers, where a particle is absent. The type holds the values of
   * all steps. `in_step`, shape (steps), is 1 where particles have the attribute. Any of the
   * results may be NULL.
   */
  BAT_API int bat_trails_values(const bat_trails* trails, int64_t index, const char** name,
    int* type, int* components, const void** values, const uint8_t** in_step);
  /* Describes a file of a step that was skipped: number of the step, status, text. */
  BAT_API int bat_trails_problem(
    const bat_trails* trails, uint64_t index, uint64_t* step, int* status, const char** text);
  /* Returns advice on what would make it faster, e.g. a sorted index; "" for none. */
  BAT_API int bat_trails_advice(const bat_trails* trails, const char** text);

#ifdef __cplusplus
}
#endif

#endif
