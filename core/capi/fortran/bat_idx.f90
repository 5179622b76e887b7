! SPDX-License-Identifier: BSD-3-Clause
! ParaBAT for Fortran: structured grids, i.e. bat/bat_idx.h and the grid functions of bat/bat_mpi.h.
! The conventions of module bat apply, including its BAT_ numbers and bat_error_text().
!
! Samples are numbered along x, y, z from 0, as in C. Boxes are given by their first and last sample
! numbers, lower(3) and upper(3), both included, as integer(8). Arrays are contiguous and have the
! shape (nx, ny, nz) or (components, nx, ny, nz), with any bounds; a plane has nz = 1. Arrays that a
! grid borrows need the target attribute. Arrays whose shape differs from the box are refused.
!
! A field is read into an array of its type. Fortran has no unsigned integers: unsigned values are
! read into signed ones of the same width, which is an error if a value is too large.
module bat_idx
  use, intrinsic :: iso_c_binding
  use bat
  use bat_texts
  implicit none
  private

  ! bat_idx_report of bat/bat_idx.h.
  type, bind(c), public :: bat_idx_report
    integer(c_int64_t) :: samples = 0, files = 0, file_bytes = 0, blocks = 0, messages_within = 0, &
      bytes_within = 0, messages_between = 0, bytes_between = 0
  end type bat_idx_report

  ! bat_idx_info of bat/bat_idx.h; box contains the first x, y, z, then the last x, y, z.
  type, bind(c), public :: bat_idx_info
    integer(c_int64_t) :: box(6) = 0
    real(c_double) :: origin(3) = 0, spacing(3) = 1
    integer(c_int64_t) :: blocks_per_file = 0, arco = 0
    integer(c_int32_t) :: levels = 0, axes = 0, version = 0, pidx = 0, bits_per_block = 0, big_endian = 0
  end type bat_idx_info

  ! bat_idx_read_report of bat/bat_idx.h.
  type, bind(c), public :: bat_idx_read_report
    integer(c_int64_t) :: samples = 0, blocks = 0, absent_blocks = 0, bytes_read = 0
  end type bat_idx_read_report

  public :: bat_grid_create, bat_grid_free, bat_grid_set_geometry, bat_grid_add_piece, bat_grid_set_field
  public :: bat_idx_options_create, bat_idx_options_free, bat_idx_options_set
  public :: bat_idx_write, bat_idx_open, bat_idx_close, bat_idx_get_info, bat_idx_field_count, bat_idx_field, &
    bat_idx_steps, bat_idx_lattice, bat_idx_read, bat_idx_validate

  ! Sets any write option by its name in bat/bat_idx.h.
  interface bat_idx_options_set
    module procedure set_option_int32, set_option_int64, set_option_real64, set_option_text, set_option_logical
  end interface
  ! Sets the samples of a field in the piece added last.
  interface bat_grid_set_field
    module procedure set_int8_3, set_int8_4, set_int16_3, set_int16_4, &
      set_int32_3, set_int32_4, set_int64_3, set_int64_4, &
      set_real32_3, set_real32_4, set_real64_3, set_real64_4
  end interface
  ! Reads a level of a box of a field: the samples described by bat_idx_lattice. Without step, reads
  ! the first step; without lower and upper, the whole level.
  interface bat_idx_read
    module procedure read_int8_3, read_int8_4, read_int16_3, read_int16_4, &
      read_int32_3, read_int32_4, read_int64_3, read_int64_4, &
      read_real32_3, read_real32_4, read_real64_3, read_real64_4
  end interface

  interface
    function c_grid_create(out) bind(c, name="bat_grid_create") result(status)
      import; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    subroutine c_grid_free(grid) bind(c, name="bat_grid_free")
      import; type(c_ptr), value :: grid
    end subroutine
    function c_set_geometry(grid, origin, spacing) bind(c, name="bat_grid_set_geometry") result(status)
      import; type(c_ptr), value :: grid; real(c_double), intent(in) :: origin(3), spacing(3)
      integer(c_int) :: status
    end function
    function c_add_piece(grid, box, array_box) bind(c, name="bat_grid_add_piece") result(status)
      import; type(c_ptr), value :: grid, array_box; integer(c_int64_t), intent(in) :: box(6)
      integer(c_int) :: status
    end function
    function c_set_field(grid, name, type, components, values) bind(c, name="bat_grid_set_field") result(status)
      import; type(c_ptr), value :: grid, values; character(c_char), intent(in) :: name(*)
      integer(c_int), value :: type; integer(c_int64_t), value :: components; integer(c_int) :: status
    end function
    function c_array_shape(grid, counts) bind(c, name="bat_grid_array_shape") result(status)
      import; type(c_ptr), value :: grid; integer(c_int64_t), intent(out) :: counts(3); integer(c_int) :: status
    end function
    function c_grid_fail(grid, text) bind(c, name="bat_grid_fail") result(status)
      import; type(c_ptr), value :: grid; character(c_char), intent(in) :: text(*); integer(c_int) :: status
    end function
    function c_options_create(out) bind(c, name="bat_idx_options_create") result(status)
      import; type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    subroutine c_options_free(options) bind(c, name="bat_idx_options_free")
      import; type(c_ptr), value :: options
    end subroutine
    function c_set_integer(options, name, value) bind(c, name="bat_idx_options_set_integer") result(status)
      import; type(c_ptr), value :: options; character(c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value; integer(c_int) :: status
    end function
    function c_set_real(options, name, value) bind(c, name="bat_idx_options_set_real") result(status)
      import; type(c_ptr), value :: options; character(c_char), intent(in) :: name(*)
      real(c_double), value :: value; integer(c_int) :: status
    end function
    function c_set_text(options, name, value) bind(c, name="bat_idx_options_set_text") result(status)
      import; type(c_ptr), value :: options; character(c_char), intent(in) :: name(*), value(*)
      integer(c_int) :: status
    end function
    function c_write(path, grid, options, report) bind(c, name="bat_idx_write") result(status)
      import; character(c_char), intent(in) :: path(*); type(c_ptr), value :: grid, options
      type(bat_idx_report), intent(out) :: report; integer(c_int) :: status
    end function
    function c_mpi_write(comm, path, grid, options, report) bind(c, name="bat_mpi_idx_write_f") result(status)
      import; integer(c_int), value :: comm; character(c_char), intent(in) :: path(*)
      type(c_ptr), value :: grid, options; type(bat_idx_report), intent(out) :: report; integer(c_int) :: status
    end function
    function c_open(path, out) bind(c, name="bat_idx_open") result(status)
      import; character(c_char), intent(in) :: path(*); type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    function c_mpi_open(comm, path, out) bind(c, name="bat_mpi_idx_open_f") result(status)
      import; integer(c_int), value :: comm; character(c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: out; integer(c_int) :: status
    end function
    subroutine c_close(dataset) bind(c, name="bat_idx_close")
      import; type(c_ptr), value :: dataset
    end subroutine
    function c_agree(comm, local) bind(c, name="bat_mpi_agree_f") result(status)
      import; integer(c_int), value :: comm, local; integer(c_int) :: status
    end function
    function c_get_info(dataset, info) bind(c, name="bat_idx_get_info") result(status)
      import; type(c_ptr), value :: dataset; type(bat_idx_info), intent(out) :: info; integer(c_int) :: status
    end function
    function c_field_count(dataset, fields) bind(c, name="bat_idx_field_count") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int), intent(out) :: fields; integer(c_int) :: status
    end function
    function c_field(dataset, index, name, type, components) bind(c, name="bat_idx_field") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), value :: index; type(c_ptr), intent(out) :: name
      integer(c_int), intent(out) :: type, components; integer(c_int) :: status
    end function
    function c_field_index(dataset, name, index) bind(c, name="bat_idx_field_index") result(status)
      import; type(c_ptr), value :: dataset; character(c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: index; integer(c_int) :: status
    end function
    function c_step_count(dataset, steps) bind(c, name="bat_idx_step_count") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), intent(out) :: steps; integer(c_int) :: status
    end function
    function c_steps(dataset, count, steps, times) bind(c, name="bat_idx_steps") result(status)
      import; type(c_ptr), value :: dataset; integer(c_int64_t), value :: count
      integer(c_int64_t), intent(out) :: steps(*); real(c_double), intent(out) :: times(*); integer(c_int) :: status
    end function
    function c_lattice(dataset, level, box, first, distance, count) bind(c, name="bat_idx_lattice") result(status)
      import; type(c_ptr), value :: dataset, box; integer(c_int64_t), value :: level
      integer(c_int64_t), intent(out) :: first(3), distance(3), count(3); integer(c_int) :: status
    end function
    function c_read(dataset, field, step, level, box, out, bytes, report) bind(c, name="bat_idx_read") result(status)
      import; type(c_ptr), value :: dataset, step, box, out; character(c_char), intent(in) :: field(*)
      integer(c_int64_t), value :: level; integer(c_size_t), value :: bytes
      type(bat_idx_read_report), intent(out) :: report; integer(c_int) :: status
    end function
    function c_validate(dataset, report) bind(c, name="bat_idx_validate") result(status)
      import; type(c_ptr), value :: dataset; type(bat_idx_read_report), intent(out) :: report
      integer(c_int) :: status
    end function
  end interface

