package farm

import (
	"context"
	"strings"
	"testing"
)

// What is spent is added up by price: two hours of a GPU at 3.50 and one of compilers at 0.10.
func TestBudgets(t *testing.T) {
	b := Budget{Seconds: 8000, Money: 8, Prices: []Price{{"h200", 3.5}, {Compiling, 0.1}}}
	spent := map[string]float64{"NVIDIA H200": 7200, Compiling: 3600}
	seconds, money, priced := b.Used(spent)
	if seconds != 7200 || money < 7.0999 || money > 7.1001 || !priced || b.Over(spent) {
		t.Errorf("%v s, %v, %v, over: %v", seconds, money, priced, b.Over(spent))
	}
	if text := b.Describe(spent); !strings.Contains(text, "800.0 s left of 8000.0 s") ||
		!strings.Contains(text, "cost 7.10, 0.90 left of 8.00") {
		t.Error(text)
	}
	if !(Budget{Seconds: 7200}).Over(spent) || !(Budget{Money: 7, Prices: b.Prices}).Over(spent) ||
		(Budget{}).Over(spent) {
		t.Error("budgets end too late or too early")
	}
	for _, text := range []string{"h200", "=3", "h200=x", "h200=-1", "h200=NaN"} {
		if _, err := ParsePrice(text); err == nil || !strings.Contains(err.Error(), "such as h200=3.50") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A search hears when its budget is spent, also of what it spent before it was begun again,
// and the farm's status shows what is left.
func TestASearchIsOverItsBudget(t *testing.T) {
	t.Parallel()
	asking, working := newFarm(t)
	employ(t, working, "a", func(context.Context, Job) (Answer, error) { return missing("x"), nil })
	ask := func(name string, forget bool) (over bool) {
		s, err := asking.Begin(t.Context(), Head{Study: "one", Title: "one", Budget: Budget{Seconds: 10}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Ask(t.Context(), "q", task(name), nil); err != nil {
			t.Fatal(err)
		}
		// As if it had taken six seconds, on a device that has a name.
		if _, err := asking.pool.Exec(t.Context(), "UPDATE tasks SET seconds = 6, device = 'NVIDIA H200' WHERE name = $1",
			task(name).Task); err != nil {
			t.Fatal(err)
		}
		if err := s.account(t.Context()); err != nil {
			t.Fatal(err)
		}
		over = s.Over()
		if err := s.End(t.Context(), forget); err != nil {
			t.Fatal(err)
		}
		return over
	}
	if ask("x", true) || !ask("y", false) {
		t.Error("6 of 10 s are too many, or 12 are not")
	}
	status, err := asking.Status(t.Context())
	if err != nil || len(status.Searches) != 1 {
		t.Fatal(err, status.Searches)
	}
	if got := status.Searches[0]; got.Seconds["NVIDIA H200"] != 12 || got.Budget.Seconds != 10 {
		t.Errorf("%+v", got)
	}
}
