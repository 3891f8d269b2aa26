! Marks in a Fortran program for the profiler mpiprof: named regions, iterations, labels, pauses. Add this file to your
! sources; it needs nothing else (before glibc 2.34: link with -ldl). Without the profiler its calls do nothing.
module mpiprof
  use, intrinsic :: iso_c_binding, only: c_char, c_funptr, c_long, c_null_char, c_null_ptr, c_ptr, c_associated, c_f_procpointer
  implicit none
  private
  public :: mpiprof_begin, mpiprof_end, mpiprof_mark, mpiprof_label, mpiprof_off, mpiprof_on

  abstract interface
    subroutine takes_name(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine takes_pair(key, value) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: key(*), value(*)
    end subroutine
    subroutine takes_count(items) bind(c)
      import :: c_long
      integer(c_long), value :: items
    end subroutine
    subroutine takes_nothing() bind(c)
    end subroutine
  end interface

  interface
    ! The first argument is RTLD_DEFAULT, which is a null pointer on Linux.
    function dlsym(handle, symbol) bind(c)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_funptr) :: dlsym
    end function
  end interface

  ! Looked up by the first call of each, and kept.
  procedure(takes_name), pointer, save :: begin_ => null(), end_ => null()
  procedure(takes_count), pointer, save :: mark_ => null()
  procedure(takes_pair), pointer, save :: label_ => null()
  procedure(takes_nothing), pointer, save :: off_ => null(), on_ => null()
  logical, save :: is_looked_up = .false.

contains

  ! A part of the program with a name. Regions nest; begin and end them on one thread.
  subroutine mpiprof_begin(name)
    character(*), intent(in) :: name
    call look_up()
    if (associated(begin_)) call begin_(trim(name) // c_null_char)
  end subroutine
  subroutine mpiprof_end(name)
    character(*), intent(in) :: name
    call look_up()
    if (associated(end_)) call end_(trim(name) // c_null_char)
  end subroutine

  ! The end of one iteration that handled `items` (cells, examples; 0 if that means nothing).
  subroutine mpiprof_mark(items)
    integer, intent(in) :: items
    call look_up()
    if (associated(mark_)) call mark_(int(items, c_long))
  end subroutine

  ! What the run is: call mpiprof_label("grid", "512x512"). Of one key the last value counts.
  subroutine mpiprof_label(key, value)
    character(*), intent(in) :: key, value
    call look_up()
    if (associated(label_)) call label_(trim(key) // c_null_char, trim(value) // c_null_char)
  end subroutine

  ! What is called in between is not recorded; as MPI_Pcontrol(0) and MPI_Pcontrol(1).
  subroutine mpiprof_off()
    call look_up()
    if (associated(off_)) call off_()
  end subroutine
  subroutine mpiprof_on()
    call look_up()
    if (associated(on_)) call on_()
  end subroutine

  subroutine look_up()
    if (is_looked_up) return
    if (c_associated(of("region_begin"))) call c_f_procpointer(of("region_begin"), begin_)
    if (c_associated(of("region_end"))) call c_f_procpointer(of("region_end"), end_)
    if (c_associated(of("iteration"))) call c_f_procpointer(of("iteration"), mark_)
    if (c_associated(of("set_label"))) call c_f_procpointer(of("set_label"), label_)
    if (c_associated(of("pause"))) call c_f_procpointer(of("pause"), off_)
    if (c_associated(of("resume"))) call c_f_procpointer(of("resume"), on_)
    is_looked_up = .true.
  end subroutine

  function of(name)
    character(*), intent(in) :: name
    type(c_funptr) :: of
    of = dlsym(c_null_ptr, "mpiprof_" // name // c_null_char)
  end function
end module
