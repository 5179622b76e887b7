! SPDX-License-Identifier: BSD-3-Clause
! A simulation in Fortran: one array per component.
!
! Usage: host FOLDER STEPS. Prints like host.c.
module catalyst_calls
  use iso_c_binding
  implicit none

  interface
    function node_create() bind(C, name="catalyst_conduit_node_create") result(node)
      import c_ptr
      type(c_ptr) :: node
    end function
    subroutine node_destroy(node) bind(C, name="catalyst_conduit_node_destroy")
      import c_ptr
      type(c_ptr), value :: node
    end subroutine
    subroutine set_text(node, path, text) &
        bind(C, name="catalyst_conduit_node_set_path_char8_str")
      import c_ptr, c_char
      type(c_ptr), value :: node
      character(kind=c_char), intent(in) :: path(*), text(*)
    end subroutine
    subroutine set_int32(node, path, value) bind(C, name="catalyst_conduit_node_set_path_int32")
      import c_ptr, c_char, c_int32_t
      type(c_ptr), value :: node
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: value
    end subroutine
    subroutine set_float64(node, path, value) &
        bind(C, name="catalyst_conduit_node_set_path_float64")
      import c_ptr, c_char, c_double
      type(c_ptr), value :: node
      character(kind=c_char), intent(in) :: path(*)
      real(c_double), value :: value
    end subroutine
    subroutine float64_array(node, path, values, n, offset, stride, bytes, endianness) &
        bind(C, name="catalyst_conduit_node_set_path_external_float64_ptr_detailed")
      import c_ptr, c_char, c_double, c_int64_t
      type(c_ptr), value :: node
      character(kind=c_char), intent(in) :: path(*)
      real(c_double), intent(in) :: values(*)
      integer(c_int64_t), value :: n, offset, stride, bytes, endianness
    end subroutine
    subroutine float32_array(node, path, values, n, offset, stride, bytes, endianness) &
        bind(C, name="catalyst_conduit_node_set_path_external_float32_ptr_detailed")
      import c_ptr, c_char, c_float, c_int64_t
      type(c_ptr), value :: node
      character(kind=c_char), intent(in) :: path(*)
      real(c_float), intent(in) :: values(*)
      integer(c_int64_t), value :: n, offset, stride, bytes, endianness
    end subroutine
    subroutine int64_array(node, path, values, n, offset, stride, bytes, endianness) &
        bind(C, name="catalyst_conduit_node_set_path_external_int64_ptr_detailed")
      import c_ptr, c_char, c_int64_t
      type(c_ptr), value :: node
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), intent(in) :: values(*)
      integer(c_int64_t), value :: n, offset, stride, bytes, endianness
    end subroutine
    function catalyst_initialize(node) bind(C, name="catalyst_initialize") result(status)
      import c_ptr, c_int
      type(c_ptr), value :: node
      integer(c_int) :: status
    end function
    function catalyst_execute(node) bind(C, name="catalyst_execute") result(status)
      import c_ptr, c_int
      type(c_ptr), value :: node
      integer(c_int) :: status
    end function
    function catalyst_finalize(node) bind(C, name="catalyst_finalize") result(status)
      import c_ptr, c_int
      type(c_ptr), value :: node
      integer(c_int) :: status
    end function
  end interface
end module

program host
  use iso_c_binding
  use mpi
  use catalyst_calls
  implicit none

  character(len=*), parameter :: mesh = "catalyst/channels/host/data"
  character(len=4096) :: folder, steps_text
  integer :: rank, steps, step, error
  type(c_ptr) :: node

  call get_command_argument(1, folder)
  call get_command_argument(2, steps_text)
  read (steps_text, *) steps
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)

  node = node_create()
  call set_text(node, z("catalyst/bat/output"), z(trim(folder)//"/host_{timestep:03d}.bat"))
  call set_int32(node, z("catalyst/mpi_comm"), MPI_COMM_WORLD)
  call say("initialize", catalyst_initialize(node))
  call node_destroy(node)
  do step = 0, steps - 1
    call execute(step)
  end do
  node = node_create()
  call say("finalize", catalyst_finalize(node))
  call node_destroy(node)
  call MPI_Finalize(error)

contains

  function z(text)
    character(len=*), intent(in) :: text
    character(len=len(text) + 1) :: z
    z = text//c_null_char
  end function

  subroutine say(name, status)
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: status
    print "('rank ', i0, ' ', a, ' ', i0)", rank, name, status
  end subroutine

  subroutine execute(step)
    integer, intent(in) :: step
    integer(c_int64_t) :: n, i
    real(c_double), allocatable, target :: x(:), y(:), zs(:)
    real(c_float), allocatable, target :: mass(:)
    integer(c_int64_t), allocatable, target :: id(:)
    n = merge(0, 100 + 10*rank, rank == 1)
    allocate (x(n), y(n), zs(n), mass(n), id(n))
    do i = 1, n
      x(i) = rank + 0.001d0*mod(i - 1, 1009_c_int64_t)
      y(i) = 0.5d0*(i - 1)
      zs(i) = step
      mass(i) = 1.0/real(i)
      id(i) = 1000000000_c_int64_t*(rank + 1) + i - 1
    end do
    node = node_create()
    call set_int32(node, z("catalyst/state/timestep"), step)
    call set_float64(node, z("catalyst/state/time"), 0.25d0*step)
    call set_text(node, z("catalyst/channels/host/type"), z("mesh"))
    call set_text(node, z(mesh//"/coordsets/c/type"), z("explicit"))
    call set_text(node, z(mesh//"/topologies/mesh/type"), z("points"))
    call set_text(node, z(mesh//"/topologies/mesh/coordset"), z("c"))
    call doubles("/coordsets/c/values/x", x)
    call doubles("/coordsets/c/values/y", y)
    call doubles("/coordsets/c/values/z", zs)
    call field("id")
    call int64_array(node, z(mesh//"/fields/id/values"), id, n, 0_c_int64_t, 8_c_int64_t, &
      8_c_int64_t, 0_c_int64_t)
    call field("mass")
    call float32_array(node, z(mesh//"/fields/mass/values"), mass, n, 0_c_int64_t, 4_c_int64_t, &
      4_c_int64_t, 0_c_int64_t)
    call say("execute", catalyst_execute(node))
    call node_destroy(node)
  end subroutine

  subroutine doubles(path, values)
    character(len=*), intent(in) :: path
    real(c_double), intent(in) :: values(:)
    call float64_array(node, z(mesh//path), values, size(values, kind=c_int64_t), 0_c_int64_t, &
      8_c_int64_t, 8_c_int64_t, 0_c_int64_t)
  end subroutine

  subroutine field(name)
    character(len=*), intent(in) :: name
    call set_text(node, z(mesh//"/fields/"//name//"/association"), z("element"))
    call set_text(node, z(mesh//"/fields/"//name//"/topology"), z("mesh"))
  end subroutine
end program
