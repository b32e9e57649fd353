package studies

import (
	"strings"
	"testing"

	"pawl/internal/postgrestest"
)

// With verify-full a connection is encrypted, and a server that cannot prove who it is gets
// neither a password nor a study.
func TestTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("a server of its own takes its time")
	}
	t.Parallel()
	server := postgrestest.Start(t)
	place := server.Database(t)
	verified := strings.Replace(place, "sslmode=disable",
		"sslmode=verify-full&sslrootcert="+server.Encrypt(t, "127.0.0.1"), 1)
	store := testEngines["postgres"].open(t, verified)
	var encrypted bool
	err := store.db.queryRow(t.Context(), []any{&encrypted}, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
	if err != nil || !encrypted {
		t.Errorf("encrypted: %v, %v", encrypted, err)
	}
	for name, address := range map[string]string{"another host": "127.0.0.9", "another server": "127.0.0.1"} {
		server.Encrypt(t, address)
		if _, err := Open(t.Context(), verified); err == nil || !strings.Contains(err.Error(), "cannot be reached: ") ||
			!strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
