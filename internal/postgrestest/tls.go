package postgrestest

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
	"testing"
	"time"
)

// Encrypt restarts the server with a certificate for an address that vouches for itself, and
// returns the file of it that a client can trust.
func (s *Server) Encrypt(t testing.TB, address string) (root string) {
	t.Helper()
	certificate, key := certificate(t, address)
	place := s.url("postgres")
	for file, text := range map[string]string{"server.crt": certificate, "server.key": key} {
		Exec(t, place, "COPY (SELECT regexp_split_to_table('"+text+"', E'\\n')) TO PROGRAM 'umask 077; cat > "+file+"'")
	}
	Exec(t, place, "ALTER SYSTEM SET ssl = on")
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
