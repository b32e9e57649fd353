// Package ci has what a job on a CI server decides and says, so that a workflow has nothing to
// decide: what is worth a run, what a matrix of jobs consists of, how a baseline that has moved
// gets back to its branch, and what people are told.
//
// Its opinion is that a job may be killed at any instant, that two of them may run at the
// same time, and that whatever reads a pull request's files trusts none of them. Who is told
// too much stops reading: a pull request gets one comment, which later runs update, and a
// week's search opens one draft per kernel, and none for what is in use already.
//
//  1. [ShouldRun] says whether a change touches anything that a gated kernel depends on.
//  2. [Matrix] lists kernels, workloads and runners, one job each.
//  3. [Publication] commits the baseline and its history on the branch, and makes sure that
//     the remote has them.
//  4. [Comment], [Summary] and [Drafts] tell people what was found. Every word that is not pawl's
//     own is escaped, and a comment is pawl's only if pawl's account wrote it.
//  5. [Output] is where a step's results go.
//
// What speaks to GitHub's API stands in gate/ci/github, the machine that is woken for a run in
// gate/ci/runner, what writes the workflows in gate/ci/setup.
package ci
