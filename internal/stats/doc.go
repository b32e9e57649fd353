// Package stats turns raw timings into statements that survive a second run.
//
// Samples are timings in milliseconds, lower is better. Two sign conventions
// hold everywhere, and no function of this package departs from them:
//
//   - a speedup is the ratio baseline/candidate; above 1 the candidate is faster;
//   - a change is (baseline-current)/baseline; positive means faster.
//
// The package has opinions:
//
//   - The median is the statistic. Timings have a hard floor and a long tail,
//     and one preempted launch must not move a verdict.
//   - The process is the unit of evidence. Samples from one process share its
//     clocks, addresses and temperature, so more of them do not make the answer
//     surer; intervals that ignore this are far too narrow.
//   - Size and evidence are two questions. An interval or a rank test says
//     whether there is a difference, an effect size says whether it matters, and
//     neither replaces the other.
//   - A number without its conditions is not a result. Drift, steps and
//     autocorrelation are measured beside the median, not assumed away.
//
// A comparison passes through these steps:
//
//  1. [ChangePoints], [Drift] and [RobustCV] say whether a run was steady.
//  2. [Orders] are those in which the sides of a round are measured.
//  3. [Speedup] and [SpeedupInterval] compare two contenders measured in the same rounds; a
//     [Contest] ranks many.
//  4. [PermutedBlocks] says whether chance explains the difference of such pairs, given how
//     their order was drawn, and [SignFlip] where the order is a coin for each pair;
//     [CliffsDelta] and [MannWhitney] say how far apart two sets are.
//  5. [PairsNeeded] says how many rounds today's noise asks for.
//
// Where only the samples of one process exist, [Bootstrap.Block] respects their
// order; [Bootstrap.Median] treats them as independent and is right only if they
// are.
//
// Every function panics, with a message that begins "stats: ", on an empty sample
// and on a NaN or infinite value; those that divide by a timing or take its
// logarithm also panic on one that is not positive. Such a value is a failed
// measurement, which the caller records as a failure and never hands on as a
// time. No function modifies its arguments. Everything random but [FreshSeed] is drawn
// from a seed, so the same seed and samples give the same answer.
package stats
