// Package gate answers whether a change may land: is it slower than the baseline,
// faster, or neither, and how sure is that?
//
// One sign convention holds everywhere: a change is (baseline-current)/baseline,
// so positive means faster.
//
// A comparison goes in these steps:
//
//  1. One sample of each arm says what a round costs. From that and the budget follow
//     the looks and the samples a process; where nothing could be proven, the
//     comparison is refused.
//  2. Baseline, candidate and a control, which is the baseline once more, are
//     measured in rounds: each round measures each of them once, in a fresh
//     process, in an order that is drawn for this round alone.
//  3. At a few looks that are planned beforehand the [Evidence] is weighed: the
//     bootstrap interval of the change over rounds and the exact sign-flip test
//     of the rounds, at a level that the looks share between them. So stopping
//     early does not raise the rate of false alarms.
//  4. A [Policy] turns evidence into a [Verdict]. Where the control differs from
//     the baseline, where the ratio moved during the run, or where the noise could
//     hide what the policy forbids, the verdict is inconclusive and says why.
//  5. An improvement is measured a second time before it is believed.
//
// Where both sides were not measured together ([CompareApart]) nothing cancels:
// drift and autocorrelation are tested for, and small differences decide nothing.
//
// The package knows no device. A [Measurer] is what it asks for samples.
package gate
