! SPDX-License-Identifier: BSD-3-Clause
! A tiny simulation in Fortran that writes its particles while it runs: every fifth of 20 steps.
! Each rank's particles are followed by ghosts that belong to the neighbour.
!
!   mpirun -n 4 orbit_insitu_fortran out/orbit_{timestep:04d}.bat
program orbit_insitu
  use, intrinsic :: iso_c_binding
  use bat
  use mpi
  implicit none
  integer, parameter :: particles_of_all = 30000, ghosts_of_rank = 10, steps = 20, every = 5
  integer :: rank, ranks, ierr, first, count, i, step, status
  real(c_double), allocatable, target :: positions(:, :), velocities(:, :)
  integer(c_int64_t), allocatable, target :: ids(:)
  integer(c_int32_t), allocatable, target :: ghosts(:)
  type(c_ptr) :: insitu, particles
  type(bat_report) :: report
  logical :: due
  character(4096) :: files

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, files)
  first = particles_of_all * rank / ranks
  count = particles_of_all * (rank + 1) / ranks - first + ghosts_of_rank
  allocate (positions(3, count), velocities(3, count), ids(count), ghosts(count))
  do i = 1, count
    ids(i) = mod(first + i - 1, particles_of_all)
    ghosts(i) = merge(1, 0, i > count - ghosts_of_rank)
    positions(:, i) = [1 + mod(ids(i), 997_c_int64_t) / 997d0, mod(ids(i), 31_c_int64_t) / 310d0, 0d0]
    velocities(:, i) = [0d0, 0.5d0 + 0.1d0 * mod(ids(i), 7_c_int64_t), 0.01d0]
  end do

  call bat_insitu_open(trim(files), insitu, MPI_COMM_WORLD, c_null_ptr, status); call check(status)
  call bat_insitu_set_every(insitu, int(every, c_int64_t), status); call check(status)
  do step = 0, steps
    call bat_insitu_begin_step(insitu, int(step, c_int64_t), 0.01d0 * step, due, status)
    call check(status)
    if (due) then
      call bat_particles_create(count, particles, status); call check(status)
      call bat_particles_set_positions(particles, positions, status); call check(status)
      call bat_particles_set_attribute(particles, 'velocity', velocities, status); call check(status)
      call bat_particles_set_attribute(particles, 'id', ids, status); call check(status)
      call bat_insitu_add(insitu, particles, ghosts, status); call check(status)
      call bat_particles_free(particles) ! the arrays stay
    end if
    call bat_insitu_end_step(insitu, status, report); call check(status)
    if (due .and. rank == 0) print '(a, i0, a, i0, a)', 'step ', step, ': ', report%particles, ' particles'
    do i = 1, count
      velocities(:, i) = velocities(:, i) - &
        0.01d0 * positions(:, i) / dot_product(positions(:, i), positions(:, i))**2
      positions(:, i) = positions(:, i) + 0.01d0 * velocities(:, i)
    end do
  end do
  call bat_insitu_close(insitu)
  call MPI_Finalize(ierr)

contains

  ! Every rank has the same status, so that all may exit here. A simulation could also continue.
  subroutine check(status)
    integer, intent(in) :: status
    integer :: ierr
    if (status == BAT_OK) return
    print '(a)', bat_error_text()
    call MPI_Abort(MPI_COMM_WORLD, status, ierr)
  end subroutine
end program