contains

  subroutine bat_grid_create(grid, status)
    type(c_ptr), intent(out) :: grid
    integer, intent(out) :: status
    status = c_grid_create(grid)
  end subroutine

  subroutine bat_grid_free(grid)
    type(c_ptr), intent(inout) :: grid
    call c_grid_free(grid)
    grid = c_null_ptr
  end subroutine

  ! Sets the position of sample (0, 0, 0) and the sample spacing.
  subroutine bat_grid_set_geometry(grid, origin, spacing, status)
    type(c_ptr), intent(in) :: grid
    real(c_double), intent(in) :: origin(3), spacing(3)
    integer, intent(out) :: status
    status = c_set_geometry(grid, origin, spacing)
  end subroutine

  ! array_lower, array_upper: the box of the arrays if they contain more than these samples, for
  ! instance ghost layers.
  subroutine bat_grid_add_piece(grid, lower, upper, status, array_lower, array_upper)
    type(c_ptr), intent(in) :: grid
    integer(c_int64_t), intent(in) :: lower(3), upper(3)
    integer, intent(out) :: status
    integer(c_int64_t), intent(in), optional :: array_lower(3), array_upper(3)
    integer(c_int64_t), target :: arrays(6)
    if (present(array_lower) .and. present(array_upper)) then
      arrays = [array_lower, array_upper]
      status = c_add_piece(grid, [lower, upper], c_loc(arrays))
    else
      status = c_add_piece(grid, [lower, upper], c_null_ptr)
    end if
  end subroutine

  ! shapes: the shape of an array, components first.
  function set_field(grid, name, type, shapes, values) result(status)
    type(c_ptr), intent(in) :: grid, values
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: shapes(4)
    integer :: status
    integer(c_int64_t) :: counts(3)
    status = check_text(name, 'the field name')
    if (status == 0) status = c_array_shape(grid, counts)
    if (status == 0) then
      if (any(counts /= shapes(2:4))) &
        status = refuse('field "' // name // '": the shape of the array differs from the box of its piece')
    end if
    if (status == 0) then
      status = c_set_field(grid, c_text(name), type, shapes(1), values)
    else
      status = c_grid_fail(grid, c_text(bat_error_text()))
    end if
  end function

  subroutine set_int8_3(grid, name, values, status)
    integer(c_int8_t), intent(in), target, contiguous :: values(:,:,:)
    integer(c_int), parameter :: type = BAT_INT8
    include "set_field_3.inc"
  end subroutine

  subroutine set_int8_4(grid, name, values, status)
    integer(c_int8_t), intent(in), target, contiguous :: values(:,:,:,:)
    integer(c_int), parameter :: type = BAT_INT8
    include "set_field_4.inc"
  end subroutine

  subroutine set_int16_3(grid, name, values, status)
    integer(c_int16_t), intent(in), target, contiguous :: values(:,:,:)
    integer(c_int), parameter :: type = BAT_INT16
    include "set_field_3.inc"
  end subroutine

  subroutine set_int16_4(grid, name, values, status)
    integer(c_int16_t), intent(in), target, contiguous :: values(:,:,:,:)
    integer(c_int), parameter :: type = BAT_INT16
    include "set_field_4.inc"
  end subroutine

  subroutine set_int32_3(grid, name, values, status)
    integer(c_int32_t), intent(in), target, contiguous :: values(:,:,:)
    integer(c_int), parameter :: type = BAT_INT32
    include "set_field_3.inc"
  end subroutine

  subroutine set_int32_4(grid, name, values, status)
    integer(c_int32_t), intent(in), target, contiguous :: values(:,:,:,:)
    integer(c_int), parameter :: type = BAT_INT32
    include "set_field_4.inc"
  end subroutine

  subroutine set_int64_3(grid, name, values, status)
    integer(c_int64_t), intent(in), target, contiguous :: values(:,:,:)
    integer(c_int), parameter :: type = BAT_INT64
    include "set_field_3.inc"
  end subroutine

  subroutine set_int64_4(grid, name, values, status)
    integer(c_int64_t), intent(in), target, contiguous :: values(:,:,:,:)
    integer(c_int), parameter :: type = BAT_INT64
    include "set_field_4.inc"
  end subroutine

  subroutine set_real32_3(grid, name, values, status)
    real(c_float), intent(in), target, contiguous :: values(:,:,:)
    integer(c_int), parameter :: type = BAT_FLOAT32
    include "set_field_3.inc"
  end subroutine

  subroutine set_real32_4(grid, name, values, status)
    real(c_float), intent(in), target, contiguous :: values(:,:,:,:)
    integer(c_int), parameter :: type = BAT_FLOAT32
    include "set_field_4.inc"
  end subroutine

  subroutine set_real64_3(grid, name, values, status)
    real(c_double), intent(in), target, contiguous :: values(:,:,:)
    integer(c_int), parameter :: type = BAT_FLOAT64
    include "set_field_3.inc"
  end subroutine

  subroutine set_real64_4(grid, name, values, status)
    real(c_double), intent(in), target, contiguous :: values(:,:,:,:)
    integer(c_int), parameter :: type = BAT_FLOAT64
    include "set_field_4.inc"
  end subroutine

  subroutine bat_idx_options_create(options, status)
    type(c_ptr), intent(out) :: options
    integer, intent(out) :: status
    status = c_options_create(options)
  end subroutine

  subroutine bat_idx_options_free(options)
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

  ! Collective with a communicator: writes the pieces of all ranks. options may be c_null_ptr.
  subroutine bat_idx_write(path, grid, options, status, comm, report)
    character(*), intent(in) :: path
    type(c_ptr), intent(in) :: grid, options
    integer, intent(out) :: status
    integer, intent(in), optional :: comm
    type(bat_idx_report), intent(out), optional :: report
    type(bat_idx_report) :: own
    status = check_text(path, 'the path')
    if (present(comm)) status = c_agree(comm, status)
    if (status == 0) then
      if (present(comm)) then
        status = c_mpi_write(comm, c_text(path), grid, options, own)
      else
        status = c_write(c_text(path), grid, options, own)
      end if
    end if
    if (present(report)) report = own
  end subroutine

  ! Collective with a communicator; each rank reads independently.
  subroutine bat_idx_open(path, dataset, status, comm)
    character(*), intent(in) :: path
    type(c_ptr), intent(out) :: dataset
    integer, intent(out) :: status
    integer, intent(in), optional :: comm
    dataset = c_null_ptr
    status = check_text(path, 'the path')
    if (present(comm)) status = c_agree(comm, status)
    if (status /= 0) return
    if (present(comm)) then
      status = c_mpi_open(comm, c_text(path), dataset)
    else
      status = c_open(c_text(path), dataset)
    end if
  end subroutine

  subroutine bat_idx_close(dataset)
    type(c_ptr), intent(inout) :: dataset
    call c_close(dataset)
    dataset = c_null_ptr
  end subroutine

  subroutine bat_idx_get_info(dataset, info, status)
    type(c_ptr), intent(in) :: dataset
    type(bat_idx_info), intent(out) :: info
    integer, intent(out) :: status
    status = c_get_info(dataset, info)
  end subroutine

  subroutine bat_idx_field_count(dataset, fields, status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(out) :: fields, status
    status = c_field_count(dataset, fields)
  end subroutine

  ! index counts from 1. type is one of BAT_INT8 ... of module bat.
  subroutine bat_idx_field(dataset, index, name, type, components, status)
    type(c_ptr), intent(in) :: dataset
    integer, intent(in) :: index
    character(:), allocatable, intent(out) :: name
    integer, intent(out) :: type, components, status
    type(c_ptr) :: letters
    name = ''
    status = c_field(dataset, int(index, c_int64_t) - 1, letters, type, components)
    if (status == 0) name = format_text(letters)
  end subroutine

  subroutine bat_idx_steps(dataset, steps, times, status)
    type(c_ptr), intent(in) :: dataset
    integer(c_int64_t), allocatable, intent(out) :: steps(:)
    real(c_double), allocatable, intent(out) :: times(:)
    integer, intent(out) :: status
    integer(c_int64_t) :: count
    status = c_step_count(dataset, count)
    if (status /= 0) count = 0
    allocate (steps(count), times(count))
    if (status == 0) status = c_steps(dataset, count, steps, times)
  end subroutine

  ! Returns the first sample, the sample distance and the number of samples along each axis, for a
  ! level of a box or of the whole grid.
  subroutine bat_idx_lattice(dataset, level, first, distance, count, status, lower, upper)
    type(c_ptr), intent(in) :: dataset
    integer, intent(in) :: level
    integer(c_int64_t), intent(out) :: first(3), distance(3), count(3)
    integer, intent(out) :: status
    integer(c_int64_t), intent(in), optional :: lower(3), upper(3)
    integer(c_int64_t), target :: box(6)
    status = c_lattice(dataset, int(level, c_int64_t), box_of(box, lower, upper), first, distance, count)
  end subroutine

  ! Reads all blocks of all fields and steps. report contains the sums.
  subroutine bat_idx_validate(dataset, status, report)
    type(c_ptr), intent(in) :: dataset
    integer, intent(out) :: status
    type(bat_idx_read_report), intent(out), optional :: report
    type(bat_idx_read_report) :: own
    status = c_validate(dataset, own)
    if (present(report)) report = own
  end subroutine

  function box_of(box, lower, upper) result(address)
    integer(c_int64_t), intent(inout), target :: box(6)
    integer(c_int64_t), intent(in), optional :: lower(3), upper(3)
    type(c_ptr) :: address
    address = c_null_ptr
    if (.not. present(lower) .or. .not. present(upper)) return
    box = [lower, upper]
    address = c_loc(box)
  end function

  ! `types` are the allowed stored types. shapes: the shape of the array, components first.
  function read_field(dataset, field, level, types, shapes, values, bytes, step, lower, upper, report, is_unsigned) &
      result(status)
    type(c_ptr), intent(in) :: dataset, values
    character(*), intent(in) :: field
    integer, intent(in) :: level, types(:)
    integer(c_int64_t), intent(in) :: shapes(4)
    integer(c_size_t), intent(in) :: bytes
    integer(c_int64_t), intent(in), optional :: step, lower(3), upper(3)
    type(bat_idx_read_report), intent(out), optional :: report
    logical, intent(out), optional :: is_unsigned
    integer :: status
    type(bat_idx_read_report) :: own
    integer(c_int64_t), target :: box(6), number
    integer(c_int64_t), dimension(3) :: first, distance, count
    integer(c_int) :: index, type, components
    type(c_ptr) :: name, which
    if (present(is_unsigned)) is_unsigned = .false.
    status = check_text(field, 'the field name')
    if (status == 0) status = c_field_index(dataset, c_text(field), index)
    if (status == 0) status = c_field(dataset, int(index, c_int64_t), name, type, components)
    if (status == 0) status = c_lattice(dataset, int(level, c_int64_t), box_of(box, lower, upper), first, distance, count)
    if (status /= 0) return
    if (all(types /= type)) then
      status = refuse('field "' // trim(field) // '": the array type differs from the stored type')
    else if (any(shapes /= [int(components, c_int64_t), count])) then
      status = refuse('field "' // trim(field) // '": the shape of the array differs from the samples of the level')
    else
      if (present(is_unsigned)) is_unsigned = type == types(size(types)) .and. size(types) == 2
      which = c_null_ptr
      if (present(step)) then
        number = step
        which = c_loc(number)
      end if
      status = c_read(dataset, c_text(field), which, int(level, c_int64_t), box_of(box, lower, upper), values, bytes, own)
    end if
    if (present(report)) report = own
  end function

  function too_large(field) result(status)
    character(*), intent(in) :: field
    integer :: status
    status = refuse('field "' // trim(field) // '": an unsigned value is too large for the signed integers of the array')
  end function

  subroutine read_int8_3(dataset, field, level, values, status, step, lower, upper, report)
    integer(c_int8_t), intent(out), target, contiguous :: values(:,:,:)
    integer, parameter :: types(2) = [BAT_INT8, BAT_UINT8]
    include "read_field_3.inc"
  end subroutine

  subroutine read_int8_4(dataset, field, level, values, status, step, lower, upper, report)
    integer(c_int8_t), intent(out), target, contiguous :: values(:,:,:,:)
    integer, parameter :: types(2) = [BAT_INT8, BAT_UINT8]
    include "read_field_4.inc"
  end subroutine

  subroutine read_int16_3(dataset, field, level, values, status, step, lower, upper, report)
    integer(c_int16_t), intent(out), target, contiguous :: values(:,:,:)
    integer, parameter :: types(2) = [BAT_INT16, BAT_UINT16]
    include "read_field_3.inc"
  end subroutine

  subroutine read_int16_4(dataset, field, level, values, status, step, lower, upper, report)
    integer(c_int16_t), intent(out), target, contiguous :: values(:,:,:,:)
    integer, parameter :: types(2) = [BAT_INT16, BAT_UINT16]
    include "read_field_4.inc"
  end subroutine

  subroutine read_int32_3(dataset, field, level, values, status, step, lower, upper, report)
    integer(c_int32_t), intent(out), target, contiguous :: values(:,:,:)
    integer, parameter :: types(2) = [BAT_INT32, BAT_UINT32]
    include "read_field_3.inc"
  end subroutine

  subroutine read_int32_4(dataset, field, level, values, status, step, lower, upper, report)
    integer(c_int32_t), intent(out), target, contiguous :: values(:,:,:,:)
    integer, parameter :: types(2) = [BAT_INT32, BAT_UINT32]
    include "read_field_4.inc"
  end subroutine

  subroutine read_int64_3(dataset, field, level, values, status, step, lower, upper, report)
    integer(c_int64_t), intent(out), target, contiguous :: values(:,:,:)
    integer, parameter :: types(2) = [BAT_INT64, BAT_UINT64]
    include "read_field_3.inc"
  end subroutine

  subroutine read_int64_4(dataset, field, level, values, status, step, lower, upper, report)
    integer(c_int64_t), intent(out), target, contiguous :: values(:,:,:,:)
    integer, parameter :: types(2) = [BAT_INT64, BAT_UINT64]
    include "read_field_4.inc"
  end subroutine

  subroutine read_real32_3(dataset, field, level, values, status, step, lower, upper, report)
    real(c_float), intent(out), target, contiguous :: values(:,:,:)
    integer, parameter :: types(1) = [BAT_FLOAT32]
    include "read_field_3.inc"
  end subroutine

  subroutine read_real32_4(dataset, field, level, values, status, step, lower, upper, report)
    real(c_float), intent(out), target, contiguous :: values(:,:,:,:)
    integer, parameter :: types(1) = [BAT_FLOAT32]
    include "read_field_4.inc"
  end subroutine

  subroutine read_real64_3(dataset, field, level, values, status, step, lower, upper, report)
    real(c_double), intent(out), target, contiguous :: values(:,:,:)
    integer, parameter :: types(1) = [BAT_FLOAT64]
    include "read_field_3.inc"
  end subroutine

  subroutine read_real64_4(dataset, field, level, values, status, step, lower, upper, report)
    real(c_double), intent(out), target, contiguous :: values(:,:,:,:)
    integer, parameter :: types(1) = [BAT_FLOAT64]
    include "read_field_4.inc"
  end subroutine
end module bat_idx
