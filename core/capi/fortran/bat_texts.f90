! SPDX-License-Identifier: BSD-3-Clause
! Converts texts between Fortran and C, for the modules that programs use.
module bat_texts
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: c_fail, format_text, c_text, check_text, refuse

  interface
    function c_fail(local, text) bind(c, name="bat_fail") result(status)
      import; integer(c_int), value :: local; character(c_char), intent(in) :: text(*); integer(c_int) :: status
    end function
    function c_strlen(text) bind(c, name="strlen") result(size)
      import; type(c_ptr), value :: text; integer(c_size_t) :: size
    end function
  end interface

contains

  function format_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(c_char), pointer :: letters(:)
    integer(c_size_t) :: i
    call c_f_pointer(pointer, letters, [c_strlen(pointer)])
    allocate (character(size(letters, kind=c_size_t)) :: text)
    do i = 1, size(letters, kind=c_size_t)
      text(i:i) = letters(i)
    end do
  end function

  ! Trailing blanks are not part of a name or path.
  pure function c_text(text) result(with_zero)
    character(*), intent(in) :: text
    character(:), allocatable :: with_zero
    with_zero = trim(text) // c_null_char
  end function

  ! Checks that C, where a zero character ends a text, sees the whole text.
  function check_text(text, what) result(status)
    character(*), intent(in) :: text, what
    integer :: status
    status = 0
    if (index(text, c_null_char) > 0) status = refuse(what // ' contains a zero character')
  end function

  function refuse(text) result(status)
    integer(c_int), parameter :: invalid_argument = 9
    character(*), intent(in) :: text
    integer :: status
    status = c_fail(invalid_argument, c_text(text))
  end function
end module bat_texts
