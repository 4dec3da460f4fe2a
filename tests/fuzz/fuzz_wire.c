/* SPDX-License-Identifier: Apache-2.0
 * Bytes of a fuzzer as a body, and as a stream of frames: nothing may be read beyond them.
 * `make check-fuzz` runs it, with libFuzzer of clang. */
#include "runtime/net/protocol/peer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/net/any_message.h"

/* Every unit of a map can be listed: as many as are counted. */
static void check_units(const uint8_t *p, size_t len)
{
	struct wire_result r;
	uint32_t *id, n;

	if (!len || p[0] != WIRE_RESULT || !wire_get_result(p, len, &r))
		return;
	n = wire_units_list(&r.units, NULL);
	id = malloc(n * sizeof *id);
	if (wire_units_list(&r.units, id) != n || id[0] != r.units.first || id[n - 1] != r.units.first + r.units.nbit - 1)
		abort();
	free(id);
}

/* NULL: before the handshake is over. */
static void check_stream(const struct handshake *trusted, const uint8_t *p, size_t len)
{
	struct peer peer = { .fd = -1, .body_max = WIRE_BODY_MAX, .in = malloc(len + 1), .in_len = len, .in_cap = len + 1 };
	const uint8_t *body;
	size_t n;

	memcpy(peer.in, p, len);
	if (trusted && !peer_trust(&peer, trusted))
		abort();
	while (peer_next(&peer, &body, &n, NULL) == 1) {
		if (trusted)                 /* a tag that was guessed */
			abort();
		get_any(body, n);
		check_units(body, n);
	}
	peer_close(&peer);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct handshake coordinator = { .key = { 0 } }, worker = { .aes = true };
	struct buf answer = BUF_INIT;

	get_any(p, len);
	check_units(p, len);
	check_stream(NULL, p, len);
	check_stream(&coordinator, p, len);
	if (handshake_take_hello(&coordinator, p, len))
		handshake_challenge(&coordinator, &answer);
	handshake_proved(&coordinator, p, len);
	handshake_answer(&worker, p, len, &answer);
	buf_release(&answer);
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return crypto_start() ? 0 : 1;
}
