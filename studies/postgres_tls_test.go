package studies

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		"sslmode=verify-full&sslrootcert="+encrypt(t, server, "127.0.0.1"), 1)
	store := testEngines["postgres"].open(t, verified)
	var encrypted bool
	err := store.db.queryRow(t.Context(), []any{&encrypted}, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
	if err != nil || !encrypted {
		t.Errorf("encrypted: %v, %v", encrypted, err)
	}
	for name, address := range map[string]string{"another host": "127.0.0.9", "another server": "127.0.0.1"} {
		encrypt(t, server, address)
		if _, err := Open(t.Context(), verified); err == nil || !strings.Contains(err.Error(), "cannot be reached: ") ||
			!strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// encrypt restarts the server with a certificate for an address that vouches for itself, and
// returns the file of it that a client can trust.
func encrypt(t testing.TB, s *postgrestest.Server, address string) (root string) {
	t.Helper()
	certificate, key := certificate(t, address)
	place := s.Database(t)
	for file, text := range map[string]string{"server.crt": certificate, "server.key": key} {
		postgrestest.Exec(t, place,
			"COPY (SELECT regexp_split_to_table('"+text+"', E'\\n')) TO PROGRAM 'umask 077; cat > "+file+"'")
	}
	postgrestest.Exec(t, place, "ALTER SYSTEM SET ssl = on")
	s.Stop(t)
	s.Restart(t)
	root = filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(root, []byte(certificate), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func certificate(t testing.TB, address string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(address)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}
