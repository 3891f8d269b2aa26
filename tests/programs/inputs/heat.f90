! A rod that cools, in coarrays: each image has a part and reads its neighbours' ends.
program heat
  implicit none
  integer, parameter :: n = 64
  real :: part(0:n+1)[*], next(n), total
  integer :: me, images, step
  me = this_image()
  images = num_images()
  part = real(me)
  sync all
  do step = 1, 50
    if (me > 1) part(0) = part(n)[me-1]
    if (me < images) part(n+1) = part(1)[me+1]
    sync all
    next = part(1:n) + 0.25 * (part(0:n-1) - 2 * part(1:n) + part(2:n+1))
    sync all
    part(1:n) = next
    sync all
  end do
  total = sum([(part(step) * (step + n * me), step=1, n)])
  call co_sum(total)
  if (me == 1) print '(a,f12.6)', 'total ', total
end program heat
