/* SPDX-License-Identifier: Apache-2.0
 * The rendezvous of external workers with rank 0: a file of mode 0600 in a shared folder, into which rank 0 writes its
 * addresses and the job's key; or a key file that was made before. */
#pragma once

#include "runtime/base/buf.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/net/protocol/protocol.h"

struct rendezvous {
	bool has_key;
	uint8_t key[CRYPTO_KEY], job[WIRE_JOB_ID];
	uint8_t words[SHA256_BYTES];         /* of the command line */
	uint32_t naddress; char address[WIRE_ADDRESSES_MAX][64];
};

/* The file for a job in a folder. */
void rendezvous_path(const char *folder, const char *job, struct buf *out);
int rendezvous_write(const char *path, const struct rendezvous *m, struct err *e);
/* -ERR_UNREACHABLE: the file does not exist (yet); -ERR_AUTH: it is a link, belongs to another user, or others could have
 * written it. */
int rendezvous_read(const char *path, struct rendezvous *out, struct err *e);

enum { RENDEZVOUS_MAX = 8192 };           /* bytes of such a file */
enum { KEY_FILE_MAX = 4096 };
/* Read the key in a file (as crypto_key_of_text, ignoring white space at the end).
 * -ERR_NO_INPUT, or -ERR_AUTH if others may read the file or it contains no key. */
int key_file_read(const char *path, uint8_t key[CRYPTO_KEY], struct err *e);

/* Create a file with a new key, which only its owner may read; -ERR_CANT_CREATE, also if the file exists. */
int key_file_new(const char *path, struct err *e);
