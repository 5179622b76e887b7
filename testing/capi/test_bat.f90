! SPDX-License-Identifier: BSD-3-Clause
! Features that the examples do not use: conditions on values, all types, the description of a
! dataset, and errors.
program test_bat
  use, intrinsic :: iso_c_binding
  use bat
  implicit none
  integer, parameter :: n = 1000
  integer(c_int64_t), parameter :: base = 2_c_int64_t**53
  real(c_double), target :: positions(3, n), values(n), heights(n)
  integer(c_int64_t), target :: ids(n), found(2)
  integer(c_int64_t), target :: expected(4) = [base + 7, base + 7, base + 900, 5_c_int64_t]
  integer(c_int32_t), target :: none(0)
  real(c_double), target :: halves(2) = [2.5d0, 3.25d0]
  type(c_ptr) :: particles, options, dataset, query, selection
  integer :: status, i
  integer(c_int64_t) :: both(4) = 0
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
  heights = positions(3, :)
  call bat_particles_set_attribute(particles, 'z', heights, status)
  call bat_options_set_repeats(options, 7, .false., status)
  call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), 'repeats is 7') > 0)
  call bat_options_set_repeats(options, BAT_REPEATS_LINK, .false., status)
  call need(status == BAT_OK)
  call bat_write(trim(path), particles, options, status)
  call need(status == BAT_OK)
  call repacked_and_in_pieces
  call bat_options_add_sorted_index(options, 'nothing', status)
  call bat_write(trim(path), particles, options, status)
  call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), 'nothing') > 0)
  call bat_options_free(options)
  call bat_particles_free(particles)
  call bat_open(trim(path), dataset, status)
  call need(status == BAT_OK)

  ! z is an alias of the positions.
  call bat_query_create(query, status)
  call bat_query_add_range(query, 'z', 1, 17d0, 20.5d0, status)
  call need(matches(dataset, query) == 4)
  call bat_select(dataset, query, selection, status)
  call bat_read_attribute(dataset, 'z', selection, heights(1:4), status)
  call need(status == BAT_OK .and. sum(heights(1:4)) == 74)
  call bat_selection_free(selection)
  call bat_query_free(query)

  call bat_query_create(query, status)
  call bat_query_add_values(query, 'id', BAT_WHOLE, expected, status)
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

  ! The particles inside a shape or list and those outside of it add up to all.
  do i = 0, 1
    call bat_query_create(query, status)
    call bat_query_add_sphere(query, [0d0, 0d0, 1d0], 10d0, i == 1, status)
    call need(status == BAT_OK)
    both(1) = both(1) + matches(dataset, query)
    call bat_query_free(query)
    call bat_query_create(query, status)
    call bat_query_add_slab(query, [1d0, 1d0, 0d0], 3d0, 7.5d0, i == 1, status)
    both(2) = both(2) + matches(dataset, query)
    call bat_query_free(query)
    call bat_query_create(query, status)
    call bat_query_add_oriented_box(query, [3d0, 3d0, 20d0], &
      reshape([0d0, 1d0, 0d0, -1d0, 0d0, 0d0, 0d0, 0d0, 2d0], [3, 3]), [4d0, 4d0, 20d0], i == 1, status)
    both(3) = both(3) + matches(dataset, query)
    call bat_query_free(query)
    call bat_query_create(query, status)
    call bat_query_add_set(query, 'id', BAT_WHOLE, [base + 1], &
      reshape([base + 5, base + 9], [2, 1]), i == 1, status)
    both(4) = both(4) + matches(dataset, query)
    if (i == 0) call need(matches(dataset, query) == 6)
    call bat_query_add_set(query, 'id', BAT_WHOLE, [base], reshape([base, base, base], [3, 1]), &
      .false., status)
    call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), 'shape (2, n)') > 0)
    call bat_query_free(query)
  end do
  call need(all(both == n))
  call bat_close(dataset)
  call every_type_comes_back(trim(path))
  call unsigned_integers_are_exact_or_refused(trim(path))
  call ranges_and_metadata_are_reported(trim(path))
  call steps_of_a_list_are_json(trim(path))
  call what_was_passed_is_in_the_text(trim(path))

