package space

// Neighbours returns the valid rows one step away from a row: for an ordered
// parameter the nearest value on each side that keeps the point valid, for an
// unordered one every other such value.
func (s *Space) Neighbours(row Row) ([]Row, error) {
	c := newChecker(s, false)
	var neighbours []Row
	try := func(position, value int) (bool, error) {
		candidate := append(Row(nil), row...)
		candidate[position] = uint16(value)
		for depth := range candidate {
			if ok, err := c.holds(candidate, depth); !ok || err != nil {
				return false, err
			}
		}
		neighbours = append(neighbours, candidate)
		return true, nil
	}
	for position, p := range s.params {
		at := int(row[position])
		if !p.Ordered {
			for value := range p.Values {
				if value == at {
					continue
				}
				if _, err := try(position, value); err != nil {
					return nil, err
				}
			}
			continue
		}
		for _, step := range []int{-1, 1} {
			for value := at + step; value >= 0 && value < len(p.Values); value += step {
				valid, err := try(position, value)
				if err != nil {
					return nil, err
				}
				if valid {
					break
				}
			}
		}
	}
	return neighbours, nil
}
