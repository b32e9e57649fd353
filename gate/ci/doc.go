// Package ci has what a job on a CI server decides, so that a workflow has nothing to
// decide: what is worth a run, what a matrix of jobs consists of, and how a baseline that has moved
// gets back to its branch.
//
// Its opinion is that a job may be killed at any instant, that two of them may run at the
// same time, and that whatever reads a pull request's files trusts none of them.
//
//  1. [ShouldRun] says whether a change touches anything that a gated kernel depends on.
//  2. [Matrix] lists kernels, workloads and runners, one job each.
//  3. [Publication] commits the baseline and its history on the branch, and makes sure that
//     the remote has them.
//  4. [Output] is where a step's results go.
//
// What speaks to GitHub's API stands in gate/ci/github, the machine that is woken for a run in
// gate/ci/runner.
package ci
