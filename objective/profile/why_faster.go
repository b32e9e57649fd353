package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pawl/internal/page"
)

const (
	// same is how far apart two times are that need no explanation, as a logarithm.
	same = 0.02
	// explains is which part of the difference a cause must explain to be named as the cause.
	explains = 0.25
	// preferred is how much less a named fault may explain than an amount of work, which is often its consequence.
	preferred = 0.25
)

type cause struct {
	// explained is the logarithm of the speedup that it would make alone.
	explained float64
	// specific says that it names a fault, and not how busy something is.
	specific bool
	text     string
}

func why(before, after Facts, c Comparison) string {
	if c.Speedup == 0 {
		if len(c.Changes) == 0 {
			return "Nothing that the compiler knows has changed."
		}
		return fmt.Sprintf("The largest change is %s: %s.", c.Changes[0].Name, c.Changes[0].Text)
	}
	actual := math.Log(c.Speedup)
	if work := after.Flops / before.Flops; before.Flops > 0 && after.Flops > 0 && math.Abs(math.Log(work)) >= same {
		return otherWork(work, 1/c.Speedup)
	}
	if math.Abs(actual) < same {
		return "Both take the same time."
	}
	head := fmt.Sprintf("It is %s times as fast", page.Figure(c.Speedup))
	if actual < 0 {
		head = fmt.Sprintf("It takes %s times as long", page.Figure(1/c.Speedup))
	}
	best, text := 0.0, ""
	for _, one := range slices.Concat(lostCauses(before, after), workCauses(before, after),
		figureCauses(before, after, c.Profiled)) {
		// What would explain more than there is explains all of it, and no more than another
		// cause that does. A cause of the other direction explains nothing.
		part := min(one.explained/actual, 1)
		if part < explains {
			continue
		}
		if one.specific {
			part += preferred
		}
		if part > best {
			best, text = part, one.text
		}
	}
	switch {
	case text != "":
		return fmt.Sprintf("%s: %s.", head, text)
	case len(c.Changes) == 0 && c.Profiled:
		return head + ", and no counter says why: all of those that are watched are the same."
	case len(c.Changes) == 0:
		return head + ", and nothing that the compiler knows has changed; a profiler may say why."
	}
	return fmt.Sprintf("%s; no single counter explains that. The largest change is %s: %s.", head, c.Changes[0].Name,
		c.Changes[0].Text)
}

// otherWork compares launches that do not do the same, such as one and four steps of a stencil:
// their counters differ by that already.
func otherWork(work, time float64) string {
	verdict := fmt.Sprintf("%s times as fast for the same work", page.Figure(work/time))
	if work < time {
		verdict = fmt.Sprintf("%s times as long for the same work", page.Figure(time/work))
	}
	return fmt.Sprintf("A launch does %s times the work in %s times the time: %s. The counters below are of launches "+
		"that differ in that.", page.Figure(work), page.Figure(time), verdict)
}

// lostCauses are the losses that have become smaller or larger, each by the rule that knows it.
func lostCauses(before, after Facts) (causes []cause) {
	for _, rule := range Rules {
		a, seenBefore, ok := rule.apply(before)
		b, seenAfter, also := rule.apply(after)
		if a < 0 || b < 0 || !ok && !also || max(a, b) < applies {
			continue
		}
		left := func(lost float64) float64 { return max(1-lost, 0.01) }
		explained := math.Log(left(b) / left(a))
		verb := "less time is lost to"
		if explained < 0 {
			verb = "more time is lost to"
		}
		causes = append(causes, cause{explained, !rule.symptom, fmt.Sprintf("%s %s; before: %s; now: %s", verb, rule.Name,
			cmp.Or(seenBefore, "none of that"), cmp.Or(seenAfter, "none of that"))})
	}
	return causes
}

// workCauses are amounts of work that have become smaller or larger.
func workCauses(before, after Facts) (causes []cause) {
	slower := before
	if after.seconds() > before.seconds() {
		slower = after
	}
	for _, w := range []struct {
		figure
		busy float64 // how busy the slower one keeps the part that does it
	}{
		{figure{name: "bytes to and from memory", unit: "byte", of: Facts.traffic}, slower.most(memoryBusy)},
		{figure{name: "instructions", counter: instructions}, slower.most(smBusy, issueBusy)},
		{figure{name: "passes over shared memory", counter: sharedPasses}, slower.most(wavefrontsBusy, l1Busy)},
	} {
		a, there := w.value(before)
		b, also := w.value(after)
		if !there || !also || a <= 0 || b <= 0 {
			continue
		}
		word := "fewer"
		if b > a {
			word = "more"
		}
		share := math.Abs(b/a - 1)
		causes = append(causes,
			cause{math.Log(a/b) * w.busy, false,
				fmt.Sprintf("%s %s %s (%s → %s)", page.WholePercent(share), word, w.name, amount(a, w.unit), amount(b, w.unit))})
	}
	return causes
}

// figureCauses are what the compiler knows, for launches that no profiler has seen. How much
// they cost is not known, so that each is taken for the whole if its direction is right: the
// first of them is named.
func figureCauses(before, after Facts, profiled bool) (causes []cause) {
	if profiled {
		return nil
	}
	for _, figure := range compiled {
		if change, ok := figure.change(before, after); ok && figure.slows != 0 {
			grown := math.Copysign(change.size, change.After-change.Before)
			causes = append(causes, cause{-figure.slows * grown * 100, false,
				fmt.Sprintf("by what the compiler says, %s: %s", change.Name, change.Text)})
		}
	}
	x, there := before.tail()
	y, also := after.tail()
	if there && also && math.Abs(x-y) >= applies {
		causes = append(causes,
			cause{math.Log((1 - y) / (1 - x)), true,
				fmt.Sprintf("the last wave leaves %s of the device's time empty, before %s", page.WholePercent(y),
					page.WholePercent(x))})
	}
	return causes
}
