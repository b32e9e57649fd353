package ci

import (
	"fmt"
	"regexp"
	"strings"

	"pawl/gate/ci/github"
)

// Job is what GitHub Actions tells a step about its job, by its environment.
type Job struct {
	// API is the address of GitHub's API, Server that of its pages.
	API, Server string
	Token       string
	// Repository is OWNER/NAME.
	Repository string
	// Event is the file with what caused the run.
	Event string
	// Summary is the file that GitHub shows on the run's page.
	Summary string
	Run     string
	// Branch is the name of what was checked out.
	Branch string
}

// JobOf reads the environment.
func JobOf(getenv func(string) string) Job {
	return Job{
		API: getenv("GITHUB_API_URL"), Server: getenv("GITHUB_SERVER_URL"), Token: getenv("GITHUB_TOKEN"),
		Repository: getenv("GITHUB_REPOSITORY"),
		Event:      getenv("GITHUB_EVENT_PATH"), Summary: getenv("GITHUB_STEP_SUMMARY"), Run: getenv("GITHUB_RUN_ID"),
		Branch: getenv("GITHUB_REF_NAME"),
	}
}

// Client returns a client for the job's repository. Notice gets a sentence before each
// wait.
func (j Job) Client(notice func(string)) (*github.Client, error) {
	return github.New(github.Options{URL: j.API, Token: j.Token, Repository: j.Repository, Notice: notice})
}

// Pull returns the number of the pull request that caused the run, 0 for none.
func (j Job) Pull() (int, error) {
	event, err := ReadEvent(j.Event)
	return event.PullRequest.Number, err
}

var number = regexp.MustCompile(`^[0-9]+$`)

// page returns the address of the run's page, empty where it is not known.
func (j Job) page() string {
	if !strings.HasPrefix(j.Server, "https://") && !strings.HasPrefix(j.Server, "http://") || j.Repository == "" ||
		!number.MatchString(j.Run) {
		return ""
	}
	return fmt.Sprintf("%s/%s/actions/runs/%s", j.Server, j.Repository, j.Run)
}
