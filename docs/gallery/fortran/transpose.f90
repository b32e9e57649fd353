! The arrays are those of C: their last dimension is the first one here.
subroutine transpose_tiles(x, y, m, n) bind(c)
  use iso_c_binding
  implicit none
  integer(c_int32_t), value :: m, n
  real(c_float), intent(in) :: x(n, m)
  real(c_float), intent(out) :: y(m, n)
  integer :: i, j, row, column
  do i = 1, m, TILE
    do j = 1, n, TILE
      do column = j, min(j + TILE - 1, n)
        do row = i, min(i + TILE - 1, m)
          y(row, column) = x(column, row)
        end do
      end do
    end do
  end do
end subroutine
