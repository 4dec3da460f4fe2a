/* SPDX-License-Identifier: Apache-2.0
 * The states of restarts after their last epochs, before best or averaged weights replace those of that epoch: from them
 * a training goes on for more epochs.  Of more than STATE_RESTARTS_MAX restarts, or of several with more than 256 MiB, none are kept. */
#pragma once

#include "runtime/train/checkpoint/train_state.h"

struct end_states;

/* For a job, which is borrowed. */
struct end_states *end_states_new(const struct train_job *j);
void end_states_free(struct end_states *s);
/* Keeps a copy; from any thread.  `over` of the copy also says that a callback has ended the restart. */
void end_states_add(struct end_states *s, const struct restart_state *at);
/* The state of a restart; NULL: none is kept, or s is NULL. */
const struct restart_state *end_states_of(const struct end_states *s, uint32_t restart);
/* Are there those of all restarts? */
bool end_states_complete(const struct end_states *s);
/* train_state.others for a state whose first restart is 0: those of all others.  other_context: the struct end_states. */
uint32_t end_states_others(void *other_context, struct restart_state *out);
