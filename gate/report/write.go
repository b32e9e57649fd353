package report

import (
	"io"

	"pawl/gate/policy"
	"pawl/internal/page"
)

// WriteAll writes every form of the report into a folder and returns the paths.
// Each file is replaced completely or not at all.
func WriteAll(folder string, r *Report, triggers []policy.Trigger) ([]string, error) {
	return page.WriteFiles(folder,
		page.File{Name: MarkdownName, Render: func(w io.Writer) error { return Markdown(w, r) }},
		page.File{Name: JSONName, Render: func(w io.Writer) error { return page.JSON(w, r) }},
		page.File{Name: JUnitName, Render: func(w io.Writer) error { return JUnit(w, r) }},
		page.File{Name: ProfileName, Render: func(w io.Writer) error { return page.JSON(w, r.Profile(triggers)) }},
	)
}
