package pages

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"pawl/objective/devices"
)

// policy is what a page may do: show itself and ask this server, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

type guard struct {
	// token is demanded from everybody; empty for nobody, on loopback.
	token string
	// hosts are the names that this server answers to. A page of another site can make a
	// browser ask for its own name at our address (DNS rebinding), and would read the
	// answer as its own.
	hosts []string
	// anyAddress says that numbers are right whatever they are: beyond loopback.
	anyAddress bool
}

// leastToken is how long a token must be: less can be guessed.
const leastToken = 16

// newGuard chooses by the address. A token for loopback is demanded if there is one.
func newGuard(address, token string) (guard, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return guard{}, &devices.ArgumentError{
			Err: cannotListen(address, "an address is a host and a port, such as 127.0.0.1:7295"),
		}
	}
	g := guard{token: token, hosts: []string{"localhost", "127.0.0.1", "::1"}}
	ip, err := netip.ParseAddr(host)
	if loopback := host == "localhost" || err == nil && ip.IsLoopback(); !loopback {
		g.anyAddress = true
		if g.token == "" {
			g.token = rand.Text()
		}
		if name, err := os.Hostname(); err == nil {
			g.hosts = append(g.hosts, name)
		}
	}
	if host != "" {
		g.hosts = append(g.hosts, host)
	}
	if g.token != "" && len(g.token) < leastToken || url.QueryEscape(g.token) != g.token {
		return guard{}, &devices.ArgumentError{Err: cannotListen(address, "a token has at least 16 letters and digits")}
	}
	return g, nil
}

// cookie holds the token of a browser that has shown it once.
const cookie = "pawl_token"

// before answers what must not go on, and gives every answer its headers.
func (g guard) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "Nothing can be changed from here: this server only shows what was recorded.",
				http.StatusMethodNotAllowed)
		case !g.knows(r.Host):
			http.Error(w, "This server does not answer to that name. Use the address that pawl serve printed.",
				http.StatusMisdirectedRequest)
		case g.token == "" || g.has(r):
			next.ServeHTTP(w, r)
		case g.matches(r.URL.Query().Get("token")):
			g.remember(w, r)
		default:
			http.Error(w, "This server demands its token. Open the address with ?token=… that pawl serve printed.",
				http.StatusUnauthorized)
		}
	})
}

// knows reports whether a request names a host that is this one.
func (g guard) knows(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if _, err := netip.ParseAddr(name); err == nil && g.anyAddress {
		return true
	}
	return slices.ContainsFunc(g.hosts,
		func(known string) bool { return strings.EqualFold(known, strings.TrimSuffix(name, ".")) })
}

func (g guard) matches(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1
}

// has reports whether a request brings the token: as a cookie, or as programs do.
func (g guard) has(r *http.Request) bool {
	if kept, err := r.Cookie(cookie); err == nil && g.matches(kept.Value) {
		return true
	}
	bearer, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return found && g.matches(bearer)
}

// remember keeps the token in the browser and takes it out of the address, so that it is
// in no history and no screenshot.
func (g guard) remember(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w,
		&http.Cookie{Name: cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	query := r.URL.Query()
	query.Del("token")
	to := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	if !strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.Path, "//") {
		to.Path = "/" // never to another host
	}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}
