package farm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"

	"pawl/kernels"
	"pawl/objective/cache"
)

const (
	// chunkSize is how much of a blob is in one row.
	chunkSize = 1 << 20
	// blobLimit is the largest blob, and storeLimit how much all of them may hold.
	blobLimit  = 256 << 20
	storeLimit = 4 << 30
)

// MissingError says that a blob is not there, or no longer: whoever has it puts it again.
type MissingError struct{ Digest string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the farm has no file with the digest %.12s: it was evicted", e.Digest)
}

// Put stores bytes under their digest. Those that are there already are marked as used.
func (f *Farm) Put(ctx context.Context, content []byte) (digest string, err error) {
	digest = cache.Digest(content)
	if len(content) > blobLimit {
		return "", fmt.Errorf("a file of %d MB is too large for the farm: at most %d", len(content)>>20, blobLimit>>20)
	}
	return digest, f.persist(ctx, "storing a file in the farm", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, f.pool, func(tx pgx.Tx) error { return put(ctx, tx, digest, content) })
	})
}

func put(ctx context.Context, tx pgx.Tx, digest string, content []byte) error {
	known, err := tx.Exec(ctx, "UPDATE blobs SET used = now() WHERE digest = $1", digest)
	if err != nil || known.RowsAffected() > 0 {
		return err
	}
	added, err := tx.Exec(ctx, "INSERT INTO blobs (digest, size) VALUES ($1, $2) ON CONFLICT DO NOTHING", digest,
		len(content))
	if err != nil || added.RowsAffected() == 0 {
		return err
	}
	rows := make([][]any, 0, len(content)/chunkSize+1)
	for number := 0; number*chunkSize < len(content); number++ {
		rows = append(rows, []any{digest, number, content[number*chunkSize : min((number+1)*chunkSize, len(content))]})
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"chunks"}, []string{"digest", "number", "content"}, pgx.CopyFromRows(rows))
	return err
}

// evict removes what was not used for longest, down to a limit in bytes. Who asks does it: a
// worker has no right to. The last ten minutes are spared: somebody may be about to read those.
func (f *Farm) evict(ctx context.Context, limit int64) error {
	_, err := f.pool.Exec(ctx, `DELETE FROM blobs WHERE digest IN (
		SELECT digest FROM (SELECT digest, used, sum(size) OVER (ORDER BY used DESC, digest) AS held FROM blobs) AS kept
		WHERE held > $1 AND used < now() - interval '10 minutes')`, limit)
	return err
}

// Get returns the bytes of a digest, checked. A *MissingError says that they are not there.
func (f *Farm) Get(ctx context.Context, digest string) (content []byte, err error) {
	err = f.persist(ctx, "reading a file of the farm", func(ctx context.Context) error {
		var size int
		if err := f.pool.QueryRow(ctx, "UPDATE blobs SET used = now() WHERE digest = $1 RETURNING size",
			digest).Scan(&size); err != nil {
			return err
		}
		chunks, err := gather(ctx, f.pool, pgx.RowTo[[]byte],
			"SELECT content FROM chunks WHERE digest = $1 ORDER BY number", digest)
		content = slices.Concat(chunks...)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, &MissingError{digest}
	}
	if err == nil && cache.Digest(content) != digest {
		return nil,
			fmt.Errorf("the farm's file %.12s is damaged: its bytes have the digest %.12s", digest, cache.Digest(content))
	}
	return content, err
}

// Pack returns the files of a kernel as one. The same files pack to the same bytes.
func Pack(k *kernels.Kernel) ([]byte, error) {
	files, err := k.Files()
	if err != nil {
		return nil, err
	}
	outside, _, err := k.Depends()
	if err != nil {
		return nil, err
	}
	for _, f := range outside {
		if filepath.IsAbs(f.Name) {
			return nil, fmt.Errorf("kernel %s includes %s, which is outside of its folder and does not travel: copy it into "+
				"the folder", k.Name, f.Name)
		}
	}
	var packed bytes.Buffer
	err = kernels.Pack(&packed, files)
	return packed.Bytes(), err
}
