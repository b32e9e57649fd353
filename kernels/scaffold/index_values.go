package scaffold

import "slices"

// made are the names in these parts of the body, and those that they are assigned from.
func (r reach) made(of ...[]token) map[string]bool {
	names := map[string]bool{}
	for len(of) > 0 {
		part := of[0]
		of = of[1:]
		for _, t := range part {
			if t.kind == isWord && !names[t.text] {
				names[t.text] = true
				of = append(of, r.assigned[t.text]...)
			}
		}
	}
	return names
}

// behindIndices are the names that indices are made of.
func (r reach) behindIndices() map[string]bool {
	var parts [][]token
	for i, t := range r.body {
		if before := i - 1; t.text == "[" && before >= 0 && (r.body[before].kind == isWord || r.body[before].text == "]") {
			inside, _ := enclosed(r.body, i)
			parts = append(parts, inside)
		}
	}
	return r.made(parts...)
}

// behindConditions are the names that conditions are made of.
func (r reach) behindConditions(words ...string) map[string]bool {
	var parts [][]token
	for _, c := range r.conditions {
		if slices.Contains(words, c.word) {
			parts = append(parts, c.text)
		}
	}
	return r.made(parts...)
}
