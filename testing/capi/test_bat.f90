! What the examples do not call: conditions on values, and errors.
program test_bat
  use, intrinsic :: iso_c_binding
  use bat
  implicit none
  integer, parameter :: n = 1000
  integer(c_int64_t), parameter :: base = 2_c_int64_t**53
  real(c_double), target :: positions(3, n), values(n)
  integer(c_int64_t), target :: ids(n), found(2)
  integer(c_int64_t), target :: wanted(4) = [base + 7, base + 7, base + 900, 5_c_int64_t]
  integer(c_int32_t), target :: none(0)
  real(c_double), target :: halves(2) = [2.5d0, 3.25d0]
  type(c_ptr) :: particles, options, dataset, query, selection
  integer :: status, i
  character(4096) :: path

  call get_command_argument(1, path)
  do i = 1, n
    positions(:, i) = [mod(i, 10) * 1d0, mod(i, 7) * 1d0, i * 1d0]
    ids(i) = base + i
    values(i) = i / 2d0
  end do
  call bat_particles_create(n, particles, status)
  call need(status == BAT_OK)
  call bat_particles_set_positions(particles, positions, status)
  call need(status == BAT_OK)
  call bat_particles_set_attribute(particles, 'id', ids, status)
  call bat_particles_set_attribute(particles, 'value', values, status)
  call bat_options_create(options, status)
  call bat_options_add_sorted_index(options, 'id', status)
  call need(status == BAT_OK)
  call bat_write(trim(path), particles, options, status)
  call need(status == BAT_OK)
  call bat_options_add_sorted_index(options, 'nothing', status)
  call bat_write(trim(path), particles, options, status)
  call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), 'nothing') > 0)
  call bat_options_free(options)
  call bat_particles_free(particles)
  call bat_open(trim(path), dataset, status)
  call need(status == BAT_OK)

  call bat_query_create(query, status)
  call bat_query_add_values(query, 'id', BAT_WHOLE, wanted, status)
  call need(status == BAT_OK)
  call need(matches(dataset, query) == 2)
  call bat_select(dataset, query, selection, status)
  call bat_read_attribute(dataset, 'id', selection, found, status)
  call need(status == BAT_OK .and. sum(found - base) == 907)
  call bat_selection_free(selection)
  call bat_query_add_range(query, 'id', 1, base, base + 8, status)
  call need(matches(dataset, query) == 1)
  call bat_query_add_values(query, 'id', 1, none, status)
  call need(status == BAT_OK .and. matches(dataset, query) == 0)
  call bat_query_free(query)

  call bat_query_create(query, status)
  call bat_query_add_values(query, 'value', 1, halves, status)
  call need(matches(dataset, query) == 1)
  call bat_query_add_values(query, 'value', 2, halves, status)
  call bat_select(dataset, query, selection, status)
  call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), 'component 1') > 0)
  call bat_query_free(query)
  call bat_close(dataset)

contains

  function matches(dataset, query) result(count)
    type(c_ptr), intent(in) :: dataset, query
    type(c_ptr) :: selection
    integer :: count, status
    call bat_select(dataset, query, selection, status)
    call need(status == BAT_OK)
    call bat_selection_count(selection, count, status)
    call bat_selection_free(selection)
  end function

  subroutine need(holds)
    logical, intent(in) :: holds
    if (holds) return
    print '(2a)', 'a check failed; last error: ', bat_error_text()
    stop 1
  end subroutine
end program
