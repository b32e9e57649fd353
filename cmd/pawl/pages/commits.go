package pages

import (
	"context"
	"net/url"
	"path"
	"regexp"
	"strings"

	"pawl/internal/git"
)

// Commits returns the addresses of commits' pages, by the remote "origin" of the repository
// that a folder is in; nil where there is none that has pages.
func Commits(ctx context.Context, folder string) func(hash string) string {
	remote, err := git.Line(ctx, folder, "remote", "get-url", "origin")
	base := remotePage(remote)
	if err != nil || base == "" {
		return nil
	}
	return func(hash string) string {
		hash, _ = git.Hash(hash)
		if !commitHash.MatchString(hash) {
			return ""
		}
		return base + "/commit/" + hash
	}
}

var (
	commitHash = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	scpRemote  = regexp.MustCompile(`^[\w.-]+@([\w.-]+):([\w./~-]+)$`) // git@host:owner/name.git
)

// remotePage is the web page of a remote, empty where it has none. Names and passwords in the address are left out.
func remotePage(remote string) string {
	if parts := scpRemote.FindStringSubmatch(remote); parts != nil {
		remote = "https://" + parts[1] + "/" + parts[2]
	}
	parsed, err := url.Parse(remote)
	if err != nil || parsed.Host == "" || parsed.Path == "" {
		return ""
	}
	switch parsed.Scheme {
	case "https", "http":
	case "ssh", "git":
		parsed.Scheme, parsed.Host = "https", parsed.Hostname()
	default:
		return ""
	}
	page := url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: strings.TrimSuffix(path.Clean(parsed.Path), ".git")}
	return page.String()
}
