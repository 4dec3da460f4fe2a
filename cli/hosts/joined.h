/* SPDX-License-Identifier: Apache-2.0
 * Commands that mpirun, srun, Kubernetes and others have started several times over: rank 0 does the job, the others
 * compute for it. */
#pragma once

#include "cli/command.h"
#include "cli/config/configuration.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/net/cluster/coordinator.h"
#include "runtime/net/launch/join.h"

struct joined {
	struct join join;            /* mode JOIN_NONE: a job of one process */
	uint8_t *key;                /* of the key file (crypto_secret_new), or NULL */
	uint8_t words[SHA256_BYTES]; /* hash of the command line */
	uint8_t job[SHA256_BYTES];   /* the job's id, if there is no rendezvous file */
	struct buf rendezvous;       /* path of the rendezvous file; empty: none is needed */
	double seconds;              /* how long processes wait for each other */
};

/* Read the job from the environment, unless options override it: 0, or the exit status after a message. */
int joined_find(struct cli *c, struct join *out);
/* How the processes meet: by the key file that option or configuration (NULL: there is none) names, and by a file in
 * folder.  0, or said and the status; release in any case. */
int joined_open(struct cli *c, const struct join *a, const struct config *config, const char *folder, struct joined *out);
void joined_release(struct joined *a);

/* For the others, before they read anything: *status is that of the whole work of this process. False: this is rank 0,
 * or alone, and goes on.  config_path: of the configuration, or NULL; weights: whose folder is the rendezvous's then. */
bool joined_work(struct cli *c, const char *config_path, const char *weights, int *status);

/* What an option says, or else a key of the configuration (NULL: there is none): a word, NULL if neither does; a number. */
const char *wished_word(const struct options *o, enum option_id id, const struct config *config,
	enum key_id key);
uint64_t wished_number(const struct options *o, enum option_id id, const struct config *config,
	enum key_id key);

/* Whether option or configuration (NULL: there is none) has ranks communicate by MPI. */
bool joined_by_mpi(const struct options *o, const struct config *config);
/* If so: whether they can. 0, -ERR_USAGE, -ERR_CONFIG, or -ERR_PROTOCOL: the module is of another build. */
int joined_check_mpi(const struct options *o, const struct config *config, struct err *e);
