/* SPDX-License-Identifier: Apache-2.0
 * Reads a body as the message that its type says, for the test of the wire and for its fuzzer. */
#ifndef TESTS_NET_ANY_MESSAGE_H
#define TESTS_NET_ANY_MESSAGE_H

#include "runtime/net/protocol/wire.h"

/* Any message, as one call: what all get functions have in common. */
static bool get_any(const uint8_t *p, size_t len)
{
	static union {
		struct wire_boot boot; struct wire_hello hello; struct wire_challenge challenge; struct wire_proof proof;
		struct wire_about about; struct wire_job job; struct wire_ready ready; struct wire_weights weights;
		struct wire_work work;
		struct wire_data data;
		struct wire_result result;
		struct wire_failed failed;
		struct wire_profile profile;
		struct wire_profiled profiled;
		struct wire_clock clock;
		struct wire_heartbeat heartbeat;
		struct wire_bye bye;
		struct wire_attach attach;
		struct wire_group group;
	} m;

	switch (len ? p[0] : 0) {
	case WIRE_BOOT: return wire_get_boot(p, len, &m.boot);
	case WIRE_HELLO: return wire_get_hello(p, len, &m.hello);
	case WIRE_CHALLENGE: return wire_get_challenge(p, len, &m.challenge);
	case WIRE_PROOF: return wire_get_proof(p, len, &m.proof);
	case WIRE_ABOUT: return wire_get_about(p, len, &m.about);
	case WIRE_JOB: return wire_get_job(p, len, &m.job);
	case WIRE_READY: return wire_get_ready(p, len, &m.ready);
	case WIRE_WEIGHTS: return wire_get_weights(p, len, &m.weights);
	case WIRE_DATA: return wire_get_data(p, len, &m.data);
	case WIRE_WORK: return wire_get_work(p, len, &m.work);
	case WIRE_RESULT: return wire_get_result(p, len, &m.result);
	case WIRE_FAILED: return wire_get_failed(p, len, &m.failed);
	case WIRE_PROFILE: return wire_get_profile(p, len, &m.profile);
	case WIRE_PROFILED: return wire_get_profiled(p, len, &m.profiled);
	case WIRE_CLOCK: return wire_get_clock(p, len, &m.clock);
	case WIRE_ATTACH: return wire_get_attach(p, len, &m.attach);
	case WIRE_GROUP: return wire_get_group(p, len, &m.group);
	case WIRE_HEARTBEAT: return wire_get_heartbeat(p, len, &m.heartbeat);
	case WIRE_BYE: return wire_get_bye(p, len, &m.bye);
	}
	return false;
}

#endif
