package profile

import (
	"encoding/json"
	"os"
)

// Wanted is a configuration that the gate has found worth a profiler's time: an entry of its
// profile.json.
type Wanted struct {
	Kernel   string   `json:"kernel"`
	Workload string   `json:"workload"`
	Point    string   `json:"point"`
	Why      []string `json:"why"`
}

// ReadWanted reads the gate's profile.json. It is not ok where the file is something else.
func ReadWanted(path string) (list []Wanted, ok bool) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > mostFile || !info.Mode().IsRegular() {
		return nil, false
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &list) != nil || list == nil {
		return nil, false
	}
	for _, w := range list {
		if w.Kernel == "" || w.Workload == "" || w.Why == nil {
			return nil, false
		}
	}
	return list, true
}
