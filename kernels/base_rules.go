package kernels

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"pawl/internal/collect"

	"github.com/goccy/go-yaml"
)

// ruleKeys are the manifest's keys that say what is right and on which sizes; the others say how it
// is computed.
var ruleKeys = []string{
	"reference", "workloads", "args", "fuzz", "domain", "kinds", "tolerance", "minimize", "maximize", "require",
}

// rulesFolder is where the reference lies in the files of [Kernel.JudgedBy].
const rulesFolder = "pawl-rules"

// JudgedBy returns the files of a kernel that computes as this one does and is judged as another one
// is: by its reference, tolerance, shapes and inputs. Changed are the keys in which both differ. No
// files say that both are judged alike. The roots are those of the trees that the two are in: what
// either includes from outside of its folder comes with it. Such a file of this kernel has a name that
// leaves the folder as the include does; those of the other one are below this one's folder.
func (k *Kernel) JudgedBy(rules *Kernel, root, rulesRoot string) (files []File, changed []string, err error) {
	if k.On().Program {
		return nil, nil, nil // it is run, and its own exit code judges
	}
	ours, err := k.filesWithin(root)
	if err != nil {
		return nil, nil, err
	}
	theirs, err := rules.filesWithin(rulesRoot)
	if err != nil {
		return nil, nil, err
	}
	manifest, changed, err := mergeRules(contentOf(ours, ManifestName), contentOf(theirs, ManifestName))
	if err != nil {
		return nil, nil, fmt.Errorf("joining the manifests of %s: %w", k.Name, err)
	}
	if !slices.Contains(changed, "reference") &&
		!bytes.Equal(contentOf(ours, path.Clean(k.Reference)), contentOf(theirs, path.Clean(rules.Reference))) {
		changed = append(changed, "reference")
	}
	own := append(collect.Each(append(k.Sources(), k.Reference), path.Clean), ManifestName)
	alike := func(f File) bool { // what the reference may include, and data
		return slices.Contains(own, f.Name) || bytes.Equal(f.Content, contentOf(ours, f.Name))
	}
	if len(changed) == 0 && !slices.ContainsFunc(theirs, func(f File) bool { return !alike(f) }) {
		return nil, nil, nil
	}
	place, err := placeIn(rulesRoot, rules.Dir)
	if err != nil {
		return nil, nil, err
	}
	manifest["reference"] = map[string]any{k.Backend: path.Join(rulesFolder, place, rules.Reference)}
	text, err := yaml.Marshal(manifest)
	if err != nil {
		return nil, nil, err
	}
	files = append([]File{{Name: ManifestName, Content: text}}, collect.Where(ours, func(f File) bool {
		return f.Name != ManifestName && !slices.Contains(k.data, f.Name)
	})...)
	for _, f := range theirs {
		if slices.Contains(rules.data, f.Name) {
			files = append(files, f)
		} else if f.Name != ManifestName {
			files = append(files, File{Name: path.Join(rulesFolder, place, f.Name), Content: f.Content})
		}
	}
	return files, changed, nil
}

// Fingerprint identifies the kernel's files, with those of its tree that they include from outside of its folder.
func (k *Kernel) Fingerprint(root string) (string, error) {
	files, err := k.filesWithin(root)
	return digestOf(files), err
}

// filesWithin returns the files of a kernel and those of its tree that they include from outside of its folder, which
// are named from the folder.
func (k *Kernel) filesWithin(root string) ([]File, error) {
	files, err := k.Files()
	if err != nil || k.Dir == "" {
		return files, err
	}
	depends, _, err := k.Depends()
	if err != nil {
		return nil, err
	}
	place, err := placeIn(root, k.Dir)
	if err != nil {
		return nil, err
	}
	for _, f := range depends {
		if !path.IsAbs(f.Name) {
			continue
		}
		if inTree, err := placeIn(root, filepath.FromSlash(f.Name)); err == nil {
			name, err := filepath.Rel(filepath.FromSlash(place), filepath.FromSlash(inTree))
			if err != nil {
				return nil, err
			}
			files = append(files, File{Name: filepath.ToSlash(name), Content: f.Content})
		}
	}
	return files, nil
}

// placeIn returns where a file or folder is in a tree, with slashes.
func placeIn(root, name string) (string, error) {
	root, err := filepath.EvalSymlinks(root)
	if err == nil {
		name, err = filepath.EvalSymlinks(name)
	}
	if err != nil {
		return "", err
	}
	place, err := filepath.Rel(root, name)
	if err == nil && !filepath.IsLocal(place) {
		err = fmt.Errorf("%s is not below %s", name, root)
	}
	return filepath.ToSlash(place), err
}

func contentOf(files []File, name string) []byte {
	found, _ := collect.First(files, func(f File) bool { return f.Name == name })
	return found.Content
}

// mergeRules returns one manifest with the rules of another one, at the top and in the sections of
// backends, and the rules in which they differ. Files are named by the caller.
func mergeRules(ours, theirs []byte) (merged map[string]any, changed []string, err error) {
	var rules map[string]any
	// What is inside a key keeps its order: the first workload is the default.
	if err := yaml.UnmarshalWithOptions(ours, &merged, yaml.UseOrderedMap()); err != nil {
		return nil, nil, err
	}
	if err := yaml.UnmarshalWithOptions(theirs, &rules, yaml.UseOrderedMap()); err != nil {
		return nil, nil, err
	}
	replace := func(into, from map[string]any) {
		for _, key := range ruleKeys {
			if !sameRule(key, into[key], from[key]) && !slices.Contains(changed, key) {
				changed = append(changed, key)
			}
			if delete(into, key); from[key] != nil && key != "reference" {
				into[key] = from[key]
			}
		}
	}
	replace(merged, rules)
	for _, backend := range Backends {
		section, inOurs := merged[backend.Name].(yaml.MapSlice)
		other, inTheirs := rules[backend.Name].(yaml.MapSlice)
		if inOurs || inTheirs {
			into := entriesOf(section)
			replace(into, entriesOf(other))
			merged[backend.Name] = into
		}
	}
	return merged, changed, nil
}

func entriesOf(section yaml.MapSlice) map[string]any {
	entries := map[string]any{}
	for _, item := range section {
		entries[fmt.Sprint(item.Key)] = item.Value
	}
	return entries
}

// sameRule reports whether a key says the same in both. Workloads that were added change nothing
// about the others.
func sameRule(key string, ours, theirs any) bool {
	if before, ok := theirs.(yaml.MapSlice); ok && key == "workloads" {
		now, _ := ours.(yaml.MapSlice)
		return !slices.ContainsFunc(before, func(item yaml.MapItem) bool {
			return !slices.ContainsFunc(now, func(other yaml.MapItem) bool { return fmt.Sprint(other) == fmt.Sprint(item) })
		})
	}
	return fmt.Sprint(ours) == fmt.Sprint(theirs)
}
