/* SPDX-License-Identifier: Apache-2.0
 * Writes and reads the rendezvous file, which only its owner may read. */
#include "runtime/net/launch/rendezvous.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "qcnn rendezvous 3\n";

void rendezvous_path(const char *folder, const char *job, struct buf *out)
{
	buf_printf(out, "%s/.qcnn-rendezvous%s%s", folder, *job ? "-" : "", job);
}

/* ---- reading secrets ---- */

/* Ours, or the system's, and nobody else's to read. */
static bool is_private(const struct stat *st)
{
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return false;
	return !(st->st_mode & (st->st_uid == 0 ? 0027 : 0077));
}

/* At most size bytes of it: how many, or -1 with errno (EPERM: not private). own: a file that a process of
 * ours has made at this path, of which errno may be ELOOP; otherwise it may be a link, and root's (a mounted secret). */
static ssize_t read_private(const char *path, bool own, char *out, size_t size)
{
	fd_auto fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (own ? O_NOFOLLOW : 0));
	int fault = 0;
	struct stat st;
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		fault = errno;
	else if (!S_ISREG(st.st_mode))
		fault = EINVAL;
	else if (!is_private(&st) || (own && st.st_uid != geteuid()))
		fault = EPERM;
	while (!fault && n && len < size) {
		n = read(fd, out + len, size - len);
		if (n < 0 && errno != EINTR)
			fault = errno;
		len += n > 0 ? (size_t)n : 0;
	}
	errno = fault;
	return fault ? -1 : (ssize_t)len;
}

static size_t without_end(const char *text, size_t n)
{
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	return n;
}

int key_file_read(const char *path, uint8_t key[CRYPTO_KEY], struct err *e)
{
	char *text = crypto_secret_new(KEY_FILE_MAX);
	ssize_t n = text ? read_private(path, false, text, KEY_FILE_MAX) : 0;
	int code = 0;

	if (!text)
		return err_set(e, -ERR_CONFIG, "no memory for a key");
	if (n < 0 && errno == EPERM)
		code = err_set(e, -ERR_AUTH, "others may read the key file %s, or it is not yours: chmod 600 %s", path, path);
	else if (n < 0)
		code = err_set(e, -ERR_NO_INPUT, "cannot read the key file %s: %s", path, strerror(errno));
	else if (!(n == CRYPTO_KEY && crypto_key_of_text(text, CRYPTO_KEY, key)) && !crypto_key_of_text(text, without_end(text, (size_t)n), key))
		code = err_set(e, -ERR_AUTH, "the key file %s does not hold 32 random bytes, as 64 hexadecimal digits or base64 (a passphrase "
			"could be guessed): `qcnn worker --new-key FILE` makes one that does", path);
	crypto_secret_free(text, KEY_FILE_MAX);
	return code;
}

/* Write a file that this process has made: all of it, or none. */
static int write_new(int fd, const char *path, const char *text, size_t len, struct err *e)
{
	bool ok = write(fd, text, len) == (ssize_t)len && !fsync(fd);

	if (!ok)
		fd_close(fd);
	if (ok && !close(fd))
		return 0;
	err_set(e, -ERR_IO, "cannot write the key file %s: %s", path, strerror(errno));
	unlink(path);
	return -ERR_IO;
}

int key_file_new(const char *path, struct err *e)
{
	enum { DIGITS = 2 * CRYPTO_KEY, SIZE = CRYPTO_KEY + DIGITS + 2 };
	char *text = crypto_secret_new(SIZE);
	uint8_t *key = (uint8_t *)text + DIGITS + 2;
	int fd, code;

	if (!text)
		return err_set(e, -ERR_CONFIG, "no memory for a key");
	crypto_random(key, CRYPTO_KEY);
	hex_text(key, CRYPTO_KEY, text);
	text[DIGITS] = '\n';
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		code = err_set(e, -ERR_CANT_CREATE, "cannot make the key file %s: %s", path, strerror(errno));
	else
		code = write_new(fd, path, text, DIGITS + 1, e);
	crypto_secret_free(text, SIZE);
	return code;
}

/* ---- the rendezvous file ---- */

static void put_hex(struct buf *b, const char *name, const uint8_t *p, size_t n)
{
	buf_printf(b, "%s ", name);
	buf_reserve(b, 2 * n);
	hex_text(p, n, b->data + b->len);
	b->len += 2 * n;
	buf_char(b, '\n');
}

