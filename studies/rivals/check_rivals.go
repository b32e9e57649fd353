package rivals

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// checkRivals lets every rival compute, and compares. Files of an earlier answer are removed
// before, so that they cannot stand for this one.
func (r *race) checkRivals(ctx context.Context) error {
	for _, s := range r.sides {
		if s.rival == nil || s.Missing != "" {
			continue
		}
		q := r.request
		q.Outputs = true
		for _, a := range q.Arguments {
			if a.Out {
				_ = os.Remove(filepath.Join(r.folder, a.File)) // it may not be there
			}
		}
		answer, err := ask(ctx, s.rival, q, r.Patience)
		if err := s.leave(err); err != nil {
			return err
		}
		if s.Missing != "" {
			continue
		}
		if s.Limit = answer.Limit; !s.Limit {
			s.judge(r)
		}
	}
	return nil
}

// judge holds a rival's outputs against the right answer.
func (s *side) judge(r *race) {
	var outputs [][]byte
	for _, a := range r.request.Arguments {
		if !a.Out {
			continue
		}
		content, err := os.ReadFile(filepath.Join(r.folder, a.File))
		if err != nil {
			s.out(fmt.Sprintf("wrote no output %s", a.Name))
			return
		}
		outputs = append(outputs, content)
	}
	mismatch, err := r.answer.Compare(outputs)
	switch {
	case err != nil:
		s.out(err.Error())
	case mismatch != nil:
		s.out("is wrong: " + mismatch.String())
	}
}
