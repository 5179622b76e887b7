! SPDX-License-Identifier: BSD-3-Clause
! ParaBAT for Fortran: bat/bat.h and bat/bat_mpi.h with Fortran's arrays, texts and communicators.
!
! Every subroutine ends with the argument status: 0, or one of the BAT_ numbers below, and then
! bat_error_text() returns the message. Handles are of type(c_ptr). Arrays must be contiguous.
! Arrays that a description of particles borrows must have the target attribute and stay unchanged
! until the write has ended. Shapes are (3, n) for positions and (n) or (components, n) for
! attributes, with types integer(1, 2, 4, 8) and real(4, 8). Communicators are the integers of "use
! mpi" (or comm%mpi_val of "use mpi_f08"); subroutines that take one are collective. Texts contain
! no zero character, and trailing blanks are ignored.
!
! An attribute is read into an array of its type or of a wider type of the same kind. Fortran has no
! unsigned integers: unsigned values are read into signed ones of the same width, which is an error
! if a value is too large, or into wider ones, which hold all values.
module bat
  use, intrinsic :: iso_c_binding
  use bat_texts
  implicit none
  private

  integer(c_int), parameter, public :: BAT_OK = 0, BAT_NOT_FOUND = 1, BAT_CANNOT_OPEN = 2, &
    BAT_NOT_A_BAT_FILE = 3, BAT_UNSUPPORTED_VERSION = 4, BAT_TRUNCATED = 5, BAT_CORRUPT = 6, &
    BAT_WRITE_FAILED = 7, BAT_NO_SPACE = 8, BAT_INVALID_ARGUMENT = 9, BAT_OUT_OF_MEMORY = 10, &
    BAT_CANCELLED = 11, BAT_INTERNAL = 12
  integer(c_int), parameter, public :: BAT_INT8 = 1, BAT_UINT8 = 2, BAT_INT16 = 3, BAT_UINT16 = 4, &
    BAT_INT32 = 5, BAT_UINT32 = 6, BAT_INT64 = 7, BAT_UINT64 = 8, BAT_FLOAT32 = 9, BAT_FLOAT64 = 10
  integer(c_int), parameter, public :: BAT_MODE_ADAPTIVE = 0, BAT_MODE_RANK_BORDER = 1, BAT_MODE_AUG = 2
  integer(c_int), parameter, public :: BAT_REPEATS_STORE = 0, BAT_REPEATS_LINK = 1, BAT_REPEATS_LEAVE_OUT = 2
  integer(c_int), parameter, public :: BAT_WHOLE = -1

  ! bat_report of bat/bat.h: sizes in bytes, times in seconds.
  type, bind(c), public :: bat_report
    integer(c_int64_t) :: particles = 0, leaf_files = 0, target_bytes = 0, file_bytes = 0, &
      data_bytes = 0, largest_leaf_bytes = 0, moved_bytes = 0, skipped = 0
    integer(c_int32_t) :: ranks = 0, nodes = 0, aggregators = 0, threads = 0, leaders = 0
    integer(c_int64_t) :: messages_within = 0, bytes_within = 0, messages_between = 0, bytes_between = 0, &
      max_received = 0, max_received_bytes = 0, peak_memory_bytes = 0
    real(c_double) :: seconds_check = 0, seconds_plan = 0, seconds_exchange = 0, seconds_build = 0, &
      seconds_write = 0, seconds_commit = 0, seconds_total = 0
    character(c_char) :: advice(256) = c_null_char
  end type bat_report

  ! bat_repack_report of bat/bat.h.
  type, bind(c), public :: bat_repack_report
    integer(c_int64_t) :: particles = 0, datasets = 0, leaf_files = 0, bytes_before = 0, bytes_after = 0
    real(c_double) :: seconds = 0
  end type bat_repack_report

  public :: bat_error_text, bat_report_text, bat_report_line, bat_read, bat_selection_report
  public :: bat_particles_create, bat_particles_free, bat_particles_set_positions, &
    bat_particles_set_positions_separate, bat_particles_set_attribute, bat_particles_set_time, &
    bat_particles_set_step, bat_particles_set_metadata
  public :: bat_options_create, bat_options_free, bat_options_set, bat_options_set_target_bytes, &
    bat_options_set_mode, bat_options_set_threads, bat_options_set_flush, bat_options_add_sorted_index, &
    bat_options_set_repeats, bat_options_set_local_bounds, bat_options_set_list
  public :: bat_write, bat_open, bat_close, bat_repack, bat_series_steps
  public :: bat_piece_writer_create, bat_piece_writer_add, bat_piece_writer_fail, bat_piece_writer_finish, &
    bat_piece_writer_free
  public :: bat_dataset_count, bat_dataset_position_type, bat_dataset_bounds, bat_dataset_time, &
    bat_dataset_step, bat_dataset_metadata, bat_dataset_stable_sample, bat_dataset_hdf5_view, bat_dataset_leaf_files, &
    bat_dataset_file_bytes, &
    bat_dataset_attribute_count, bat_dataset_attribute, bat_dataset_attribute_index, &
    bat_dataset_attribute_range
  public :: bat_query_create, bat_query_free, bat_query_set_quality, bat_query_set_box, &
    bat_query_set_box_half_open, bat_query_add_range, bat_query_add_values, bat_query_add_set, &
    bat_query_add_sphere, bat_query_add_slab, bat_query_add_oriented_box, bat_query_set_part, &
    bat_query_set_threads
  public :: bat_insitu_open, bat_insitu_close, bat_insitu_set_every, bat_insitu_begin_step, &
    bat_insitu_add, bat_insitu_fail, bat_insitu_end_step, bat_insitu_written, bat_insitu_keep_memory, &
    bat_insitu_set_tracks, bat_insitu_set_species
  public :: bat_validate, bat_estimate_count, bat_upper_bound, bat_quality_within
  public :: bat_select, bat_selection_free, bat_selection_count, bat_read_positions, bat_read_attribute

  ! Sets any write option by its name in bat/bat.h.
  interface bat_options_set
    module procedure set_option_int32, set_option_int64, set_option_real64, set_option_text, &
      set_option_logical
  end interface
  interface bat_particles_set_positions
    module procedure set_positions_real32, set_positions_real64
  end interface
  interface bat_particles_set_positions_separate
    module procedure set_separate_real32, set_separate_real64
  end interface
  interface bat_particles_create
    module procedure create_int32, create_int64
  end interface
  interface bat_particles_set_step
    module procedure set_step_int32, set_step_int64
  end interface
  interface bat_particles_set_attribute
    module procedure set_int8_1, set_int8_2, set_int16_1, set_int16_2, &
      set_int32_1, set_int32_2, set_int64_1, set_int64_2, &
      set_real32_1, set_real32_2, set_real64_1, set_real64_2
  end interface
  interface bat_insitu_add
    module procedure add_all, add_without_ghosts_int8, add_without_ghosts_int16, &
      add_without_ghosts_int32, add_without_ghosts_int64
  end interface
  interface bat_insitu_set_tracks
    module procedure set_tracks, set_tracks_int32, set_tracks_int64
  end interface
  interface bat_dataset_attribute_range
    module procedure attribute_range_real64, attribute_range_int64
  end interface
  interface bat_query_add_range
    module procedure add_range_int32, add_range_int64, add_range_real64, add_range_int64_real64, &
      add_range_real64_int64
  end interface
  interface bat_query_add_values
    module procedure add_values_int8, add_values_int16, add_values_int32, add_values_int64, &
      add_values_real32, add_values_real64
  end interface
  interface bat_query_add_set
    module procedure add_set_int64, add_set_real64
  end interface
  interface bat_selection_count
    module procedure selection_count_int32, selection_count_int64
  end interface
  interface bat_read_positions
    module procedure read_positions_real32, read_positions_real64
  end interface
  interface bat_read_attribute
    module procedure read_int8_1, read_int8_2, read_int16_1, read_int16_2, &
      read_int32_1, read_int32_2, read_int64_1, read_int64_2, &
      read_real32_1, read_real32_2, read_real64_1, read_real64_2
  end interface

  interface
    function c_last_error() bind(c, name="bat_last_error") result(text)
      import; type(c_ptr) :: text
    end function
    function c_report_json(report, text, size) bind(c, name="bat_report_json") result(status)
      import; type(bat_report), intent(in) :: report; character(c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size; integer(c_int) :: status
    end function
    function c_report_line(report, text, size) bind(c, name="bat_report_line") result(status)
      import; type(bat_report), intent(in) :: report; character(c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size; integer(c_int) :: status
    end function
    function c_particles_create(count, out) bind(c, name="bat_particles_create") result(status)
      import; integer(c_int64_t), value :: count; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    subroutine c_particles_free(particles) bind(c, name="bat_particles_free")
      import; type(c_ptr), value :: particles
    end subroutine
    function c_set_positions(particles, type, xyz, stride) &
        bind(c, name="bat_particles_set_positions") result(status)
      import; type(c_ptr), value :: particles, xyz; integer(c_int), value :: type
      integer(c_size_t), value :: stride; integer(c_int) :: status
    end function
    function c_set_positions_separate(particles, type, x, y, z, stride) &
        bind(c, name="bat_particles_set_positions_separate") result(status)
      import; type(c_ptr), value :: particles, x, y, z; integer(c_int), value :: type
      integer(c_size_t), value :: stride; integer(c_int) :: status
    end function
    function c_set_attribute(particles, name, type, components, values, stride) &
        bind(c, name="bat_particles_set_attribute") result(status)
      import; type(c_ptr), value :: particles, values; character(c_char), intent(in) :: name(*)
      integer(c_int), value :: type; integer(c_int64_t), value :: components
      integer(c_size_t), value :: stride; integer(c_int) :: status
    end function
    function c_set_time(particles, time) bind(c, name="bat_particles_set_time") result(status)
      import; type(c_ptr), value :: particles; real(c_double), value :: time; integer(c_int) :: status
    end function
    function c_set_step(particles, step) bind(c, name="bat_particles_set_step") result(status)
      import; type(c_ptr), value :: particles; integer(c_int64_t), value :: step; integer(c_int) :: status
    end function
    function c_set_metadata(particles, json) bind(c, name="bat_particles_set_metadata") result(status)
      import; type(c_ptr), value :: particles; character(c_char), intent(in) :: json(*)
      integer(c_int) :: status
    end function
    function c_options_create(out) bind(c, name="bat_options_create") result(status)
      import; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    subroutine c_options_free(options) bind(c, name="bat_options_free")
      import; type(c_ptr), value :: options
    end subroutine
    function c_set_integer(options, name, value) bind(c, name="bat_options_set_integer") result(status)
      import; type(c_ptr), value :: options; character(c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value; integer(c_int) :: status
    end function
    function c_set_real(options, name, value) bind(c, name="bat_options_set_real") result(status)
      import; type(c_ptr), value :: options; character(c_char), intent(in) :: name(*)
      real(c_double), value :: value; integer(c_int) :: status
    end function
    function c_set_text(options, name, value) bind(c, name="bat_options_set_text") result(status)
      import; type(c_ptr), value :: options; character(c_char), intent(in) :: name(*), value(*)
      integer(c_int) :: status
    end function
    function c_set_target_bytes(options, bytes) bind(c, name="bat_options_set_target_bytes") result(status)
      import; type(c_ptr), value :: options; integer(c_int64_t), value :: bytes; integer(c_int) :: status
    end function
    function c_set_mode(options, mode) bind(c, name="bat_options_set_mode") result(status)
      import; type(c_ptr), value :: options; integer(c_int), value :: mode; integer(c_int) :: status
    end function
    function c_set_threads(options, threads) bind(c, name="bat_options_set_threads") result(status)
      import; type(c_ptr), value :: options; integer(c_int64_t), value :: threads; integer(c_int) :: status
    end function
    function c_set_flush(options, flush) bind(c, name="bat_options_set_flush") result(status)
      import; type(c_ptr), value :: options; integer(c_int), value :: flush; integer(c_int) :: status
    end function
    function c_add_sorted_index(options, name) bind(c, name="bat_options_add_sorted_index") result(status)
      import; type(c_ptr), value :: options; character(c_char), intent(in) :: name(*); integer(c_int) :: status
    end function
    function c_set_repeats(options, repeats, compare_values) bind(c, name="bat_options_set_repeats") result(status)
      import; type(c_ptr), value :: options; integer(c_int), value :: repeats, compare_values
      integer(c_int) :: status
    end function
    function c_set_local_bounds(options, box) bind(c, name="bat_options_set_local_bounds") result(status)
      import; type(c_ptr), value :: options; real(c_double), intent(in) :: box(6); integer(c_int) :: status
    end function
    function c_write(path, particles, options, report) bind(c, name="bat_write") result(status)
      import; character(c_char), intent(in) :: path(*); type(c_ptr), value :: particles, options
      type(bat_report), intent(out) :: report; integer(c_int) :: status
    end function
    function c_set_list(options, name, count, texts) bind(c, name="bat_options_set_list") result(status)
      import; type(c_ptr), value :: options; character(c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: count; type(c_ptr), intent(in) :: texts(*); integer(c_int) :: status
    end function
    function c_repack(from, to, options, report) bind(c, name="bat_repack") result(status)
      import; character(c_char), intent(in) :: from(*), to(*); type(c_ptr), value :: options
      type(bat_repack_report), intent(out) :: report; integer(c_int) :: status
    end function
    function c_series_steps(path, json) bind(c, name="bat_series_steps") result(status)
      import; character(c_char), intent(in) :: path(*); type(c_ptr), intent(out) :: json
      integer(c_int) :: status
    end function
    function c_pieces_create(path, options, memory, out) bind(c, name="bat_piece_writer_create") result(status)
      import; character(c_char), intent(in) :: path(*); type(c_ptr), value :: options
      integer(c_int64_t), value :: memory; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    function c_pieces_add(writer, piece) bind(c, name="bat_piece_writer_add") result(status)
      import; type(c_ptr), value :: writer, piece; integer(c_int) :: status
    end function
    function c_pieces_fail(writer, text) bind(c, name="bat_piece_writer_fail") result(status)
      import; type(c_ptr), value :: writer; character(c_char), intent(in) :: text(*); integer(c_int) :: status
    end function
    function c_pieces_finish(writer, report) bind(c, name="bat_piece_writer_finish") result(status)
      import; type(c_ptr), value :: writer; type(bat_report), intent(out) :: report; integer(c_int) :: status
    end function
    subroutine c_pieces_free(writer) bind(c, name="bat_piece_writer_free")
      import; type(c_ptr), value :: writer
    end subroutine
    function c_insitu_open(comm, files, options, out) bind(c, name="bat_insitu_open_f") result(status)
      import; integer(c_int), value :: comm; character(c_char), intent(in) :: files(*)
      type(c_ptr), value :: options; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    subroutine c_insitu_close(insitu) bind(c, name="bat_insitu_close")
      import; type(c_ptr), value :: insitu
    end subroutine
    function c_set_every(insitu, every) bind(c, name="bat_insitu_set_every") result(status)
      import; type(c_ptr), value :: insitu; integer(c_int64_t), value :: every; integer(c_int) :: status
    end function
    function c_set_tracks(insitu, options, type, ids, count) bind(c, name="bat_insitu_set_tracks") result(status)
      import; type(c_ptr), value :: insitu; character(c_char), intent(in) :: options(*); integer(c_int), value :: type
      type(c_ptr), value :: ids; integer(c_int64_t), value :: count; integer(c_int) :: status
    end function
    function c_set_species(insitu, species, every, options, tracks) bind(c, name="bat_insitu_set_species") result(status)
      import; type(c_ptr), value :: insitu; character(c_char), intent(in) :: species(*); integer(c_int64_t), value :: every
      type(c_ptr), value :: options, tracks; integer(c_int) :: status
    end function
    function c_keep_memory(insitu, max_bytes) bind(c, name="bat_insitu_keep_memory") result(status)
      import; type(c_ptr), value :: insitu; integer(c_int64_t), value :: max_bytes; integer(c_int) :: status
    end function
    function c_begin_step(insitu, step, time, due) bind(c, name="bat_insitu_begin_step") result(status)
      import; type(c_ptr), value :: insitu; integer(c_int64_t), value :: step; real(c_double), value :: time
      integer(c_int), intent(out) :: due; integer(c_int) :: status
    end function
    function c_insitu_add(insitu, species, particles) bind(c, name="bat_insitu_add") result(status)
      import; type(c_ptr), value :: insitu; type(c_ptr), value :: species; type(c_ptr), value :: particles
      integer(c_int) :: status
    end function
    function c_insitu_add_without_ghosts(insitu, species, particles, type, ghosts, stride) &
      bind(c, name="bat_insitu_add_without_ghosts") result(status)
      import; type(c_ptr), value :: insitu; type(c_ptr), value :: species; type(c_ptr), value :: particles
      integer(c_int), value :: type; type(c_ptr), value :: ghosts; integer(c_size_t), value :: stride
      integer(c_int) :: status
    end function
    function c_insitu_fail(insitu, local, text) bind(c, name="bat_insitu_fail") result(status)
      import; type(c_ptr), value :: insitu; integer(c_int), value :: local
      character(c_char), intent(in) :: text(*); integer(c_int) :: status
    end function
    function c_end_step(insitu, report) bind(c, name="bat_insitu_end_step") result(status)
      import; type(c_ptr), value :: insitu; type(bat_report), intent(out) :: report; integer(c_int) :: status
    end function
    function c_written(insitu, json) bind(c, name="bat_insitu_written") result(status)
      import; type(c_ptr), value :: insitu; type(c_ptr), intent(out) :: json; integer(c_int) :: status
    end function
    function c_open(path, out) bind(c, name="bat_open") result(status)
      import; character(c_char), intent(in) :: path(*); type(c_ptr), intent(out) :: out
      integer(c_int) :: status
    end function
    subroutine c_close(dataset) bind(c, name="bat_close")
      import; type(c_ptr), value :: dataset
    end subroutine
    function c_count(dataset, particles) bind(c, name="bat_dataset_count") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), intent(out) :: particles
      integer(c_int) :: status
    end function
    function c_position_type(dataset, type) bind(c, name="bat_dataset_position_type") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int), intent(out) :: type; integer(c_int) :: status
    end function
    function c_bounds(dataset, box) bind(c, name="bat_dataset_bounds") result(status)
      import; type(c_ptr), value :: dataset; real(c_double), intent(out) :: box(6); integer(c_int) :: status
    end function
    function c_time(dataset, has, time) bind(c, name="bat_dataset_time") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int), intent(out) :: has
      real(c_double), intent(out) :: time; integer(c_int) :: status
    end function
    function c_step(dataset, has, step) bind(c, name="bat_dataset_step") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int), intent(out) :: has
      integer(c_int64_t), intent(out) :: step; integer(c_int) :: status
    end function
    function c_metadata(dataset, json) bind(c, name="bat_dataset_metadata") result(status)
      import; type(c_ptr), value :: dataset; type(c_ptr), intent(out) :: json; integer(c_int) :: status
    end function
    function c_stable_sample(dataset, index, name) bind(c, name="bat_dataset_stable_sample") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), value :: index
      type(c_ptr), intent(out) :: name; integer(c_int) :: status
    end function
    function c_hdf5_view(dataset, json) bind(c, name="bat_dataset_hdf5_view") result(status)
      import; type(c_ptr), value :: dataset; type(c_ptr), intent(out) :: json; integer(c_int) :: status
    end function
    function c_leaf_files(dataset, files) bind(c, name="bat_dataset_leaf_files") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), intent(out) :: files
      integer(c_int) :: status
    end function
    function c_file_bytes(dataset, bytes) bind(c, name="bat_dataset_file_bytes") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), intent(out) :: bytes
      integer(c_int) :: status
    end function
    function c_attribute_count(dataset, attributes) bind(c, name="bat_dataset_attribute_count") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int), intent(out) :: attributes
      integer(c_int) :: status
    end function
    function c_attribute(dataset, index, name, type, components) bind(c, name="bat_dataset_attribute") &
        result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), value :: index
      type(c_ptr), intent(out) :: name
      integer(c_int), intent(out) :: type, components; integer(c_int) :: status
    end function
    function c_attribute_index(dataset, name, index) bind(c, name="bat_dataset_attribute_index") result(status)
      import; type(c_ptr), value :: dataset; character(c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: index; integer(c_int) :: status
    end function
    function c_query_create(out) bind(c, name="bat_query_create") result(status)
      import; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    subroutine c_query_free(query) bind(c, name="bat_query_free")
      import; type(c_ptr), value :: query
    end subroutine
    function c_set_quality(query, quality, after) bind(c, name="bat_query_set_quality") result(status)
      import; type(c_ptr), value :: query; real(c_double), value :: quality, after; integer(c_int) :: status
    end function
    function c_set_box(query, box) bind(c, name="bat_query_set_box") result(status)
      import; type(c_ptr), value :: query; real(c_double), intent(in) :: box(6); integer(c_int) :: status
    end function
    function c_set_box_half_open(query, box) bind(c, name="bat_query_set_box_half_open") result(status)
      import; type(c_ptr), value :: query; real(c_double), intent(in) :: box(6); integer(c_int) :: status
    end function
    function c_attribute_range(dataset, index, component, minimum, maximum) &
        bind(c, name="bat_dataset_attribute_range") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), value :: index, component
      real(c_double), intent(out) :: minimum, maximum; integer(c_int) :: status
    end function
    function c_attribute_range_int64(dataset, index, component, minimum, maximum) &
        bind(c, name="bat_dataset_attribute_range_int64") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), value :: index, component
      integer(c_int64_t), intent(out) :: minimum, maximum; integer(c_int) :: status
    end function
    function c_add_range(query, name, component, lower_type, lower, upper_type, upper) &
        bind(c, name="bat_query_add_range_mixed") result(status)
      import; type(c_ptr), value :: query, lower, upper; character(c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: component; integer(c_int), value :: lower_type, upper_type
      integer(c_int) :: status
    end function
    function c_add_values(query, name, component, number_type, values, count) &
        bind(c, name="bat_query_add_values") result(status)
      import; type(c_ptr), value :: query, values; character(c_char), intent(in) :: name(*)
      integer(c_int), value :: number_type; integer(c_int64_t), value :: component, count
      integer(c_int) :: status
    end function
    function c_add_set(query, name, component, number_type, values, count, ranges, range_count, negated) &
        bind(c, name="bat_query_add_set") result(status)
      import; type(c_ptr), value :: query, values, ranges; character(c_char), intent(in) :: name(*)
      integer(c_int), value :: number_type, negated
      integer(c_int64_t), value :: component, count, range_count; integer(c_int) :: status
    end function
    function c_add_sphere(query, center, radius, outside) bind(c, name="bat_query_add_sphere") result(status)
      import; type(c_ptr), value :: query; real(c_double), intent(in) :: center(3)
      real(c_double), value :: radius; integer(c_int), value :: outside; integer(c_int) :: status
    end function
    function c_add_slab(query, normal, lower, upper, outside) bind(c, name="bat_query_add_slab") &
        result(status)
      import; type(c_ptr), value :: query; real(c_double), intent(in) :: normal(3)
      real(c_double), value :: lower, upper; integer(c_int), value :: outside; integer(c_int) :: status
    end function
    function c_add_oriented_box(query, center, axes, half_extents, outside) &
        bind(c, name="bat_query_add_oriented_box") result(status)
      import; type(c_ptr), value :: query
      real(c_double), intent(in) :: center(3), axes(3, 3), half_extents(3)
      integer(c_int), value :: outside; integer(c_int) :: status
    end function
    function c_query_fail(query, text) bind(c, name="bat_query_fail") result(status)
      import; type(c_ptr), value :: query; character(c_char), intent(in) :: text(*); integer(c_int) :: status
    end function
    function c_set_part(query, part, parts) bind(c, name="bat_query_set_part") result(status)
      import; type(c_ptr), value :: query; integer(c_int64_t), value :: part, parts; integer(c_int) :: status
    end function
    function c_query_threads(query, threads) bind(c, name="bat_query_set_threads") result(status)
      import; type(c_ptr), value :: query; integer(c_int64_t), value :: threads; integer(c_int) :: status
    end function
    function c_validate(dataset) bind(c, name="bat_validate") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int) :: status
    end function
    function c_estimate_count(dataset, query, minimum, likely, maximum) &
        bind(c, name="bat_estimate_count") result(status)
      import; type(c_ptr), value :: dataset, query
      integer(c_int64_t), intent(out) :: minimum, likely, maximum; integer(c_int) :: status
    end function
    function c_upper_bound(dataset, query, particles) bind(c, name="bat_upper_bound") result(status)
      import; type(c_ptr), value :: dataset, query; integer(c_int64_t), intent(out) :: particles
      integer(c_int) :: status
    end function
    function c_quality_within(dataset, query, budget, quality) &
        bind(c, name="bat_quality_within") result(status)
      import; type(c_ptr), value :: dataset, query; integer(c_int64_t), value :: budget
      real(c_double), intent(out) :: quality; integer(c_int) :: status
    end function
    function c_select(dataset, query, out) bind(c, name="bat_select") result(status)
      import; type(c_ptr), value :: dataset, query; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    subroutine c_selection_free(selection) bind(c, name="bat_selection_free")
      import; type(c_ptr), value :: selection
    end subroutine
    function c_selection_count(selection, particles) bind(c, name="bat_selection_count") result(status)
      import; type(c_ptr), value :: selection; integer(c_int64_t), intent(out) :: particles
      integer(c_int) :: status
    end function
    function c_read_positions(dataset, selection, out, bytes) bind(c, name="bat_read_positions") result(status)
      import; type(c_ptr), value :: dataset, selection, out; integer(c_size_t), value :: bytes
      integer(c_int) :: status
    end function
    function c_read_attribute(dataset, name, type, selection, out, bytes) &
        bind(c, name="bat_read_attribute_as") result(status)
      import; type(c_ptr), value :: dataset, selection, out; character(c_char), intent(in) :: name(*)
      integer(c_int), value :: type; integer(c_size_t), value :: bytes; integer(c_int) :: status
    end function
    ! These functions take a communicator. MPI_Fint is the default integer.
    function c_mpi_write(comm, path, particles, options, report) bind(c, name="bat_mpi_write_f") result(status)
      import; integer(c_int), value :: comm; character(c_char), intent(in) :: path(*)
      type(c_ptr), value :: particles, options; type(bat_report), intent(out) :: report
      integer(c_int) :: status
    end function
    function c_mpi_open(comm, path, out) bind(c, name="bat_mpi_open_f") result(status)
      import; integer(c_int), value :: comm; character(c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    function c_mpi_select(comm, dataset, query, out) bind(c, name="bat_mpi_select_f") result(status)
      import; integer(c_int), value :: comm; type(c_ptr), value :: dataset, query
      type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    function c_mpi_read(comm, dataset, query, count, names, mode, memory_bytes, report, out) &
        bind(c, name="bat_mpi_read_f") result(status)
      import; integer(c_int), value :: comm; type(c_ptr), value :: dataset, query
      integer(c_int64_t), value :: count; type(c_ptr), intent(in) :: names(*)
      character(c_char), intent(in) :: mode(*); integer(c_int64_t), value :: memory_bytes
      integer(c_int), value :: report; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    function c_selection_report(selection, json, line) bind(c, name="bat_selection_report") result(status)
      import; type(c_ptr), value :: selection; type(c_ptr), intent(out) :: json, line; integer(c_int) :: status
    end function
    function c_mpi_agree(comm, local) bind(c, name="bat_mpi_agree_f") result(status)
      import; integer(c_int), value :: comm, local; integer(c_int) :: status
    end function
  end interface

contains

  ! Returns the message of the last failed call.
  function bat_error_text() result(text)
    character(:), allocatable :: text
    text = format_text(c_last_error())
  end function

  ! Returns the report as one line of JSON.
  function bat_report_text(report) result(text)
    type(bat_report), intent(in) :: report
    character(:), allocatable :: text
    character(c_char), target :: letters(2048)
    letters = c_null_char
    if (c_report_json(report, letters, 2048_c_size_t) /= 0) letters(1) = c_null_char
    text = format_text(c_loc(letters))
  end function

  ! Returns the report as a sentence or two for a person.
  function bat_report_line(report) result(text)
    type(bat_report), intent(in) :: report
    character(:), allocatable :: text
    character(c_char), target :: letters(2048)
    letters = c_null_char
    if (c_report_line(report, letters, 2048_c_size_t) /= 0) letters(1) = c_null_char
    text = format_text(c_loc(letters))
  end function

  pure function digits_of(number) result(text)
    integer(c_int64_t), intent(in) :: number
    character(:), allocatable :: text
    character(20) :: buffer
    write (buffer, '(i0)') number
    text = trim(buffer)
  end function

  ! Makes a description of the `count` particles of this rank.
  subroutine create_int32(count, particles, status)
    integer(c_int32_t), intent(in) :: count
    type(c_ptr), intent(out) :: particles
    integer, intent(out) :: status
    status = c_particles_create(int(count, c_int64_t), particles)
  end subroutine

  subroutine create_int64(count, particles, status)
    integer(c_int64_t), intent(in) :: count
    type(c_ptr), intent(out) :: particles
    integer, intent(out) :: status
    status = c_particles_create(count, particles)
  end subroutine

  subroutine bat_particles_free(particles)
    type(c_ptr), intent(inout) :: particles
    call c_particles_free(particles)
    particles = c_null_ptr
  end subroutine

  subroutine set_positions_real32(particles, positions, status)
    type(c_ptr), intent(in) :: particles
    real(c_float), contiguous, target, intent(in) :: positions(:, :) ! (3, n)
    integer, intent(out) :: status
    status = c_set_positions(particles, BAT_FLOAT32, &
      address(c_loc(positions), size(positions, kind=c_int64_t)), 0_c_size_t)
  end subroutine

  subroutine set_separate_real32(particles, x, y, z, status)
    type(c_ptr), intent(in) :: particles
    real(c_float), contiguous, target, intent(in) :: x(:), y(:), z(:)
    integer, intent(out) :: status
    status = c_set_positions_separate(particles, BAT_FLOAT32, &
      address(c_loc(x), size(x, kind=c_int64_t)), address(c_loc(y), size(y, kind=c_int64_t)), &
      address(c_loc(z), size(z, kind=c_int64_t)), 0_c_size_t)
  end subroutine

  subroutine set_positions_real64(particles, positions, status)
    type(c_ptr), intent(in) :: particles
    real(c_double), contiguous, target, intent(in) :: positions(:, :) ! (3, n)
    integer, intent(out) :: status
    status = c_set_positions(particles, BAT_FLOAT64, &
      address(c_loc(positions), size(positions, kind=c_int64_t)), 0_c_size_t)
  end subroutine

  subroutine set_separate_real64(particles, x, y, z, status)
    type(c_ptr), intent(in) :: particles
    real(c_double), contiguous, target, intent(in) :: x(:), y(:), z(:)
    integer, intent(out) :: status
    status = c_set_positions_separate(particles, BAT_FLOAT64, &
      address(c_loc(x), size(x, kind=c_int64_t)), address(c_loc(y), size(y, kind=c_int64_t)), &
      address(c_loc(z), size(z, kind=c_int64_t)), 0_c_size_t)
  end subroutine

  ! Returns the address of an array; empty arrays have none.
  function address(pointer, values) result(safe)
    type(c_ptr), intent(in) :: pointer
    integer(c_int64_t), intent(in) :: values
    type(c_ptr) :: safe
    safe = merge(pointer, c_null_ptr, values > 0)
  end function

  integer function set_values(particles, name, type, components, values) result(status)
    type(c_ptr), intent(in) :: particles, values
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: components
    status = check_text(name, 'the attribute name')
    if (status == 0) status = c_set_attribute(particles, c_text(name), type, components, values, 0_c_size_t)
  end function

  subroutine set_int8_1(particles, name, values, status)
    integer(c_int8_t), contiguous, target, intent(in) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_INT8
    include "set_attribute_1.inc"
  end subroutine

  subroutine set_int8_2(particles, name, values, status)
    integer(c_int8_t), contiguous, target, intent(in) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_INT8
    include "set_attribute_2.inc"
  end subroutine

  subroutine set_int16_1(particles, name, values, status)
    integer(c_int16_t), contiguous, target, intent(in) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_INT16
    include "set_attribute_1.inc"
  end subroutine

  subroutine set_int16_2(particles, name, values, status)
    integer(c_int16_t), contiguous, target, intent(in) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_INT16
    include "set_attribute_2.inc"
  end subroutine

  subroutine set_int32_1(particles, name, values, status)
    integer(c_int32_t), contiguous, target, intent(in) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_INT32
    include "set_attribute_1.inc"
  end subroutine

  subroutine set_int32_2(particles, name, values, status)
    integer(c_int32_t), contiguous, target, intent(in) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_INT32
    include "set_attribute_2.inc"
  end subroutine

  subroutine set_int64_1(particles, name, values, status)
    integer(c_int64_t), contiguous, target, intent(in) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_INT64
    include "set_attribute_1.inc"
  end subroutine

  subroutine set_int64_2(particles, name, values, status)
    integer(c_int64_t), contiguous, target, intent(in) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_INT64
    include "set_attribute_2.inc"
  end subroutine

  subroutine set_real32_1(particles, name, values, status)
    real(c_float), contiguous, target, intent(in) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_FLOAT32
    include "set_attribute_1.inc"
  end subroutine

  subroutine set_real32_2(particles, name, values, status)
    real(c_float), contiguous, target, intent(in) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_FLOAT32
    include "set_attribute_2.inc"
  end subroutine

  subroutine set_real64_1(particles, name, values, status)
    real(c_double), contiguous, target, intent(in) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_FLOAT64
    include "set_attribute_1.inc"
  end subroutine

  subroutine set_real64_2(particles, name, values, status)
    real(c_double), contiguous, target, intent(in) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_FLOAT64
    include "set_attribute_2.inc"
  end subroutine

  subroutine bat_particles_set_time(particles, time, status)
    type(c_ptr), intent(in) :: particles
    real(c_double), intent(in) :: time
    integer, intent(out) :: status
    status = c_set_time(particles, time)
  end subroutine

  subroutine set_step_int32(particles, step, status)
    type(c_ptr), intent(in) :: particles
    integer(c_int32_t), intent(in) :: step
    integer, intent(out) :: status
    status = c_set_step(particles, int(step, c_int64_t))
  end subroutine

  subroutine set_step_int64(particles, step, status)
    type(c_ptr), intent(in) :: particles
    integer(c_int64_t), intent(in) :: step
    integer, intent(out) :: status
    status = c_set_step(particles, step)
  end subroutine

  subroutine bat_particles_set_metadata(particles, json, status)
    type(c_ptr), intent(in) :: particles
    character(*), intent(in) :: json
    integer, intent(out) :: status
    status = check_text(json, 'metadata')
    if (status == 0) status = c_set_metadata(particles, c_text(json))
  end subroutine

  subroutine bat_options_create(options, status)
    type(c_ptr), intent(out) :: options
    integer, intent(out) :: status
    status = c_options_create(options)
  end subroutine

  subroutine bat_options_free(options)
    type(c_ptr), intent(inout) :: options
    call c_options_free(options)
    options = c_null_ptr
  end subroutine

  subroutine set_option_int64(options, name, value, status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    integer, intent(out) :: status
    status = check_text(name, 'the option name')
    if (status == 0) status = c_set_integer(options, c_text(name), value)
  end subroutine

  subroutine set_option_int32(options, name, value, status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: value
    integer, intent(out) :: status
    call set_option_int64(options, name, int(value, c_int64_t), status)
  end subroutine

  subroutine set_option_logical(options, name, value, status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name
    logical, intent(in) :: value
    integer, intent(out) :: status
    call set_option_int64(options, name, merge(1_c_int64_t, 0_c_int64_t, value), status)
  end subroutine

  subroutine set_option_real64(options, name, value, status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer, intent(out) :: status
    status = check_text(name, 'the option name')
    if (status == 0) status = c_set_real(options, c_text(name), value)
  end subroutine

  subroutine set_option_text(options, name, value, status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name, value
    integer, intent(out) :: status
    status = check_text(name, 'the option name')
    if (status == 0) status = check_text(value, 'the option value')
    if (status == 0) status = c_set_text(options, c_text(name), c_text(value))
  end subroutine

  subroutine bat_options_set_target_bytes(options, bytes, status)
    type(c_ptr), intent(in) :: options
    integer(c_int64_t), intent(in) :: bytes
    integer, intent(out) :: status
    status = c_set_target_bytes(options, bytes)
  end subroutine

  subroutine bat_options_set_mode(options, mode, status)
    type(c_ptr), intent(in) :: options
    integer(c_int), intent(in) :: mode
    integer, intent(out) :: status
    status = c_set_mode(options, mode)
  end subroutine

  subroutine bat_options_set_threads(options, threads, status)
    type(c_ptr), intent(in) :: options
    integer, intent(in) :: threads
    integer, intent(out) :: status
    status = c_set_threads(options, int(threads, c_int64_t))
  end subroutine

  subroutine bat_options_set_flush(options, flush, status)
    type(c_ptr), intent(in) :: options
    logical, intent(in) :: flush
    integer, intent(out) :: status
    status = c_set_flush(options, merge(1_c_int, 0_c_int, flush))
  end subroutine

  subroutine bat_options_add_sorted_index(options, name, status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name
    integer, intent(out) :: status
    status = check_text(name, 'the attribute name')
    if (status == 0) status = c_add_sorted_index(options, c_text(name))
  end subroutine

  subroutine bat_options_set_repeats(options, repeats, compare_values, status)
    type(c_ptr), intent(in) :: options
    integer, intent(in) :: repeats
    logical, intent(in) :: compare_values
    integer, intent(out) :: status
    status = c_set_repeats(options, int(repeats, c_int), merge(1_c_int, 0_c_int, compare_values))
  end subroutine

  subroutine bat_options_set_local_bounds(options, box, status)
    type(c_ptr), intent(in) :: options
    real(c_double), intent(in) :: box(6)
    integer, intent(out) :: status
    status = c_set_local_bounds(options, box)
  end subroutine

  ! Replaces the texts of a list option, without their trailing blanks; none empties it.
  subroutine bat_options_set_list(options, name, texts, status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name, texts(:)
    integer, intent(out) :: status
    character(c_char), allocatable, target :: copies(:, :)
    type(c_ptr) :: places(size(texts))
    integer :: i, k
    status = check_text(name, 'the option name')
    allocate (copies(len(texts) + 1, size(texts)))
    copies = c_null_char
    do i = 1, size(texts)
      if (status == 0) status = check_text(trim(texts(i)), 'the option value')
      do k = 1, len_trim(texts(i))
        copies(k, i) = texts(i)(k:k)
      end do
      places(i) = c_loc(copies(1, i))
    end do
    if (status == 0) status = c_set_list(options, c_text(name), int(size(texts), c_int64_t), places)
  end subroutine

  ! Writes the dataset at `from` with the given options, which may be c_null_ptr. Not collective.
  subroutine bat_repack(from, to, options, status, report)
    character(*), intent(in) :: from, to
    type(c_ptr), intent(in) :: options
    integer, intent(out) :: status
    type(bat_repack_report), intent(out), optional :: report
    type(bat_repack_report) :: own
    status = check_text(from, 'the path to read')
    if (status == 0) status = check_text(to, 'the path to write')
    if (status == 0) status = c_repack(c_text(from), c_text(to), options, own)
    if (present(report)) report = own
  end subroutine

  ! Returns the steps of a list (.bat.series), at a path or an address: a JSON array of objects with
  ! path and, if the list has it, time. Any other path is the only step.
  subroutine bat_series_steps(path, json, status)
    character(*), intent(in) :: path
    character(:), allocatable, intent(out) :: json
    integer, intent(out) :: status
    type(c_ptr) :: text
    json = ''
    status = check_text(path, 'the path')
    if (status == 0) status = c_series_steps(c_text(path), text)
    if (status == 0) json = format_text(text)
  end subroutine

  ! Creates a writer for particles that arrive in pieces and do not fit in memory. memory_bytes: 0
  ! for 1 GiB. options may be c_null_ptr. Not collective.
  subroutine bat_piece_writer_create(path, options, memory_bytes, writer, status)
    character(*), intent(in) :: path
    type(c_ptr), intent(in) :: options
    integer(c_int64_t), intent(in) :: memory_bytes
    type(c_ptr), intent(out) :: writer
    integer, intent(out) :: status
    writer = c_null_ptr
    status = check_text(path, 'the path')
    if (status == 0) status = c_pieces_create(c_text(path), options, memory_bytes, writer)
  end subroutine

  subroutine bat_piece_writer_add(writer, piece, status)
    type(c_ptr), intent(in) :: writer, piece
    integer, intent(out) :: status
    status = c_pieces_add(writer, piece)
  end subroutine

  ! Reports a piece that could not be made: bat_piece_writer_finish then fails.
  subroutine bat_piece_writer_fail(writer, text, status)
    type(c_ptr), intent(in) :: writer
    character(*), intent(in) :: text
    integer, intent(out) :: status
    status = check_text(text, 'the text')
    if (status == 0) status = c_pieces_fail(writer, c_text(text))
  end subroutine

  subroutine bat_piece_writer_finish(writer, status, report)
    type(c_ptr), intent(in) :: writer
    integer, intent(out) :: status
    type(bat_report), intent(out), optional :: report
    type(bat_report) :: own
    status = c_pieces_finish(writer, own)
    if (present(report)) report = own
  end subroutine

  subroutine bat_piece_writer_free(writer)
    type(c_ptr), intent(inout) :: writer
    call c_pieces_free(writer)
    writer = c_null_ptr
  end subroutine

  ! Writes a dataset: collective with comm; by one process without it. options may be c_null_ptr.
  subroutine bat_write(path, particles, options, status, comm, report)
    character(*), intent(in) :: path
    type(c_ptr), intent(in) :: particles, options
    integer, intent(out) :: status
    integer, intent(in), optional :: comm
    type(bat_report), intent(out), optional :: report
    type(bat_report) :: own
    status = finish(check_text(path, 'the path'), comm)
    if (status /= 0) return
    if (present(comm)) then
      status = c_mpi_write(comm, c_text(path), particles, options, own)
    else
      status = c_write(c_text(path), particles, options, own)
    end if
    if (present(report)) report = own
  end subroutine

  ! Opens a writer for steps of a running simulation (bat/bat_insitu.h). Collective; options may be
  ! c_null_ptr.
  subroutine bat_insitu_open(files, insitu, comm, options, status)
    character(*), intent(in) :: files
    type(c_ptr), intent(out) :: insitu
    integer, intent(in) :: comm
    type(c_ptr), intent(in) :: options
    integer, intent(out) :: status
    insitu = c_null_ptr
    status = finish(check_text(files, 'the file pattern'), comm)
    if (status == 0) status = c_insitu_open(comm, c_text(files), options, insitu)
  end subroutine

  subroutine bat_insitu_close(insitu)
    type(c_ptr), intent(inout) :: insitu
    call c_insitu_close(insitu)
    insitu = c_null_ptr
  end subroutine

  subroutine bat_insitu_set_every(insitu, every, status)
    type(c_ptr), intent(in) :: insitu
    integer(c_int64_t), intent(in) :: every
    integer, intent(out) :: status
    status = c_set_every(insitu, every)
  end subroutine

  ! Records selected particles of every step in NAME.tracks.bat next to the list. The JSON object
  ! `options` selects them. Alternatively `ids`, (n), selects them, and `options` has the other
  ! settings, '{}' for none. "second" defaults to cpu if the ids are id, and X_cpu if they are X_id.
  ! The same on all ranks, before the first step.
  subroutine set_tracks(insitu, options, status)
    type(c_ptr), intent(in) :: insitu
    character(*), intent(in) :: options
    integer, intent(out) :: status
    status = tracks_of(insitu, options, BAT_INT64, c_null_ptr, 0_c_int64_t)
  end subroutine

  subroutine set_tracks_int32(insitu, options, ids, status)
    type(c_ptr), intent(in) :: insitu
    character(*), intent(in) :: options
    integer(c_int32_t), contiguous, target, intent(in) :: ids(:)
    integer, intent(out) :: status
    status = tracks_of(insitu, options, BAT_INT32, address(c_loc(ids), size(ids, kind=c_int64_t)), &
      size(ids, kind=c_int64_t))
  end subroutine

  subroutine set_tracks_int64(insitu, options, ids, status)
    type(c_ptr), intent(in) :: insitu
    character(*), intent(in) :: options
    integer(c_int64_t), contiguous, target, intent(in) :: ids(:)
    integer, intent(out) :: status
    status = tracks_of(insitu, options, BAT_INT64, address(c_loc(ids), size(ids, kind=c_int64_t)), &
      size(ids, kind=c_int64_t))
  end subroutine

  integer function tracks_of(insitu, options, type, ids, count) result(status)
    type(c_ptr), intent(in) :: insitu, ids
    character(*), intent(in) :: options
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: count
    status = check_text(options, 'the track options')
    if (status == 0) status = c_set_tracks(insitu, c_text(options), type, ids, count)
  end function

  ! Sets for one species the values that replace the common settings: every, options, and tracks,
  ! which is a JSON object as above, or '' for none. Settings that are not given stay the common
  ! ones. The call is the same on all ranks, before the first step.
  subroutine bat_insitu_set_species(insitu, species, status, every, options, tracks)
    type(c_ptr), intent(in) :: insitu
    character(*), intent(in) :: species
    integer, intent(out) :: status
    integer(c_int64_t), intent(in), optional :: every
    type(c_ptr), intent(in), optional :: options
    character(*), intent(in), optional :: tracks
    character(c_char), allocatable, target :: text(:)
    type(c_ptr) :: own
    integer(c_int64_t) :: steps
    status = check_text(species, 'the species name')
    if (status == 0 .and. present(tracks)) status = check_text(tracks, 'the track options')
    if (status /= 0) return
    steps = 0
    if (present(every)) steps = every
    own = c_null_ptr
    if (present(options)) own = options
    text = optional_text(tracks)
    status = c_set_species(insitu, c_text(species), steps, own, optional_address(text))
  end subroutine

  subroutine bat_insitu_keep_memory(insitu, max_bytes, status)
    type(c_ptr), intent(in) :: insitu
    integer(c_int64_t), intent(in) :: max_bytes
    integer, intent(out) :: status
    status = c_keep_memory(insitu, max_bytes)
  end subroutine

  subroutine bat_insitu_begin_step(insitu, step, time, due, status)
    type(c_ptr), intent(in) :: insitu
    integer(c_int64_t), intent(in) :: step
    real(c_double), intent(in) :: time
    logical, intent(out) :: due
    integer, intent(out) :: status
    integer(c_int) :: flag
    status = c_begin_step(insitu, step, time, flag)
    due = status == 0 .and. flag /= 0
  end subroutine

  subroutine add_all(insitu, particles, status, species)
    type(c_ptr), intent(in) :: insitu, particles
    integer, intent(out) :: status
    character(*), intent(in), optional :: species
    character(c_char), allocatable, target :: name(:)
    status = check_species(insitu, species)
    if (status /= 0) return
    name = optional_text(species)
    status = c_insitu_add(insitu, optional_address(name), particles)
  end subroutine

  ! Sets an array `ghosts`, (n); particles whose value is not 0 are left out.
  subroutine add_without_ghosts_int8(insitu, particles, ghosts, status, species)
    integer(c_int8_t), contiguous, target, intent(in) :: ghosts(:)
    integer(c_int), parameter :: type = BAT_INT8
    include "add_without_ghosts.inc"
  end subroutine

  subroutine add_without_ghosts_int16(insitu, particles, ghosts, status, species)
    integer(c_int16_t), contiguous, target, intent(in) :: ghosts(:)
    integer(c_int), parameter :: type = BAT_INT16
    include "add_without_ghosts.inc"
  end subroutine

  subroutine add_without_ghosts_int32(insitu, particles, ghosts, status, species)
    integer(c_int32_t), contiguous, target, intent(in) :: ghosts(:)
    integer(c_int), parameter :: type = BAT_INT32
    include "add_without_ghosts.inc"
  end subroutine

  subroutine add_without_ghosts_int64(insitu, particles, ghosts, status, species)
    integer(c_int64_t), contiguous, target, intent(in) :: ghosts(:)
    integer(c_int), parameter :: type = BAT_INT64
    include "add_without_ghosts.inc"
  end subroutine

  integer function add_marked(insitu, particles, type, ghosts, species) result(status)
    type(c_ptr), intent(in) :: insitu, particles, ghosts
    integer(c_int), intent(in) :: type
    character(*), intent(in), optional :: species
    character(c_char), allocatable, target :: name(:)
    status = check_species(insitu, species)
    if (status /= 0) return
    name = optional_text(species)
    status = c_insitu_add_without_ghosts(insitu, optional_address(name), particles, type, ghosts, &
      0_c_size_t)
  end function

  ! Makes the end of the step fail on all ranks with this status, which is returned, and text. A rank
  ! calls it if it cannot add its particles.
  subroutine bat_insitu_fail(insitu, local, text, status)
    type(c_ptr), intent(in) :: insitu
    integer, intent(in) :: local
    character(*), intent(in) :: text
    integer, intent(out) :: status
    status = c_insitu_fail(insitu, local, c_text(text))
  end subroutine

  ! Checks a name; a refused one makes the end of the step fail on all ranks, as for names that C refuses.
  integer function check_species(insitu, species) result(status)
    type(c_ptr), intent(in) :: insitu
    character(*), intent(in), optional :: species
    status = BAT_OK
    if (.not. present(species)) return
    status = check_text(species, 'the species name')
    if (status /= 0) status = c_insitu_fail(insitu, status, c_text(bat_error_text()))
  end function

  ! Returns the text for C, or an empty array if none is given.
  pure function optional_text(given) result(text)
    character(*), intent(in), optional :: given
    character(c_char), allocatable :: text(:)
    integer :: i
    allocate (text(0))
    if (present(given)) text = [character(c_char) :: (given(i:i), i = 1, len_trim(given)), c_null_char]
  end function

  function optional_address(text) result(pointer)
    character(c_char), target, intent(in) :: text(:)
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (size(text) > 0) pointer = c_loc(text)
  end function

  ! Collective.
  subroutine bat_insitu_end_step(insitu, status, report)
    type(c_ptr), intent(in) :: insitu
    integer, intent(out) :: status
    type(bat_report), intent(out), optional :: report
    type(bat_report) :: own
    status = c_end_step(insitu, own)
    if (present(report)) report = own
  end subroutine

  ! Returns JSON that lists the files of the last step.
  subroutine bat_insitu_written(insitu, json, status)
    type(c_ptr), intent(in) :: insitu
    character(:), allocatable, intent(out) :: json
    integer, intent(out) :: status
    type(c_ptr) :: text
    status = c_written(insitu, text)
    json = ''
    if (status == 0) json = format_text(text)
  end subroutine

  subroutine bat_open(path, dataset, status, comm)
    character(*), intent(in) :: path
    type(c_ptr), intent(out) :: dataset
    integer, intent(out) :: status
    integer, intent(in), optional :: comm
    dataset = c_null_ptr
    status = finish(check_text(path, 'the path'), comm)
    if (status /= 0) return
    if (present(comm)) then
      status = c_mpi_open(comm, c_text(path), dataset)
    else
      status = c_open(c_text(path), dataset)
    end if
  end subroutine

  subroutine bat_close(dataset)
    type(c_ptr), intent(inout) :: dataset
    call c_close(dataset)
    dataset = c_null_ptr
  end subroutine

  subroutine bat_dataset_count(dataset, particles, status)
    type(c_ptr), intent(in) :: dataset
    integer(c_int64_t), intent(out) :: particles
    integer, intent(out) :: status
    status = c_count(dataset, particles)
  end subroutine

  subroutine bat_dataset_position_type(dataset, type, status)
    type(c_ptr), intent(in) :: dataset
    integer(c_int), intent(out) :: type
    integer, intent(out) :: status
    status = c_position_type(dataset, type)
  end subroutine

  subroutine bat_dataset_bounds(dataset, box, status)
    type(c_ptr), intent(in) :: dataset
    real(c_double), intent(out) :: box(6)
    integer, intent(out) :: status
    status = c_bounds(dataset, box)
  end subroutine

  subroutine bat_dataset_time(dataset, has, time, status)
    type(c_ptr), intent(in) :: dataset
    logical, intent(out) :: has
    real(c_double), intent(out) :: time
    integer, intent(out) :: status
    integer(c_int) :: flag
    status = c_time(dataset, flag, time)
    has = status == 0 .and. flag /= 0
  end subroutine

  subroutine bat_dataset_step(dataset, has, step, status)
    type(c_ptr), intent(in) :: dataset
    logical, intent(out) :: has
    integer(c_int64_t), intent(out) :: step
    integer, intent(out) :: status
    integer(c_int) :: flag
    status = c_step(dataset, flag, step)
    has = status == 0 .and. flag /= 0
  end subroutine

  ! Returns a JSON object, or ''.
  subroutine bat_dataset_metadata(dataset, json, status)
    type(c_ptr), intent(in) :: dataset
    character(:), allocatable, intent(out) :: json
    integer, intent(out) :: status
    type(c_ptr) :: text
    status = c_metadata(dataset, text)
    json = ''
    if (status == 0) json = format_text(text)
  end subroutine

  ! Returns text `index`, from 1, of the option stable_samples; '' after the last.
  subroutine bat_dataset_stable_sample(dataset, index, name, status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(in) :: index
    character(:), allocatable, intent(out) :: name
    integer, intent(out) :: status
    type(c_ptr) :: text
    status = c_stable_sample(dataset, int(index - 1, c_int64_t), text)
    name = ''
    if (status == 0 .and. c_associated(text)) name = format_text(text)
  end subroutine

  subroutine bat_dataset_hdf5_view(dataset, json, status)
    type(c_ptr), intent(in) :: dataset
    character(:), allocatable, intent(out) :: json
    integer, intent(out) :: status
    type(c_ptr) :: text
    status = c_hdf5_view(dataset, text)
    json = ''
    if (status == 0) json = format_text(text)
  end subroutine

  subroutine bat_dataset_leaf_files(dataset, files, status)
    type(c_ptr), intent(in) :: dataset
    integer(c_int64_t), intent(out) :: files
    integer, intent(out) :: status
    status = c_leaf_files(dataset, files)
  end subroutine

  subroutine bat_dataset_file_bytes(dataset, bytes, status)
    type(c_ptr), intent(in) :: dataset
    integer(c_int64_t), intent(out) :: bytes
    integer, intent(out) :: status
    status = c_file_bytes(dataset, bytes)
  end subroutine

  subroutine bat_dataset_attribute_count(dataset, attributes, status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(out) :: attributes
    integer, intent(out) :: status
    status = c_attribute_count(dataset, attributes)
  end subroutine

  ! index counts from 1.
  subroutine bat_dataset_attribute(dataset, index, name, type, components, status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(in) :: index
    character(:), allocatable, intent(out) :: name
    integer, intent(out) :: type, components, status
    type(c_ptr) :: text
    name = ''
    type = 0
    components = 0
    status = check_index(dataset, index)
    if (status == 0) status = c_attribute(dataset, index - 1_c_int64_t, text, type, components)
    if (status == 0) name = format_text(text)
  end subroutine

  ! index counts from 1, and is 0 if no attribute has this name.
  subroutine bat_dataset_attribute_index(dataset, name, index, status)
    type(c_ptr), intent(in) :: dataset
    character(*), intent(in) :: name
    integer, intent(out) :: index, status
    index = 0
    status = check_text(name, 'the attribute name')
    if (status == 0) status = c_attribute_index(dataset, c_text(name), index)
    if (status == 0) index = index + 1
    if (status /= 0) index = 0
  end subroutine

  ! index and component count from 1; BAT_WHOLE for the value or magnitude. 64-bit integers with too
  ! many digits for a real are rounded.
  subroutine attribute_range_real64(dataset, index, component, minimum, maximum, status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(in) :: index, component
    real(c_double), intent(out) :: minimum, maximum
    integer, intent(out) :: status
    minimum = 0
    maximum = 0
    status = check_index(dataset, index)
    if (status == 0) status = check_component(component)
    if (status == 0) status = c_attribute_range(dataset, index - 1_c_int64_t, c_component(component), &
      minimum, maximum)
  end subroutine

  ! Returns exact values; reals, magnitudes, and unsigned values that are too large are errors.
  subroutine attribute_range_int64(dataset, index, component, minimum, maximum, status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(in) :: index, component
    integer(c_int64_t), intent(out) :: minimum, maximum
    integer, intent(out) :: status
    minimum = 0
    maximum = 0
    status = check_index(dataset, index)
    if (status == 0) status = check_component(component)
    if (status == 0) status = c_attribute_range_int64(dataset, index - 1_c_int64_t, &
      c_component(component), minimum, maximum)
  end subroutine

  ! Checks the index, so that messages contain the caller's index rather than the one that C uses.
  integer function check_index(dataset, index) result(status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(in) :: index
    integer(c_int) :: attributes
    status = c_attribute_count(dataset, attributes)
    if (status /= 0 .or. (index >= 1 .and. index <= attributes)) return
    status = refuse('attribute number ' // digits_of(int(index, c_int64_t)) // '; allowed are 1 to ' // &
      digits_of(int(attributes, c_int64_t)))
  end function

  integer function check_component(component) result(status)
    integer, intent(in) :: component
    status = BAT_OK
    if (component < 1 .and. component /= BAT_WHOLE) status = refuse('component ' // &
      digits_of(int(component, c_int64_t)) // '; attributes are numbered from 1')
  end function

  subroutine bat_query_create(query, status)
    type(c_ptr), intent(out) :: query
    integer, intent(out) :: status
    status = c_query_create(query)
  end subroutine

  subroutine bat_query_free(query)
    type(c_ptr), intent(inout) :: query
    call c_query_free(query)
    query = c_null_ptr
  end subroutine

  subroutine bat_query_set_quality(query, quality, after_quality, status)
    type(c_ptr), intent(in) :: query
    real(c_double), intent(in) :: quality, after_quality
    integer, intent(out) :: status
    status = c_set_quality(query, quality, after_quality)
  end subroutine

  subroutine bat_query_set_box(query, box, status)
    type(c_ptr), intent(in) :: query
    real(c_double), intent(in) :: box(6) ! lower x, y, z, upper x, y, z
    integer, intent(out) :: status
    status = c_set_box(query, box)
  end subroutine

  subroutine bat_query_set_box_half_open(query, box, status)
    type(c_ptr), intent(in) :: query
    real(c_double), intent(in) :: box(6)
    integer, intent(out) :: status
    status = c_set_box_half_open(query, box)
  end subroutine

  ! component counts from 1 (in error texts, which come from C, from 0); BAT_WHOLE selects the value
  ! or magnitude. Ends are compared without rounding.
  subroutine add_range_real64(query, name, component, lower, upper, status)
    real(c_double), target, intent(in) :: lower, upper
    integer(c_int), parameter :: lower_type = BAT_FLOAT64, upper_type = BAT_FLOAT64
    include "add_range.inc"
  end subroutine

  subroutine add_range_int32(query, name, component, lower, upper, status)
    integer(c_int32_t), target, intent(in) :: lower, upper
    integer(c_int), parameter :: lower_type = BAT_INT32, upper_type = BAT_INT32
    include "add_range.inc"
  end subroutine

  subroutine add_range_int64(query, name, component, lower, upper, status)
    integer(c_int64_t), target, intent(in) :: lower, upper
    integer(c_int), parameter :: lower_type = BAT_INT64, upper_type = BAT_INT64
    include "add_range.inc"
  end subroutine

  subroutine add_range_int64_real64(query, name, component, lower, upper, status)
    integer(c_int64_t), target, intent(in) :: lower
    real(c_double), target, intent(in) :: upper
    integer(c_int), parameter :: lower_type = BAT_INT64, upper_type = BAT_FLOAT64
    include "add_range.inc"
  end subroutine

  subroutine add_range_real64_int64(query, name, component, lower, upper, status)
    real(c_double), target, intent(in) :: lower
    integer(c_int64_t), target, intent(in) :: upper
    integer(c_int), parameter :: lower_type = BAT_FLOAT64, upper_type = BAT_INT64
    include "add_range.inc"
  end subroutine

  subroutine add_values_int8(query, name, component, values, status)
    integer(c_int8_t), contiguous, target, intent(in) :: values(:)
    integer(c_int), parameter :: type = BAT_INT8
    include "add_values.inc"
  end subroutine

  subroutine add_values_int16(query, name, component, values, status)
    integer(c_int16_t), contiguous, target, intent(in) :: values(:)
    integer(c_int), parameter :: type = BAT_INT16
    include "add_values.inc"
  end subroutine

  subroutine add_values_int32(query, name, component, values, status)
    integer(c_int32_t), contiguous, target, intent(in) :: values(:)
    integer(c_int), parameter :: type = BAT_INT32
    include "add_values.inc"
  end subroutine

  subroutine add_values_int64(query, name, component, values, status)
    integer(c_int64_t), contiguous, target, intent(in) :: values(:)
    integer(c_int), parameter :: type = BAT_INT64
    include "add_values.inc"
  end subroutine

  subroutine add_values_real32(query, name, component, values, status)
    real(c_float), contiguous, target, intent(in) :: values(:)
    integer(c_int), parameter :: type = BAT_FLOAT32
    include "add_values.inc"
  end subroutine

  subroutine add_values_real64(query, name, component, values, status)
    real(c_double), contiguous, target, intent(in) :: values(:)
    integer(c_int), parameter :: type = BAT_FLOAT64
    include "add_values.inc"
  end subroutine

  ! Selects the particles whose value is one of `values` or lies in one of the closed ranges ranges(1, i)
  ! to ranges(2, i); if `negated`, those for which neither holds.
  subroutine add_set_int64(query, name, component, values, ranges, negated, status)
    type(c_ptr), intent(in) :: query
    character(*), intent(in) :: name
    integer, intent(in) :: component
    integer(c_int64_t), contiguous, target, intent(in) :: values(:), ranges(:, :)
    logical, intent(in) :: negated
    integer, intent(out) :: status
    status = check_ranges(query, name, component, size(ranges, 1))
    if (status == 0) status = c_add_set(query, c_text(name), c_component(component), BAT_INT64, &
      address(c_loc(values), size(values, kind=c_int64_t)), size(values, kind=c_int64_t), &
      address(c_loc(ranges), size(ranges, kind=c_int64_t)), size(ranges, 2, kind=c_int64_t), &
      merge(1_c_int, 0_c_int, negated))
  end subroutine

  subroutine add_set_real64(query, name, component, values, ranges, negated, status)
    type(c_ptr), intent(in) :: query
    character(*), intent(in) :: name
    integer, intent(in) :: component
    real(c_double), contiguous, target, intent(in) :: values(:), ranges(:, :)
    logical, intent(in) :: negated
    integer, intent(out) :: status
    status = check_ranges(query, name, component, size(ranges, 1))
    if (status == 0) status = c_add_set(query, c_text(name), c_component(component), BAT_FLOAT64, &
      address(c_loc(values), size(values, kind=c_int64_t)), size(values, kind=c_int64_t), &
      address(c_loc(ranges), size(ranges, kind=c_int64_t)), size(ranges, 2, kind=c_int64_t), &
      merge(1_c_int, 0_c_int, negated))
  end subroutine

  ! Selects the particles within `radius` of `center`, or, if `outside`, the others.
  subroutine bat_query_add_sphere(query, center, radius, outside, status)
    type(c_ptr), intent(in) :: query
    real(c_double), intent(in) :: center(3), radius
    logical, intent(in) :: outside
    integer, intent(out) :: status
    status = c_add_sphere(query, center, radius, merge(1_c_int, 0_c_int, outside))
  end subroutine

  ! Selects the particles between two planes: lower <= normal . position <= upper.
  subroutine bat_query_add_slab(query, normal, lower, upper, outside, status)
    type(c_ptr), intent(in) :: query
    real(c_double), intent(in) :: normal(3), lower, upper
    logical, intent(in) :: outside
    integer, intent(out) :: status
    status = c_add_slab(query, normal, lower, upper, merge(1_c_int, 0_c_int, outside))
  end subroutine

  ! Selects the particles in the box around `center` whose sides are 2 half_extents long and point along
  ! axes(:, 1), axes(:, 2) and axes(:, 3).
  subroutine bat_query_add_oriented_box(query, center, axes, half_extents, outside, status)
    type(c_ptr), intent(in) :: query
    real(c_double), intent(in) :: center(3), axes(3, 3), half_extents(3)
    logical, intent(in) :: outside
    integer, intent(out) :: status
    status = c_add_oriented_box(query, center, axes, half_extents, merge(1_c_int, 0_c_int, outside))
  end subroutine

  integer function check_ranges(query, name, component, ends) result(status)
    type(c_ptr), intent(in) :: query
    character(*), intent(in) :: name
    integer, intent(in) :: component, ends
    status = check_target(query, name, component)
    if (status == 0 .and. ends /= 2) status = c_query_fail(query, &
      c_text('ranges of "' // name // '" must have the shape (2, n): lower and upper ends'))
  end function

  ! Makes the query fail, as for arguments that C refuses.
  integer function check_target(query, name, component) result(status)
    type(c_ptr), intent(in) :: query
    character(*), intent(in) :: name
    integer, intent(in) :: component
    status = check_text(name, 'the attribute name')
    if (status == 0) status = check_component(component)
    if (status /= 0) status = c_query_fail(query, c_text(bat_error_text()))
  end function

  pure function c_component(component) result(number)
    integer, intent(in) :: component
    integer(c_int64_t) :: number
    number = component
    if (component /= BAT_WHOLE) number = number - 1
  end function

  ! part counts from 0, as ranks do.
  subroutine bat_query_set_part(query, part, parts, status)
    type(c_ptr), intent(in) :: query
    integer, intent(in) :: part, parts
    integer, intent(out) :: status
    status = c_set_part(query, int(part, c_int64_t), int(parts, c_int64_t))
  end subroutine

  subroutine bat_query_set_threads(query, threads, status)
    type(c_ptr), intent(in) :: query
    integer, intent(in) :: threads
    integer, intent(out) :: status
    status = c_query_threads(query, int(threads, c_int64_t))
  end subroutine

  subroutine bat_validate(dataset, status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(out) :: status
    status = c_validate(dataset)
  end subroutine

  subroutine bat_estimate_count(dataset, query, minimum, likely, maximum, status)
    type(c_ptr), intent(in) :: dataset, query
    integer(c_int64_t), intent(out) :: minimum, likely, maximum
    integer, intent(out) :: status
    minimum = 0; likely = 0; maximum = 0
    status = c_estimate_count(dataset, query, minimum, likely, maximum)
  end subroutine

  subroutine bat_upper_bound(dataset, query, particles, status)
    type(c_ptr), intent(in) :: dataset, query
    integer(c_int64_t), intent(out) :: particles
    integer, intent(out) :: status
    status = c_upper_bound(dataset, query, particles)
  end subroutine

  subroutine bat_quality_within(dataset, query, budget, quality, status)
    type(c_ptr), intent(in) :: dataset, query
    integer(c_int64_t), intent(in) :: budget
    real(c_double), intent(out) :: quality
    integer, intent(out) :: status
    status = c_quality_within(dataset, query, budget, quality)
  end subroutine

  subroutine bat_select(dataset, query, selection, status, comm)
    type(c_ptr), intent(in) :: dataset, query
    type(c_ptr), intent(out) :: selection
    integer, intent(out) :: status
    integer, intent(in), optional :: comm
    if (present(comm)) then
      status = c_mpi_select(comm, dataset, query, selection)
    else
      status = c_select(dataset, query, selection)
    end if
  end subroutine

  ! Collective on `comm`. Finds particles and loads their values into memory, from which
  ! bat_read_positions and bat_read_attribute copy. `names` lists attributes, the same on all ranks;
  ! by default all. `mode` is 'auto', 'direct' or 'aggregated'; the first rank's value is used. With
  ! `report` on any rank, bat_selection_report reports what the read did.
  subroutine bat_read(dataset, query, selection, status, comm, names, mode, memory_bytes, report)
    type(c_ptr), intent(in) :: dataset, query
    type(c_ptr), intent(out) :: selection
    integer, intent(out) :: status
    integer, intent(in) :: comm
    character(*), intent(in), optional :: names(:)
    character(*), intent(in), optional :: mode
    integer(c_int64_t), intent(in), optional :: memory_bytes
    logical, intent(in), optional :: report
    character(c_char), allocatable, target :: letters(:, :)
    type(c_ptr), allocatable :: pointers(:)
    character(:), allocatable :: how
    integer(c_int64_t) :: maximum
    integer(c_int) :: due
    integer :: i, j, n
    selection = c_null_ptr
    status = BAT_OK
    n = 0
    if (present(names)) n = size(names)
    allocate (pointers(max(1, n)))
    pointers = c_null_ptr
    if (n > 0) then
      allocate (letters(len(names) + 1, n))
      letters = c_null_char
      do i = 1, n
        if (status == 0) status = check_text(names(i), 'the attribute name')
        do j = 1, len_trim(names(i))
          letters(j, i) = names(i)(j:j)
        end do
        pointers(i) = c_loc(letters(1, i))
      end do
    end if
    how = 'auto'
    if (present(mode)) how = mode
    if (status == 0) status = check_text(how, 'the read mode')
    maximum = 0
    if (present(memory_bytes)) maximum = memory_bytes
    due = 0
    if (present(report)) due = merge(1_c_int, 0_c_int, report)
    status = finish(status, comm)
    if (status == 0) status = c_mpi_read(comm, dataset, query, int(n, c_int64_t), pointers, c_text(how), &
      maximum, due, selection)
  end subroutine

  ! Returns the report of a bat_read with report=.true.: one line of JSON, and a sentence or two for a
  ! person.
  subroutine bat_selection_report(selection, json, line, status)
    type(c_ptr), intent(in) :: selection
    character(:), allocatable, intent(out) :: json, line
    integer, intent(out) :: status
    type(c_ptr) :: as_json, as_line
    json = ''
    line = ''
    status = c_selection_report(selection, as_json, as_line)
    if (status /= 0) return
    json = format_text(as_json)
    line = format_text(as_line)
  end subroutine

  subroutine bat_selection_free(selection)
    type(c_ptr), intent(inout) :: selection
    call c_selection_free(selection)
    selection = c_null_ptr
  end subroutine

  subroutine selection_count_int64(selection, particles, status)
    type(c_ptr), intent(in) :: selection
    integer(c_int64_t), intent(out) :: particles
    integer, intent(out) :: status
    status = c_selection_count(selection, particles)
  end subroutine

  ! Returns an error, and 0, for more than huge(particles).
  subroutine selection_count_int32(selection, particles, status)
    type(c_ptr), intent(in) :: selection
    integer(c_int32_t), intent(out) :: particles
    integer, intent(out) :: status
    integer(c_int64_t) :: count
    particles = 0
    status = c_selection_count(selection, count)
    if (status == 0) status = check_count(count)
    if (status == 0) particles = int(count, c_int32_t)
  end subroutine

  integer function check_count(count) result(status)
    integer(c_int64_t), intent(in) :: count
    status = BAT_OK
    if (count > huge(0_c_int32_t)) status = refuse('the selection has ' // digits_of(count) // &
      ' particles, too many for a 4-byte integer; pass an 8-byte one')
  end function

  ! The array must have the stored type.
  subroutine check_type(status, stored, due, what)
    integer, intent(inout) :: status
    integer(c_int), intent(in) :: stored, due
    character(*), intent(in) :: what
    if (status /= 0 .or. stored == due) return
    status = c_fail(BAT_INVALID_ARGUMENT, c_text(what // ': the array type differs from the stored type'))
  end subroutine

  integer function finish(status, comm)
    integer, intent(in) :: status
    integer, intent(in), optional :: comm
    finish = status
    if (present(comm)) finish = c_mpi_agree(comm, status)
  end function

  subroutine read_positions_real32(dataset, selection, positions, status, comm)
    type(c_ptr), intent(in) :: dataset, selection
    real(c_float), contiguous, target, intent(out) :: positions(:, :) ! (3, n)
    integer, intent(out) :: status
    integer, intent(in), optional :: comm
    integer(c_int) :: stored
    status = c_position_type(dataset, stored)
    call check_type(status, stored, BAT_FLOAT32, 'positions')
    if (status == 0) status = c_read_positions(dataset, selection, &
      address(c_loc(positions), size(positions, kind=c_int64_t)), &
      storage_size(positions, c_size_t) / 8 * size(positions, kind=c_size_t))
    status = finish(status, comm)
  end subroutine

  subroutine read_positions_real64(dataset, selection, positions, status, comm)
    type(c_ptr), intent(in) :: dataset, selection
    real(c_double), contiguous, target, intent(out) :: positions(:, :) ! (3, n)
    integer, intent(out) :: status
    integer, intent(in), optional :: comm
    integer(c_int) :: stored
    status = c_position_type(dataset, stored)
    call check_type(status, stored, BAT_FLOAT64, 'positions')
    if (status == 0) status = c_read_positions(dataset, selection, &
      address(c_loc(positions), size(positions, kind=c_int64_t)), &
      storage_size(positions, c_size_t) / 8 * size(positions, kind=c_size_t))
    status = finish(status, comm)
  end subroutine

  subroutine read_int8_1(dataset, name, selection, values, status, comm)
    integer(c_int8_t), contiguous, target, intent(out) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_INT8
    include "read_attribute.inc"
  end subroutine

  subroutine read_int8_2(dataset, name, selection, values, status, comm)
    integer(c_int8_t), contiguous, target, intent(out) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_INT8
    include "read_attribute.inc"
  end subroutine

  subroutine read_int16_1(dataset, name, selection, values, status, comm)
    integer(c_int16_t), contiguous, target, intent(out) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_INT16
    include "read_attribute.inc"
  end subroutine

  subroutine read_int16_2(dataset, name, selection, values, status, comm)
    integer(c_int16_t), contiguous, target, intent(out) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_INT16
    include "read_attribute.inc"
  end subroutine

  subroutine read_int32_1(dataset, name, selection, values, status, comm)
    integer(c_int32_t), contiguous, target, intent(out) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_INT32
    include "read_attribute.inc"
  end subroutine

  subroutine read_int32_2(dataset, name, selection, values, status, comm)
    integer(c_int32_t), contiguous, target, intent(out) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_INT32
    include "read_attribute.inc"
  end subroutine

  subroutine read_int64_1(dataset, name, selection, values, status, comm)
    integer(c_int64_t), contiguous, target, intent(out) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_INT64
    include "read_attribute.inc"
  end subroutine

  subroutine read_int64_2(dataset, name, selection, values, status, comm)
    integer(c_int64_t), contiguous, target, intent(out) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_INT64
    include "read_attribute.inc"
  end subroutine

  subroutine read_real32_1(dataset, name, selection, values, status, comm)
    real(c_float), contiguous, target, intent(out) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_FLOAT32
    include "read_attribute.inc"
  end subroutine

  subroutine read_real32_2(dataset, name, selection, values, status, comm)
    real(c_float), contiguous, target, intent(out) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_FLOAT32
    include "read_attribute.inc"
  end subroutine

  subroutine read_real64_1(dataset, name, selection, values, status, comm)
    real(c_double), contiguous, target, intent(out) :: values(:) ! (n)
    integer(c_int), parameter :: type = BAT_FLOAT64
    include "read_attribute.inc"
  end subroutine

  subroutine read_real64_2(dataset, name, selection, values, status, comm)
    real(c_double), contiguous, target, intent(out) :: values(:, :) ! (components, n)
    integer(c_int), parameter :: type = BAT_FLOAT64
    include "read_attribute.inc"
  end subroutine

  integer function read_values(dataset, name, selection, due, out, bytes, comm) result(status)
    type(c_ptr), intent(in) :: dataset, selection, out
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: due
    integer(c_size_t), intent(in) :: bytes
    integer, intent(in), optional :: comm
    status = check_text(name, 'the attribute name')
    if (status == 0) status = c_read_attribute(dataset, c_text(name), due, selection, out, bytes)
    status = finish(status, comm)
  end function
end module bat
