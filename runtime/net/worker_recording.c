/* SPDX-License-Identifier: Apache-2.0
 * Records a profile of this process, and writes it as text. */
#include "runtime/net/worker_recording.h"

#include <unistd.h>

#include "runtime/base/profile/recorder.h"

static uint64_t nmessage(const struct peer *p) { return peer_nreceived(p) + peer_nsent(p); }

void worker_recording_start(struct worker_recording *r, const struct wire_profile *m,
	struct peer *peer, uint64_t nunit)
{
	*r = (struct worker_recording){ true, m->capture, m->text_max, peer->nread, peer->nwritten,
		nmessage(peer), nunit };
	peer->label = m->label;
	recorder_start((enum profile_level)m->level, m->bytes);
}

void worker_recording_stop(struct worker_recording *r, const struct peer *peer, uint64_t nunit,
	struct buf *text)
{
	struct profile *p = profile_new();
	struct profile_process *process = arena_alloc(&p->arena, 1, sizeof *process);

	*process = (struct profile_process){ .host = "", .role = "worker" };
	p->process = process;
	p->nprocess = 1;
	recorder_stop(p, process);
	process->pid = (uint32_t)getpid();
	process->bytes_received = peer->nread - r->nread;
	process->bytes_sent = peer->nwritten - r->nwritten;
	process->messages = nmessage(peer) - r->nmessage;
	process->units = nunit - r->nunit;
	r->on = false;
	profile_write_json_within(p, r->text_max, text);
	profile_free(p);
}
