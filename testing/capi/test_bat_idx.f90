! SPDX-License-Identifier: BSD-3-Clause
! Tests the module bat_idx on one rank and on many. Argument: a folder to write in.
program test_bat_idx
  use, intrinsic :: iso_c_binding
  use bat
  use bat_idx
  use mpi
  implicit none
  integer, parameter :: n = 12
  integer :: rank, ranks, ierr, status, i, j, k
  character(4096) :: folder
  character(:), allocatable :: path, name
  real(c_double), target :: p(-1:n, 0:n - 1, 0:n - 1)  ! a layer of ghosts on both sides of x
  integer(c_int16_t), target :: v(2, n, n, n)
  integer(c_int64_t) :: lower(3), upper(3), first(3), distance(3), count(3)
  integer(c_int64_t), allocatable :: steps(:)
  real(c_double), allocatable, target :: times(:), coarse(:, :, :)
  integer(c_int16_t), allocatable, target :: vectors(:, :, :, :)
  integer(c_int8_t), allocatable, target :: bytes(:, :, :)
  type(c_ptr) :: grid, options, dataset
  type(bat_idx_report) :: report
  type(bat_idx_info) :: info
  type(bat_idx_read_report) :: read_report
  integer :: fields, type, components

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, folder)
  path = trim(folder) // '/test_fortran_np' // achar(iachar('0') + ranks)

  ! Ranks lie side by side along x.
  p = -1
  do k = 0, n - 1
    do j = 0, n - 1
      do i = 0, n - 1
        p(i, j, k) = rank * n + i + 1000d0 * j + 1d6 * k
        v(:, i + 1, j + 1, k + 1) = int([rank * n + i, j * k], c_int16_t)
      end do
    end do
  end do
  lower = [rank * n, 0, 0]
  upper = lower + n - 1
  call bat_grid_create(grid, status); call need(status == BAT_OK)
  call bat_grid_set_geometry(grid, [0d0, 1d0, 0d0], [0.5d0, 1d0, 2d0], status); call need(status == BAT_OK)
  call bat_grid_add_piece(grid, lower, upper, status, lower - [1, 0, 0], upper + [1, 0, 0])
  call bat_grid_set_field(grid, 'p', p, status); call need(status == BAT_OK)
  call bat_idx_options_create(options, status); call need(status == BAT_OK)
  call bat_idx_options_set(options, 'codec', 'zip', status); call need(status == BAT_OK)
  call bat_idx_options_set(options, 'step', 4, status); call need(status == BAT_OK)
  call bat_idx_options_set(options, 'time', 0.25d0, status); call need(status == BAT_OK)
  call bat_idx_options_set(options, 'flush', .false., status); call need(status == BAT_OK)
  call bat_idx_options_set(options, 'zip_level', 0, status); call fails('zip_level is 0')
  call bat_idx_write(path // '.idx', grid, options, status, comm=MPI_COMM_WORLD, report=report)
  call need(status == BAT_OK .and. report%samples == ranks * n**3)
  ! The steps of a loop are all kept.
  do i = 4, 6
    call bat_idx_options_set(options, 'step', i, status); call need(status == BAT_OK)
    call bat_idx_write(path // '_steps.idx', grid, options, status, comm=MPI_COMM_WORLD); call need(status == BAT_OK)
  end do
  call bat_idx_open(path // '_steps.idx', dataset, status, comm=MPI_COMM_WORLD); call need(status == BAT_OK)
  call bat_idx_steps(dataset, steps, times, status); call need(size(steps) >= 3 .and. all(steps(size(steps) - 2:) == [4, 5, 6]))
  call bat_idx_close(dataset)

  call bat_idx_open(path // '.idx', dataset, status, comm=MPI_COMM_WORLD); call need(status == BAT_OK)
  call bat_idx_get_info(dataset, info, status)
  call need(all(info%box == [0, 0, 0, ranks * n - 1, n - 1, n - 1]) .and. info%spacing(3) == 2)
  call bat_idx_field_count(dataset, fields, status); call need(fields == 1)
  call bat_idx_field(dataset, 1, name, type, components, status)
  call need(name == 'p' .and. type == BAT_FLOAT64 .and. components == 1)
  call bat_idx_steps(dataset, steps, times, status)
  call need(all(steps == [4]) .and. all(times == [0.25d0]))
  do i = 0, info%levels
    call bat_idx_lattice(dataset, i, first, distance, count, status, lower, upper); call need(status == BAT_OK)
    allocate (coarse(count(1), count(2), count(3)))
    call bat_idx_read(dataset, 'p', i, coarse, status, 4_c_int64_t, lower, upper, read_report)
    call need(status == BAT_OK .and. read_report%samples == product(count))
    ! Ghosts have other values.
    if (size(coarse) > 0) call need(all(coarse == p(first(1) - lower(1):n - 1:distance(1), first(2)::distance(2), &
      first(3)::distance(3))))
    deallocate (coarse)
  end do
  allocate (coarse(3, 3, 3))
  call bat_idx_read(dataset, 'p', int(info%levels), coarse, status); call fails('shape of the array differs')
  call bat_idx_validate(dataset, status, read_report)
  call need(status == BAT_OK .and. read_report%absent_blocks == 0)
  call bat_idx_close(dataset)
  call bat_grid_free(grid)

  ! Vectors, and bytes that are unsigned.
  call bat_grid_create(grid, status)
  call bat_grid_add_piece(grid, lower, upper, status)
  call bat_grid_set_field(grid, 'v', v, status); call need(status == BAT_OK)
  call bat_idx_write(path // '_v.idx', grid, c_null_ptr, status, comm=MPI_COMM_WORLD); call need(status == BAT_OK)
  call bat_idx_open(path // '_v.idx', dataset, status, comm=MPI_COMM_WORLD); call need(status == BAT_OK)
  allocate (vectors(2, n, n, n))
  call bat_idx_get_info(dataset, info, status)
  call bat_idx_read(dataset, 'v', int(info%levels), vectors, status, lower=lower, upper=upper)
  call need(status == BAT_OK .and. all(vectors == v))
  allocate (bytes(n, n, n))
  call bat_idx_read(dataset, 'v', int(info%levels), bytes, status, lower=lower, upper=upper); call fails('array type differs')
  call bat_idx_close(dataset)
  call bat_idx_write(path // '_steps.idx', grid, options, status, comm=MPI_COMM_WORLD); call fails('mode="replace"')
  call bat_grid_set_field(grid, 'p', p, status); call fails('shape of the array differs')
  call bat_idx_write(path // '_v.idx', grid, c_null_ptr, status, comm=MPI_COMM_WORLD); call fails('shape of the array differs')
  call bat_idx_write(path // c_null_char // '.idx', grid, c_null_ptr, status, comm=MPI_COMM_WORLD)
  call fails('zero character')
  call bat_grid_free(grid)
  call bat_idx_options_free(options)
  call MPI_Finalize(ierr)

contains

  subroutine fails(word)
    character(*), intent(in) :: word
    call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), word) > 0)
  end subroutine

  subroutine need(holds)
    logical, intent(in) :: holds
    integer, save :: number = 0
    number = number + 1
    if (holds) return
    print '(a, i0, 2a)', 'check number ', number, ' failed; last error: ', bat_error_text()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
