package report

import (
	"fmt"
	"path"
	"strings"

	"pawl/internal/escape"
	"pawl/kernels"
	"pawl/studies"
)

// Subject is what studies are about. Two studies of one subject answer the same
// question, so that the newer one takes the older one's place: see FrontStudies.
type Subject struct{ kernel, workload, backend, device string }

// SubjectOf returns what a study is about.
func SubjectOf(s studies.Study) Subject {
	return Subject{s.Kernel, s.Workload, s.Backend, s.Environment.Device}
}

// Folders returns where the pages of each study are, by its number: below the folder
// of the database, with slashes. It depends on the database alone.
//
//   - The front study of a kernel, workload and device has KERNEL/WORKLOAD: see FrontStudies. Where several
//     devices have studies of one kernel and workload, the first device has that, and each
//     other one KERNEL/WORKLOAD@DEVICE.
//   - Another study of the same has the folder study-N in there: no study overwrites
//     another's pages.
//
// A damaged study has none.
func Folders(all []studies.Study) map[int64]string {
	first, front := map[[2]string]studies.Study{}, FrontStudies(all)
	for _, s := range all {
		place := [2]string{s.Kernel, s.Workload}
		if known, found := first[place]; s.Damaged == "" && (!found || s.ID < known.ID) {
			first[place] = s
		}
	}
	folders := map[int64]string{}
	for _, s := range all {
		if s.Damaged != "" {
			continue
		}
		folder := path.Join(kernelFolder(s.Kernel), escape.FileName(s.Workload))
		if owner := first[[2]string{s.Kernel, s.Workload}]; SubjectOf(owner) != SubjectOf(s) {
			folder += "@" + deviceFolder(owner, s)
		}
		if front[SubjectOf(s)].ID != s.ID {
			folder = path.Join(folder, asideFolder(s.ID))
		}
		folders[s.ID] = folder
	}
	return folders
}

// asideFolder has the pages of a study that is not in front.
func asideFolder(id int64) string { return fmt.Sprintf("study-%d", id) }

// kernelFolder is a kernel's name as a folder's. The database and the index lie beside
// it: their names, and what begins like them, are not free.
func kernelFolder(kernel string) string {
	name := escape.FileName(kernel)
	for _, taken := range []string{kernels.DatabaseName, MarkdownName, JSONName, IndexHTMLName} {
		if strings.HasPrefix(name, taken) {
			return name + "_" // two that begin so stay two
		}
	}
	return name
}

// deviceFolder tells a study from the owner of the plain folder: by its device, and
// by its backend where a record stands in for the same device.
func deviceFolder(owner, s studies.Study) string {
	name := escape.FileName(s.Environment.Device)
	if s.Backend == studies.Replay || s.Environment.Device == owner.Environment.Device {
		name += "@" + escape.FileName(s.Backend)
	}
	return name
}
