package document

import "pawl/space"

// Optional compiles an expression, or returns nil for none.
func Optional(scope *space.Scope, text Scalar, want space.Result) (*space.Expression, error) {
	if text.Text == "" {
		return nil, nil
	}
	return Compile(scope, text, want)
}

// Compile compiles an expression, with its place in errors.
func Compile(scope *space.Scope, text Scalar, want space.Result) (*space.Expression, error) {
	e, err := scope.Compile(text.Text, want)
	if err != nil {
		return nil, text.ExpressionError(err)
	}
	return e, nil
}

// CompileAll compiles expressions.
func CompileAll(scope *space.Scope, texts []Scalar, want space.Result) (all []*space.Expression, err error) {
	for _, text := range texts {
		e, err := Compile(scope, text, want)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}
