! SPDX-License-Identifier: BSD-3-Clause
! A tiny simulation in Fortran: particles on orbits, written in one collective call, restarted on any
! number of ranks.
!
!   mpirun -n 4 orbit_fortran write orbit.bat      10 steps, then the dataset
!   mpirun -n 2 orbit_fortran restart orbit.bat    reads it, 10 more steps, compares with a run of 20
program orbit
  use, intrinsic :: iso_c_binding
  use bat
  use mpi
  implicit none
  integer, parameter :: particles_of_all = 30000, steps = 10
  integer :: rank, ranks, ierr
  character(4096) :: action, path
  logical :: good

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, action)
  call get_command_argument(2, path)
  good = .true.
  if (action == 'write') then
    call write_step(trim(path))
  else
    call restart(trim(path), good)
  end if
  call MPI_Finalize(ierr)
  if (.not. good) stop 1

contains

  ! Every rank has the same status, so that all may exit here.
  subroutine check(status)
    integer, intent(in) :: status
    integer :: ierr
    if (status == BAT_OK) return
    print '(a)', bat_error_text()
    call MPI_Abort(MPI_COMM_WORLD, status, ierr)
  end subroutine

  pure subroutine start(id, position, velocity)
    integer(c_int64_t), intent(in) :: id
    real(c_double), intent(out) :: position(3), velocity(3)
    position = [1 + mod(id, 997_c_int64_t) / 997d0, mod(id, 31_c_int64_t) / 310d0, 0d0]
    velocity = [0d0, 0.5d0 + 0.1d0 * mod(id, 7_c_int64_t), 0.01d0]
  end subroutine

  ! Particles are independent, so that the result does not depend on the ranks.
  pure subroutine advance(position, velocity, steps)
    real(c_double), intent(inout) :: position(3), velocity(3)
    integer, intent(in) :: steps
    integer :: s
    do s = 1, steps
      velocity = velocity - 0.01d0 * position / dot_product(position, position)**2
      position = position + 0.01d0 * velocity
    end do
  end subroutine

  subroutine write_step(path)
    character(*), intent(in) :: path
    real(c_double), allocatable, target :: positions(:, :), velocities(:, :)
    integer(c_int64_t), allocatable, target :: ids(:)
    type(c_ptr) :: particles, options
    type(bat_report) :: report
    integer :: first, count, i, status
    first = particles_of_all * rank / ranks
    count = particles_of_all * (rank + 1) / ranks - first
    allocate (positions(3, count), velocities(3, count), ids(count))
    do i = 1, count
      ids(i) = first + i - 1
      call start(ids(i), positions(:, i), velocities(:, i))
      call advance(positions(:, i), velocities(:, i), steps)
    end do

    call bat_particles_create(count, particles, status); call check(status)
    call bat_particles_set_positions(particles, positions, status); call check(status)
    call bat_particles_set_attribute(particles, 'velocity', velocities, status); call check(status)
    call bat_particles_set_attribute(particles, 'id', ids, status); call check(status)
    call bat_particles_set_step(particles, steps, status); call check(status)
    call bat_options_create(options, status); call check(status)
    call bat_options_set_target_bytes(options, 400000_c_int64_t, status); call check(status)
    call bat_write(path, particles, options, status, comm=MPI_COMM_WORLD, report=report)
    call check(status)
    call bat_options_free(options)
    call bat_particles_free(particles)
    if (rank == 0) print '(a)', bat_report_text(report)
  end subroutine

  subroutine restart(path, good)
    character(*), intent(in) :: path
    logical, intent(out) :: good
    real(c_double), allocatable, target :: positions(:, :), velocities(:, :)
    integer(c_int64_t), allocatable, target :: ids(:)
    real(c_double) :: position(3), velocity(3)
    type(c_ptr) :: dataset, query, selection
    integer(c_int64_t) :: step
    logical :: has_step
    integer :: count, i, status, local(2), all(2), ierr
    call bat_open(path, dataset, status, comm=MPI_COMM_WORLD); call check(status)
    call bat_dataset_step(dataset, has_step, step, status); call check(status)
    call bat_query_create(query, status); call check(status)
    call bat_query_set_part(query, rank, ranks, status); call check(status)
    call bat_select(dataset, query, selection, status, comm=MPI_COMM_WORLD); call check(status)
    call bat_selection_count(selection, count, status); call check(status)
    allocate (positions(3, count), velocities(3, count), ids(count))
    call bat_read_positions(dataset, selection, positions, status, comm=MPI_COMM_WORLD)
    call check(status)
    call bat_read_attribute(dataset, 'velocity', selection, velocities, status, comm=MPI_COMM_WORLD)
    call check(status)
    call bat_read_attribute(dataset, 'id', selection, ids, status, comm=MPI_COMM_WORLD)
    call check(status)
    call bat_selection_free(selection)
    call bat_query_free(query)
    call bat_close(dataset)

    local = [count, 0]
    do i = 1, count
      call advance(positions(:, i), velocities(:, i), steps)
      call start(ids(i), position, velocity)
      call advance(position, velocity, int(step) + steps)
      if (any(position /= positions(:, i)) .or. any(velocity /= velocities(:, i))) local(2) = local(2) + 1
    end do
    call MPI_Allreduce(local, all, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(i0, a, i0, a, i0, a, i0, a)', all(1), ' particles on ', ranks, &
      ' ranks after step ', step + steps, ', ', all(2), ' differ'
    good = has_step .and. all(1) == particles_of_all .and. all(2) == 0
  end subroutine
end program orbit
