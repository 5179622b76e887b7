! SPDX-License-Identifier: BSD-3-Clause
! Features that the examples do not use on many ranks: names that are wrong on one rank fail on all.
! Argument: a folder to write in.
program test_bat_mpi
  use, intrinsic :: iso_c_binding
  use bat
  use mpi
  implicit none
  character, parameter :: zero = c_null_char
  integer :: rank, ranks, ierr, status
  logical :: last
  character(4096) :: folder
  character(:), allocatable :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  last = rank == ranks - 1
  call get_command_argument(1, folder)
  path = trim(folder) // '/test_bat_mpi_fortran_np' // achar(iachar('0') + ranks)
  call writing_and_reading
  call steps
  call tracks
  call species_options
  call MPI_Finalize(ierr)

contains

  subroutine writing_and_reading
    real(c_double), target :: positions(3, 2) = 0, as_double(2)
    integer(c_int8_t), target :: ids(2)
    integer(c_int64_t), allocatable, target :: wide(:)
    integer(c_int64_t) :: count
    type(c_ptr) :: particles, dataset, selection
    type(bat_report) :: report
    character(:), allocatable :: json, line
    ids = int([2 * rank, 2 * rank + 1], c_int8_t)
    call bat_particles_create(2, particles, status)
    call bat_particles_set_positions(particles, positions, status)
    call bat_particles_set_attribute(particles, 'id', ids, status); call need(status == BAT_OK)
    call bat_write(path // text(zero // '.x', '.bat'), particles, c_null_ptr, status, comm=MPI_COMM_WORLD)
    call fails('zero character')
    call bat_write(path // '.bat', particles, c_null_ptr, status, comm=MPI_COMM_WORLD, report=report)
    call need(status == BAT_OK .and. report%particles == 2 * ranks)
    call bat_particles_free(particles)

    call bat_open(path // text(zero, '.bat'), dataset, status, comm=MPI_COMM_WORLD)
    call fails('zero character')
    call bat_open(path // '.bat', dataset, status, comm=MPI_COMM_WORLD); call need(status == BAT_OK)
    call bat_select(dataset, c_null_ptr, selection, status, comm=MPI_COMM_WORLD)
    call bat_selection_count(selection, count, status); call need(count == 2 * ranks)
    allocate (wide(count))
    call bat_read_attribute(dataset, text('id' // zero, 'id'), selection, wide, status, comm=MPI_COMM_WORLD)
    call fails('zero character')
    if (last) then
      call bat_read_attribute(dataset, 'id', selection, as_double, status, comm=MPI_COMM_WORLD)
    else
      call bat_read_attribute(dataset, 'id', selection, wide, status, comm=MPI_COMM_WORLD)
    end if
    call fails('cannot be read as float64')
    call bat_read_attribute(dataset, 'id', selection, wide, status, comm=MPI_COMM_WORLD)
    call need(status == BAT_OK .and. sum(wide) == ranks * (2 * ranks - 1))
    call bat_selection_free(selection)

    call bat_read(dataset, c_null_ptr, selection, status, MPI_COMM_WORLD, mode=text('any', 'aggregated'))
    call fails("the read mode is 'any'")
    call bat_read(dataset, c_null_ptr, selection, status, MPI_COMM_WORLD, names=[text('i' // zero, 'id')])
    call fails('zero character')
    call bat_read(dataset, c_null_ptr, selection, status, MPI_COMM_WORLD, names=['id'], mode='aggregated', &
      memory_bytes=1000_c_int64_t, report=.true.)
    call need(status == BAT_OK)
    wide = 0
    call bat_read_attribute(dataset, 'id', selection, wide, status)
    call need(status == BAT_OK .and. sum(wide) == ranks * (2 * ranks - 1))
    call bat_selection_report(selection, json, line, status)
    call need(status == BAT_OK .and. index(json, '"mode":"aggregated"') > 0 .and. index(line, 'aggregated') > 0)
    call need(index(bat_report_line(report), 'leaf files by') > 0)
    call bat_selection_free(selection)
    call bat_close(dataset)
  end subroutine

  subroutine steps
    real(c_float), target :: positions(3, 4) = 0
    integer(c_int8_t), target :: ghosts(4) = [0_c_int8_t, 1_c_int8_t, -1_c_int8_t, 0_c_int8_t]
    type(c_ptr) :: insitu, particles
    type(bat_report) :: report
    logical :: due
    integer :: step
    call bat_insitu_open(path // text(zero, ''), insitu, MPI_COMM_WORLD, c_null_ptr, status)
    call fails('zero character')
    call bat_insitu_open(path, insitu, MPI_COMM_WORLD, c_null_ptr, status); call need(status == BAT_OK)
    call bat_insitu_keep_memory(insitu, -1_c_int64_t, status); call need(status == BAT_INVALID_ARGUMENT)
    call bat_insitu_keep_memory(insitu, 0_c_int64_t, status); call need(status == BAT_OK)
    do step = 0, 1
      call bat_particles_create(4, particles, status)
      call bat_particles_set_positions(particles, positions, status)
      call bat_insitu_begin_step(insitu, int(step, c_int64_t), 0d0, due, status)
      call bat_insitu_add(insitu, particles, ghosts, status, species='dust' // text(zero, '', step == 0))
      if (last .and. step == 0) call fails('zero character')
      call bat_particles_free(particles)
      call bat_insitu_end_step(insitu, status, report)
      if (step == 0) call fails('zero character')
    end do
    call need(status == BAT_OK .and. report%particles == 2 * ranks .and. report%skipped == 2 * ranks)
    ! No rank has particles; the last rank declares the attributes.
    call bat_insitu_begin_step(insitu, 3_c_int64_t, 0d0, due, status)
    if (last) then
      call bat_particles_create(0, particles, status)
      call bat_particles_set_positions(particles, positions(:, 1:0), status)
      call bat_particles_set_attribute(particles, 'mark', ghosts(1:0), status); call need(status == BAT_OK)
      call bat_insitu_add(insitu, particles, status, species='dust')
      call bat_particles_free(particles)
    end if
    call bat_insitu_end_step(insitu, status, report); call need(status == BAT_OK .and. report%particles == 0)
    call need(has_mark(path // '_dust_000003.bat'))
    call bat_insitu_begin_step(insitu, 4_c_int64_t, 0d0, due, status)
    call bat_insitu_end_step(insitu, status); call need(has_mark(path // '_dust_000004.bat'))
    call bat_insitu_begin_step(insitu, 2_c_int64_t, 0d0, due, status)
    if (last) call bat_insitu_fail(insitu, BAT_OUT_OF_MEMORY, 'no room', status)
    call bat_insitu_end_step(insitu, status)
    call need(status == BAT_OUT_OF_MEMORY .and. index(bat_error_text(), 'no room') > 0)
    call bat_insitu_close(insitu)
  end subroutine

  logical function has_mark(name)
    character(*), intent(in) :: name
    type(c_ptr) :: dataset
    integer(c_int) :: number
    call bat_open(name, dataset, status); call need(status == BAT_OK)
    call bat_dataset_attribute_index(dataset, 'mark', number, status)
    has_mark = status == BAT_OK
    call bat_close(dataset)
  end function

  ! Particles 0 to 2 * ranks - 1, of which 1, 2 * ranks - 1 and one that does not exist have tracks.
  subroutine tracks
    interface
      integer(c_int) function bat_tracks_open(path, tracks) bind(c)
        import; character(c_char), intent(in) :: path(*); type(c_ptr), intent(out) :: tracks
      end function
      subroutine bat_tracks_free(tracks) bind(c)
        import; type(c_ptr), value :: tracks
      end subroutine
      integer(c_int) function bat_tracks_ids(tracks, count, name, type, ids, second_name, second_type, second) bind(c)
        import; type(c_ptr), value :: tracks, name, type, second_name, second_type, second
        integer(c_int64_t), intent(out) :: count; type(c_ptr), intent(out) :: ids
      end function
      integer(c_int) function bat_tracks_samples(tracks, count, steps, times, particles) bind(c)
        import; type(c_ptr), value :: tracks, times, particles
        integer(c_int64_t), intent(out) :: count; type(c_ptr), intent(out) :: steps
      end function
    end interface
    real(c_float), target :: positions(3, 2)
    integer(c_int64_t), target :: ids(2)
    integer(c_int64_t), pointer :: found(:)
    integer(c_int64_t) :: count
    type(c_ptr) :: insitu, particles, written, values
    logical :: due
    integer :: step
    ids = 2 * rank + [0, 1]
    positions = real(rank)
    call bat_insitu_open(path // '_tracks', insitu, MPI_COMM_WORLD, c_null_ptr, status)
    call bat_insitu_set_every(insitu, 100_c_int64_t, status); call need(status == BAT_OK)
    call bat_insitu_set_tracks(insitu, '{"every_id": 2' // zero // '}', status); call fails('zero character')
    call bat_insitu_set_tracks(insitu, '{"every_id": 2}', [1, 2], status); call fails('ids')
    call bat_insitu_set_tracks(insitu, '{"every_id": 2}', status); call need(status == BAT_OK)
    call bat_insitu_set_tracks(insitu, '{}', [1_c_int64_t], status); call need(status == BAT_OK)
    call bat_insitu_set_tracks(insitu, '{"every": 2}', [1, 2 * ranks - 1, 2 * ranks], status)
    call need(status == BAT_OK)
    do step = 0, 4
      call bat_particles_create(2, particles, status)
      call bat_particles_set_positions(particles, positions, status)
      call bat_particles_set_attribute(particles, 'id', ids, status)
      call bat_insitu_begin_step(insitu, int(step, c_int64_t), 0.5d0 * step, due, status)
      call need(due .eqv. mod(step, 2) == 0)
      if (due) call bat_insitu_add(insitu, particles, status)
      call bat_particles_free(particles)
      call bat_insitu_end_step(insitu, status); call need(status == BAT_OK)
    end do
    call bat_insitu_close(insitu)
    if (rank /= 0) return
    call need(bat_tracks_open(path // '_tracks.tracks.bat' // zero, written) == BAT_OK)
    call need(bat_tracks_ids(written, count, c_null_ptr, c_null_ptr, values, c_null_ptr, c_null_ptr, &
      c_null_ptr) == BAT_OK)
    call c_f_pointer(values, found, [count])
    call need(count == merge(1, 2, ranks == 1))
    call need(found(1) == 1 .and. found(count) == 2 * ranks - 1)
    call need(bat_tracks_samples(written, count, values, c_null_ptr, c_null_ptr) == BAT_OK)
    call c_f_pointer(values, found, [count])
    call need(count == 3)
    call need(all(found == [0, 2, 4]))
    call bat_tracks_free(written)
  end subroutine

  ! Dust in every second step and without tracks, gas in all steps with tracks of all particles.
  subroutine species_options
    real(c_float), target :: positions(3, 2)
    integer(c_int64_t), target :: ids(2)
    type(c_ptr) :: insitu, particles, options
    logical :: due, there
    integer :: step
    ids = 2 * rank + [0, 1]
    positions = real(rank)
    call bat_options_create(options, status)
    call bat_insitu_open(path // '_kinds', insitu, MPI_COMM_WORLD, c_null_ptr, status)
    call bat_insitu_set_tracks(insitu, '{"every_id": 1}', status); call need(status == BAT_OK)
    call bat_insitu_set_species(insitu, 'dust' // zero, status); call fails('zero character')
    call bat_insitu_set_species(insitu, 'dust', status, every=-1_c_int64_t); call fails('-1')
    call bat_insitu_set_species(insitu, 'dust', status, 2_c_int64_t, options, ''); call need(status == BAT_OK)
    call bat_insitu_set_species(insitu, 'gas', status); call need(status == BAT_OK)
    call bat_options_free(options)
    do step = 0, 1
      call bat_particles_create(2, particles, status)
      call bat_particles_set_positions(particles, positions, status)
      call bat_particles_set_attribute(particles, 'id', ids, status)
      call bat_insitu_begin_step(insitu, int(step, c_int64_t), 0.5d0 * step, due, status)
      call need(due)
      call bat_insitu_add(insitu, particles, status, 'dust')
      call bat_insitu_add(insitu, particles, status, 'gas')
      call bat_insitu_end_step(insitu, status); call need(status == BAT_OK)
      call bat_particles_free(particles)
    end do
    call bat_insitu_close(insitu)
    if (rank /= 0) return
    inquire(file=path // '_kinds_dust_000000.bat', exist=there); call need(there)
    inquire(file=path // '_kinds_dust_000001.bat', exist=there); call need(.not. there)
    inquire(file=path // '_kinds_gas_000001.bat', exist=there); call need(there)
    inquire(file=path // '_kinds_dust.tracks.bat', exist=there); call need(.not. there)
    inquire(file=path // '_kinds_gas.tracks.bat', exist=there); call need(there)
  end subroutine

  ! The first particle is on the last rank.
  function text(wrong, right, use_wrong) result(chosen)
    character(*), intent(in) :: wrong, right
    logical, intent(in), optional :: use_wrong
    character(:), allocatable :: chosen
    chosen = right
    if (present(use_wrong)) then
      if (.not. use_wrong) return
    end if
    if (last) chosen = wrong
  end function

  subroutine fails(word)
    character(*), intent(in) :: word
    call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), word) > 0)
  end subroutine

  subroutine need(holds)
    logical, intent(in) :: holds
    if (holds) return
    print '(2a)', 'a check failed; last error: ', bat_error_text()
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