contains
  ! Repacks the file at path, and writes it in two pieces, next to it.
  subroutine repacked_and_in_pieces
    type(c_ptr) :: others, writer
    type(bat_repack_report) :: done
    type(bat_report) :: report
    character(len(path)) :: other
    character(8) :: indexes(2) = [character(8) :: 'value', 'id']
    other = trim(path) // '.other.bat'
    call bat_options_create(others, status)
    call bat_options_set(others, 'compression', 'lossless', status)
    call bat_options_set_list(others, 'sorted_indexes', indexes, status)
    call bat_options_set(others, 'stable_samples', 'id', status)
    call need(status == BAT_OK)
    call bat_repack(trim(path), trim(other), others, status, done)
    call need(status == BAT_OK .and. done%particles == n .and. done%datasets == 1 .and. done%bytes_after > 0)
    call bat_repack(trim(path) // '.not', trim(other), c_null_ptr, status)
    call need(status == BAT_NOT_FOUND)
    call bat_options_free(others)
    call bat_piece_writer_create(trim(other), c_null_ptr, 1000_c_int64_t, writer, status)
    call need(status == BAT_INVALID_ARGUMENT)
    call bat_piece_writer_create(trim(other), c_null_ptr, 0_c_int64_t, writer, status)
    call bat_piece_writer_add(writer, particles, status)
    call bat_piece_writer_add(writer, particles, status)
    call need(status == BAT_OK)
    call bat_piece_writer_finish(writer, status, report)
    call need(status == BAT_OK .and. report%particles == 2 * n .and. report%leaf_files == 1)
    call bat_piece_writer_free(writer)
    open (newunit=i, file=trim(other))
    close (i, status='delete')
  end subroutine


  subroutine every_type_comes_back(path)
    character(*), intent(in) :: path
    integer, parameter :: n = 4
    real(c_float), target :: positions(3, n)
    integer(c_int8_t), target :: i8(n) = [-127_c_int8_t - 1_c_int8_t, -1_c_int8_t, 0_c_int8_t, 127_c_int8_t], &
      r8(n)
    integer(c_int16_t), target :: i16(2, n), r16(2, n)
    integer(c_int32_t), target :: i32(n), r32(n)
    integer(c_int64_t), target :: i64(2, n), r64(2, n), wide(n)
    real(c_float), target :: f32(n), g32(n)
    real(c_double), target :: f64(2, n), g64(2, n), wide_real(n)
    type(c_ptr) :: particles, dataset, query, selection
    integer(c_int64_t) :: count, minimum, likely, maximum
    real(c_double) :: quality
    integer :: status, i
    do i = 1, n
      positions(:, i) = i
      i16(:, i) = [int(-i, c_int16_t), huge(0_c_int16_t)]
      i32(i) = -huge(0_c_int32_t) + i
      i64(:, i) = [-huge(0_c_int64_t) + i, int(i, c_int64_t)]
      f32(i) = i / 4.0
      f64(:, i) = [i / 4d0, 1d300 * i]
    end do
    call bat_particles_create(int(n, c_int64_t), particles, status); call need(status == BAT_OK)
    call bat_particles_set_positions(particles, positions, status); call need(status == BAT_OK)
    call bat_particles_set_attribute(particles, 'i8', i8, status); call need(status == BAT_OK)
    call bat_particles_set_attribute(particles, 'i16', i16, status); call need(status == BAT_OK)
    call bat_particles_set_attribute(particles, 'i32', i32, status); call need(status == BAT_OK)
    call bat_particles_set_attribute(particles, 'i64', i64, status); call need(status == BAT_OK)
    call bat_particles_set_attribute(particles, 'f32', f32, status); call need(status == BAT_OK)
    call bat_particles_set_attribute(particles, 'f64', f64, status); call need(status == BAT_OK)
    call bat_particles_set_step(particles, huge(0_c_int64_t), status); call need(status == BAT_OK)
    call bat_particles_set_metadata(particles, '{"run":"a"}', status); call need(status == BAT_OK)
    call bat_write(path, particles, c_null_ptr, status); call need(status == BAT_OK)
    call bat_particles_free(particles)

    call bat_open(path, dataset, status); call need(status == BAT_OK)
    call bat_query_create(query, status)
    call bat_query_set_threads(query, 1, status); call need(status == BAT_OK)
    call bat_query_add_values(query, 'i8', BAT_WHOLE, i8, status); call need(status == BAT_OK)
    call bat_query_add_values(query, 'i16', 2, i16(2, :), status); call need(status == BAT_OK)
    call bat_query_add_values(query, 'f32', 1, f32, status); call need(status == BAT_OK)
    call bat_validate(dataset, status); call need(status == BAT_OK)
    call bat_estimate_count(dataset, query, minimum, likely, maximum, status); call need(status == BAT_OK)
    call need(minimum <= n .and. n <= maximum .and. minimum <= likely .and. likely <= maximum)
    call bat_upper_bound(dataset, query, maximum, status); call need(status == BAT_OK .and. maximum >= n)
    call bat_quality_within(dataset, c_null_ptr, 2_c_int64_t, quality, status)
    call need(status == BAT_OK .and. abs(quality * n - 2) < 1d-6)
    call bat_quality_within(dataset, query, -1_c_int64_t, quality, status)
    call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), '-1') > 0)
    call bat_select(dataset, query, selection, status); call need(status == BAT_OK)
    call bat_query_free(query)
    call bat_selection_count(selection, count, status); call need(status == BAT_OK .and. count == n)
    call bat_read_attribute(dataset, 'i8', selection, r8, status); call need(status == BAT_OK)
    call bat_read_attribute(dataset, 'i16', selection, r16, status); call need(status == BAT_OK)
    call bat_read_attribute(dataset, 'i32', selection, r32, status); call need(status == BAT_OK)
    call bat_read_attribute(dataset, 'i64', selection, r64, status); call need(status == BAT_OK)
    call bat_read_attribute(dataset, 'f32', selection, g32, status); call need(status == BAT_OK)
    call bat_read_attribute(dataset, 'f64', selection, g64, status); call need(status == BAT_OK)
    do i = 1, n
      call need(r8(i) == i8(r64(2, i)) .and. all(r16(:, i) == i16(:, r64(2, i))))
      call need(r32(i) == i32(r64(2, i)) .and. r64(1, i) == i64(1, r64(2, i)))
      call need(g32(i) == f32(r64(2, i)) .and. all(g64(:, i) == f64(:, r64(2, i))))
    end do
    ! An array with space for all values.
    call bat_read_attribute(dataset, 'i8', selection, wide, status)
    call need(status == BAT_OK .and. all(wide == r8))
    call bat_read_attribute(dataset, 'f32', selection, wide_real, status)
    call need(status == BAT_OK .and. all(wide_real == g32))
    call bat_read_attribute(dataset, 'i32', selection, r8, status)
    call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), 'read as int8') > 0)
    call bat_selection_free(selection)
    call bat_close(dataset)
  end subroutine

  ! Reads a file that a C program wrote.
  subroutine unsigned_integers_are_exact_or_refused(path)
    character(*), intent(in) :: path
    interface
      function set_any(particles, name, type, components, values, stride) &
          bind(c, name="bat_particles_set_attribute") result(status)
        import; type(c_ptr), value :: particles, values; character(c_char), intent(in) :: name(*)
        integer(c_int), value :: type; integer(c_int64_t), value :: components
        integer(c_size_t), value :: stride; integer(c_int) :: status
      end function
    end interface
    real(c_double), target :: positions(3, 2) = 0
    integer(c_int8_t), target :: bytes(2) = [-1_c_int8_t, 1_c_int8_t], same(2) ! 255 and 1
    integer(c_int16_t), target :: wide(2)
    integer(c_int64_t), target :: large(2) = [5_c_int64_t, -2_c_int64_t], read(2) ! 2^64 - 2
    integer(c_int64_t) :: low, high
    type(c_ptr) :: particles, dataset, query, selection
    integer :: status
    call bat_particles_create(2, particles, status)
    call bat_particles_set_positions(particles, positions, status)
    status = set_any(particles, 'bytes' // c_null_char, BAT_UINT8, 1_c_int64_t, c_loc(bytes), 0_c_size_t)
    call need(status == BAT_OK)
    status = set_any(particles, 'large' // c_null_char, BAT_UINT64, 1_c_int64_t, c_loc(large), 0_c_size_t)
    call need(status == BAT_OK)
    call bat_write(path, particles, c_null_ptr, status); call need(status == BAT_OK)
    call bat_particles_free(particles)

    call bat_open(path, dataset, status); call need(status == BAT_OK)
    call bat_select(dataset, c_null_ptr, selection, status); call need(status == BAT_OK)
    call bat_read_attribute(dataset, 'bytes', selection, wide, status)
    call need(status == BAT_OK .and. sum(wide) == 256)
    call bat_read_attribute(dataset, 'bytes', selection, same, status)
    call need(status == BAT_INVALID_ARGUMENT .and. all(same == 0))
    call need(index(bat_error_text(), "'bytes' has the value 255") > 0)
    call bat_read_attribute(dataset, 'large', selection, read, status)
    call need(status == BAT_INVALID_ARGUMENT)
    call need(index(bat_error_text(), '18446744073709551614') > 0)
    call bat_dataset_attribute_range(dataset, 2, BAT_WHOLE, low, high, status)
    call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), 'which int64 cannot') > 0)
    call bat_selection_free(selection)

    call bat_query_create(query, status)
    call bat_query_add_range(query, 'large', BAT_WHOLE, 0_c_int64_t, huge(0_c_int64_t), status)
    call bat_query_add_range(query, 'bytes', BAT_WHOLE, 0, 255, status)
    call bat_select(dataset, query, selection, status); call need(status == BAT_OK)
    call bat_read_attribute(dataset, 'large', selection, read, status)
    call need(status == BAT_OK .and. read(1) == 5)
    call bat_selection_free(selection)
    call bat_query_free(query)
    call bat_close(dataset)
  end subroutine

  subroutine ranges_and_metadata_are_reported(path)
    character(*), intent(in) :: path
    integer(c_int64_t), parameter :: odd = 2_c_int64_t**53 + 1
    real(c_double), target :: positions(3, 3) = 0, values(2, 3) = reshape([3d0, 4d0, 0d0, 0d0, 1d0, 0d0], [2, 3])
    integer(c_int64_t), target :: ids(3) = [-odd, odd - 1, odd]
    real(c_double) :: infinity, low, high
    integer(c_int64_t) :: first, last, files, bytes
    character(:), allocatable :: json, name
    type(c_ptr) :: particles, dataset, query
    integer :: status, place, kind_of, components
    infinity = huge(1d0)
    infinity = infinity * 2
    call bat_particles_create(3, particles, status)
    call bat_particles_set_positions(particles, positions, status)
    call bat_particles_set_attribute(particles, 'id', ids, status)
    call bat_particles_set_attribute(particles, 'v', values, status)
    call bat_particles_set_metadata(particles, '{"run":"a b"}', status)
    call bat_write(path, particles, c_null_ptr, status); call need(status == BAT_OK)
    call bat_particles_free(particles)

    call bat_open(path, dataset, status)
    call bat_dataset_metadata(dataset, json, status)
    call need(status == BAT_OK .and. index(json, '"run":"a b"') > 0)
    call bat_dataset_stable_sample(dataset, 1, json, status); call need(status == BAT_OK .and. json == '')
    call bat_dataset_hdf5_view(dataset, json, status); call need(status == BAT_OK .and. index(json, '"exists":true') > 0)
    call bat_dataset_leaf_files(dataset, files, status); call need(status == BAT_OK .and. files == 1)
    call bat_dataset_file_bytes(dataset, bytes, status); call need(status == BAT_OK .and. bytes > 100)
    call bat_dataset_attribute_index(dataset, 'v', place, status)
    call need(status == BAT_OK .and. place == 2)
    call bat_dataset_attribute(dataset, place, name, kind_of, components, status)
    call need(status == BAT_OK .and. name == 'v' .and. kind_of == BAT_FLOAT64 .and. components == 2)
    call bat_dataset_attribute_range(dataset, place, BAT_WHOLE, low, high, status)
    call need(status == BAT_OK .and. low == 0 .and. high == 5)
    call bat_dataset_attribute_range(dataset, place, 1, low, high, status)
    call need(status == BAT_OK .and. low == 0 .and. high == 3)
    call bat_dataset_attribute_range(dataset, 1, 1, first, last, status)
    call need(status == BAT_OK .and. first == -odd .and. last == odd)
    call bat_dataset_attribute_range(dataset, place, 1, first, last, status)
    call need(status == BAT_INVALID_ARGUMENT .and. index(bat_error_text(), "range of 'v' ends at") > 0)

    call bat_query_create(query, status)
    call bat_query_add_range(query, 'id', BAT_WHOLE, odd, infinity, status)
    call need(status == BAT_OK .and. matches(dataset, query) == 1)
    call bat_query_free(query)
    call bat_query_create(query, status)
    call bat_query_add_range(query, 'id', 1, -infinity, odd - 1, status)
    call need(status == BAT_OK .and. matches(dataset, query) == 2)
    call bat_query_free(query)
    call bat_close(dataset)
  end subroutine

  subroutine steps_of_a_list_are_json(path)
    character(*), intent(in) :: path
    character(:), allocatable :: list, json
    integer :: status, unit
    list = path // '.series'
    open (newunit=unit, file=list, status='replace')
    write (unit, '(a)') '{"files": [{"name": "s/a.bat", "time": 0.5}, {"name": "s/b.bat"}]}'
    close (unit)
    call bat_series_steps(list, json, status); call need(status == BAT_OK)
    call need(index(json, 's/a.bat","time":0.5},{"path":"') > 0 .and. index(json, 's/b.bat"}]') > 0)
    open (newunit=unit, file=list)
    close (unit, status='delete')
    call bat_series_steps(list, json, status); call need(status == BAT_NOT_FOUND .and. json == '')
    call bat_series_steps(path, json, status)
    call need(status == BAT_OK .and. json == '[{"path":"' // path // '"}]')
  end subroutine

  subroutine what_was_passed_is_in_the_text(path)
    character(*), intent(in) :: path
    character, parameter :: zero = c_null_char
    integer(c_int64_t), target :: ids(2)
    real(c_double) :: low, high
    character(:), allocatable :: name
    type(c_ptr) :: particles, options, dataset, query, selection
    integer :: status, place, kind_of, components
    call bat_particles_create(-1, particles, status); call fails('is -1;')
    call bat_particles_create(-2_c_int64_t, particles, status); call fails('is -2;')
    call bat_particles_create(0, particles, status)
    call bat_particles_set_attribute(particles, 'a' // zero // 'b', ids, status); call fails('zero character')
    call bat_particles_set_metadata(particles, '{}' // zero, status); call fails('zero character')
    call bat_write(path // zero // '.x', particles, c_null_ptr, status); call fails('zero character')
    call bat_particles_free(particles)
    call bat_options_create(options, status)
    call bat_options_set_target_bytes(options, -1_c_int64_t, status); call fails('is -1;')
    call bat_options_set_threads(options, -1, status); call fails('threads is -1;')
    call bat_options_add_sorted_index(options, 'a' // zero, status); call fails('zero character')
    call bat_options_set(options, 'threads', -1, status); call fails('threads is -1;')
    call bat_options_set(options, 'target_bytes', -2_c_int64_t, status); call fails('target_bytes is -2;')
    call bat_options_set(options, 'index_budget', 2.0_c_double, status); call fails('index_budget is 2;')
    call bat_options_set(options, 'mode', 'best', status); call fails('mode is "best";')
    call bat_options_set(options, 'mode', .true., status); call fails('mode is 1;')
    call bat_options_set(options, 'a' // zero, 1, status); call fails('zero character')
    call bat_options_set(options, 'mode', 'aug' // zero, status); call fails('zero character')
    call bat_options_set(options, 'flush', .false., status); call need(status == BAT_OK)
    call bat_options_set(options, 'repeats', 'link', status); call need(status == BAT_OK)
    call bat_options_set(options, 'sorted_indexes', 'id', status); call need(status == BAT_OK)
    call bat_options_free(options)
    call bat_open(path // zero // '.x', dataset, status); call fails('zero character')
    call bat_series_steps(path // zero // '.x', name, status); call fails('zero character')
    call bat_open(path, dataset, status); call need(status == BAT_OK)
    call bat_dataset_attribute(dataset, 3, name, kind_of, components, status)
    call fails('attribute number 3; allowed are 1 to 2')
    call bat_dataset_attribute_range(dataset, 0, 1, low, high, status); call fails('attribute number 0;')
    call bat_dataset_attribute_range(dataset, 1, 0, low, high, status); call fails('component 0;')
    call bat_dataset_attribute_index(dataset, 'a' // zero, place, status); call fails('zero character')
    call bat_query_create(query, status)
    call bat_query_set_part(query, -1, 3, status); call fails('part -1 of 3;')
    call bat_query_set_threads(query, -1, status); call fails('is -1;')
    call bat_query_set_part(query, 0, 1, status)
    call bat_query_add_range(query, 'id', 0, 1, 2, status); call fails('component 0;')
    call bat_select(dataset, query, selection, status); call fails('component 0;')
    call bat_query_add_range(query, 'id' // zero, 1, 1, 2, status); call fails('zero character')
    call bat_query_add_values(query, 'id', -7, ids, status); call fails('component -7;')
    call bat_query_free(query)
    call bat_close(dataset)
  end subroutine

  subroutine fails(text)
    character(*), intent(in) :: text
    if (index(bat_error_text(), text) == 0) print '(2a)', 'wanted: ', text
    call need(index(bat_error_text(), text) > 0)
  end subroutine

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
