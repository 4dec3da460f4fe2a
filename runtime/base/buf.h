/* SPDX-License-Identifier: Apache-2.0
 * A growing byte buffer, always followed by a NUL that is not counted. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"

struct buf { char *data; size_t len, cap; };
#define BUF_INIT { 0, 0, 0 }
/* `buf_auto b = BUF_INIT;`: a local struct buf that is released wherever its scope ends, also by return. */
#define buf_auto __attribute__((cleanup(buf_release))) struct buf

void buf_init(struct buf *b);
void buf_release(struct buf *b);                    /* frees, back to empty; keeps errno */
void buf_clear(struct buf *b);                      /* len = 0, keeps memory */
void buf_add(struct buf *b, const void *p, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, int c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
void buf_pad(struct buf *b, int c, size_t n);
/* Little-endian integers and IEEE doubles, for our file formats. */
void buf_little(struct buf *b, uint64_t v, size_t nbyte); /* nbyte: 8 at most */
void buf_u8(struct buf *b, uint8_t v);
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_f64(struct buf *b, double v);
void buf_f64s(struct buf *b, const double *v, size_t n);
void buf_words(struct buf *b, const void *v, size_t n); /* n numbers of 8 bytes */
void buf_reserve(struct buf *b,
	size_t more); /* memory for `more` bytes: appending these does not move data */
/* A double in the fewest digits that read back to the same bits ("0.1", "1e-07");
 * buf_json_f64 is the same but always valid JSON (non-finite: null). */
void buf_real(struct buf *b, double v);
void buf_json_f64(struct buf *b, double v);
void buf_json_str(struct buf *b,
	const char *s); /* quoted and escaped, also what visible.h makes visible; NULL: null */
/* As buf_printf, for parts of JSON text: %s is a string as of buf_json_str, %g a number as of buf_json_f64, %i true or
 * false; also %d, %u, and %u with l, ll or z. A comma at the beginning is left out behind an opening bracket. */
void buf_json(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_xml_str(struct buf *b, const char *s); /* what XML means escaped; control characters are spaces */
void buf_xml_in(struct buf *b, const char *before, const char *s,
	const char *after);                     /* between two that are XML */
void buf_csv_str(struct buf *b, const char *s); /* between quotes, which are doubled (RFC 4180) */
/* Bytes of the valid UTF-8 character at s (RFC 3629), or 0; reads no further than the first byte that is none of it. */
size_t utf8_bytes(const unsigned char *s);
void buf_shell_quoted(struct buf *b, const char *s); /* in single quotes, for any shell */
void buf_shell_word(struct buf *b, const char *s);  /* one word for a POSIX shell, in single quotes where it needs them */
char *buf_take(struct buf *b);                      /* hands over the memory (free()) */

/* Files.  max_bytes is checked before memory is taken; what has no size (a pipe, a device) may give
 * BUF_STREAM_MAX bytes at most.  The path `-` is the standard input (input_files.h), which has no parts. */
enum { BUF_STREAM_MAX = 256 << 20 };
int buf_read_file(struct buf *b, const char *path, size_t max_bytes, struct err *e);
int buf_open_file(const char *path, int *fd, struct err *e);    /* as buf_read_file does; `-` is the standard input */
int buf_read_fd(struct buf *b, int fd, const char *path, size_t max_bytes, struct err *e);      /* path: for errors */
/* The first (or last) len bytes of a regular file, and its size: a look at its header before its length is
 * believed. Other files give nothing and size 0. */
int buf_read_part(struct buf *b, const char *path, size_t len, bool tail, uint64_t *size, struct err *e);
int buf_read_part_fd(struct buf *b, int fd, const char *path, size_t len, bool tail, uint64_t *size, struct err *e);
/* Atomic: temporary file beside it, optional fsync (file and folder), rename.
 * An existing file is untouched on failure, but for one: -ERR_IO when the folder cannot be synced after the
 * rename. Then the new file is there and whole, and the text says that a power cut may undo it. */
int buf_write_file(const struct buf *b, const char *path, int sync, struct err *e);
/* The same for whatever `put` writes to a file that is open and empty: 0, or -1 and errno. */
int file_replace(const char *path, int (*put)(const void *what, int fd), const void *what, int sync, struct err *e);
/* The same for a plain name in an open folder, where links and other special files are replaced, not followed. */
int file_replace_at(int folder, const char *name, const char *shown, int (*put)(const void *what, int fd), const void *what,
	int sync, struct err *e);
int buf_put(const void *buf, int fd);               /* `put` of a struct buf */
/* Is that the name of such a temporary file?  One that was killed leaves it behind. */
bool buf_is_temporary(const char *name);
/* The same for a secret: mode 0600, and what lies there, a link or whatever, is replaced. */
int buf_write_secret(const struct buf *b, const char *path, struct err *e);

/* All of the bytes; -1 and errno when they do not get there. */
int fd_write(int fd, const void *bytes, size_t len);
/* close(), which errno outlives; of no descriptor where fd is negative. */
void fd_close(int fd);
/* `fd_auto fd = open(...);`: a local descriptor that fd_close closes wherever its scope ends, also by return. */
#define fd_auto __attribute__((cleanup(fd_release))) int
static inline void fd_release(int *fd) { fd_close(*fd); }
/* Is it one of the n words? */
bool text_among(const char *text, const char *const *words, size_t n);
/* Does the path end so? */
bool path_ends(const char *path, const char *ending);
const char *path_base(const char *path); /* behind its last slash */
void path_folder(const char *path,
	struct buf *out); /* appends the folder that it lies in, `.` without a slash */

/* A cursor over bytes that never reads past the end; after the first overrun
 * every read gives 0 and ->bad stays set. */
struct rd { const uint8_t *p; size_t len, at; int bad; };
uint64_t rd_little(struct rd *r, size_t nbyte);
uint8_t rd_u8(struct rd *r);
uint16_t rd_u16(struct rd *r);
uint32_t rd_u32(struct rd *r);
uint64_t rd_u64(struct rd *r);
double rd_f64(struct rd *r);
const uint8_t *rd_bytes(struct rd *r, size_t len); /* NULL when short */
/* n numbers of 8 bytes, from their form in files to that of this machine, or back. */
void words_copy(void *to, const void *from, size_t n);