/* In a folder that others may write to, such as /tmp, another user may have put a file of that name there. */
static int not_own(const char *path, const struct stat *st, int code, struct err *e)
{
	return err_set(e, code, "%s belongs to user %lu, not to you: remove it, or set log.dir to a folder of your own", path,
		(unsigned long)st->st_uid);
}

int rendezvous_write(const char *path, const struct rendezvous *m, struct err *e)
{
	struct stat st;
	struct buf b;

	if (!crypto_secret_buf(&b, RENDEZVOUS_MAX))
		return err_set(e, -ERR_CONFIG, "no memory for a key");
	buf_str(&b, magic);
	put_hex(&b, "job", m->job, sizeof m->job);
	put_hex(&b, "words", m->words, sizeof m->words);
	if (m->has_key)
		put_hex(&b, "key", m->key, sizeof m->key);
	for (uint32_t i = 0; i < m->naddress; i++)
		buf_printf(&b, "address %s\n", m->address[i]);
	buf_str(&b, "end\n");
	int code = buf_write_secret(&b, path, e);
	if (code && !lstat(path, &st) && st.st_uid != geteuid())
		code = not_own(path, &st, -ERR_CANT_CREATE, e);
	crypto_secret_buf_free(&b);
	return code;
}

/* Parse one line; false: it is malformed. */
static bool take_line(struct rendezvous *m, const char *p, size_t len)
{
	if (len > 6 && !strncmp(p, "words ", 6))
		return hex_bytes(p + 6, len - 6, m->words, sizeof m->words);
	if (len > 4 && !strncmp(p, "job ", 4))
		return hex_bytes(p + 4, len - 4, m->job, sizeof m->job);
	if (len > 4 && !strncmp(p, "key ", 4))
		return m->has_key = hex_bytes(p + 4, len - 4, m->key, sizeof m->key);
	if (len > 8 && len - 8 < sizeof m->address[0] && !strncmp(p, "address ", 8) && m->naddress < WIRE_ADDRESSES_MAX) {
		snprintf(m->address[m->naddress++], sizeof m->address[0], "%.*s", (int)(len - 8), p + 8);
		return true;
	}
	return false;
}

static bool parse(const char *text, struct rendezvous *m)
{
	if (strncmp(text, magic, sizeof magic - 1))
		return false;
	for (text += sizeof magic - 1; strcmp(text, "end\n"); ) {
		size_t len = strcspn(text, "\n");

		if (!text[len] || !take_line(m, text, len))
			return false;
		text += len + 1;
	}
	return true;
}

/* A network file system may cache that the file does not exist, until its folder is read. */
static void look_again(const char *path)
{
	buf_auto folder = BUF_INIT;

	path_folder(path, &folder);
	DIR *d = opendir(folder.data);
	if (d)
		closedir(d);
}

int rendezvous_read(const char *path, struct rendezvous *out, struct err *e)
{
	char *text = crypto_secret_new(RENDEZVOUS_MAX);
	struct stat st;
	int code = 0;

	if (!text)
		return err_set(e, -ERR_CONFIG, "no memory for a key");
	*out = (struct rendezvous){ .has_key = false };
	look_again(path);
	ssize_t n = read_private(path, true, text, RENDEZVOUS_MAX - 1); /* the last byte stays 0 */
	if (n < 0 && (errno == EPERM || errno == EACCES) && !lstat(path, &st) && st.st_uid != geteuid())
		code = not_own(path, &st, -ERR_AUTH, e);
	else if (n < 0 && errno == ELOOP)
		code = err_set(e, -ERR_AUTH, "%s is a symbolic link, not the file of rank 0", path);
	else if (n < 0 && errno == EPERM)
		code = err_set(e, -ERR_AUTH, "%s is not private: other users could have written it",
			path);
	else if (n < 0)
		code = err_set(e, -ERR_UNREACHABLE, "rank 0 has not written %s: %s", path, strerror(errno));
	else if (!parse(text, out))
		code = err_set(e, -ERR_UNREACHABLE, "%s is not a file that rank 0 writes", path);
	crypto_secret_free(text, RENDEZVOUS_MAX);
	return code;
}
